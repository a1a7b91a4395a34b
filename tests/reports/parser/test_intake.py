"""What an upload must prove before it is stored."""

from __future__ import annotations

from pathlib import Path

import pikepdf
import pytest
from PIL import Image

from reports.parser.intake import (
    MAX_BYTES,
    FileKind,
    OpenedFile,
    RefusalCode,
    RefusedFile,
    check_file_can_be_opened,
)
from tests.reports.parser.drawing import draw


def refusal(path: Path, *, declared: str | None = None) -> RefusalCode:
    with pytest.raises(RefusedFile) as refused:
        check_file_can_be_opened(path, declared=declared)
    return refused.value.code


def test_a_pdf_is_opened_and_its_pages_are_counted(tmp_path: Path) -> None:
    path = draw(tmp_path / "two.pdf", ["first"], ["second"])

    assert check_file_can_be_opened(path, declared="application/pdf") == OpenedFile(
        FileKind.PDF, 2
    )


@pytest.mark.parametrize(
    ("suffix", "kind"), [("png", FileKind.PNG), ("jpeg", FileKind.JPEG)]
)
def test_a_picture_counts_as_one_page(
    tmp_path: Path, suffix: str, kind: FileKind
) -> None:
    path = tmp_path / f"picture.{suffix}"
    Image.new("RGB", (40, 30), "white").save(path)

    assert check_file_can_be_opened(path, declared=kind.value) == OpenedFile(kind, 1)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.pdf"
    path.touch()

    assert refusal(path) is RefusalCode.EMPTY


def test_one_byte_over_ten_megabytes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "large.pdf"
    path.write_bytes(b"%PDF-1.4\n".ljust(MAX_BYTES + 1, b"0"))

    assert refusal(path) is RefusalCode.TOO_LARGE


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "page.pdf"
    path.write_text("<html><body>Hemoglobin 13.5 g/dL</body></html>")

    assert refusal(path) is RefusalCode.UNSUPPORTED


def test_a_picture_that_is_sent_as_a_pdf_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "report.pdf"
    Image.new("RGB", (40, 30), "white").save(path, format="PNG")

    assert refusal(path, declared="application/pdf") is RefusalCode.MISMATCH


def test_an_encrypted_pdf_is_refused(tmp_path: Path) -> None:
    plain = draw(tmp_path / "plain.pdf", ["Hemoglobin 13.5 g/dL"])
    path = tmp_path / "locked.pdf"
    with pikepdf.open(plain) as document:
        document.save(path, encryption=pikepdf.Encryption(owner="o", user="u"))

    assert refusal(path) is RefusalCode.ENCRYPTED


@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_a_truncated_pdf_is_refused(tmp_path: Path, share: float) -> None:
    whole = draw(tmp_path / "whole.pdf", ["Hemoglobin 13.5 g/dL"]).read_bytes()
    path = tmp_path / "cut.pdf"
    path.write_bytes(whole[: int(len(whole) * share)])

    assert refusal(path) is RefusalCode.UNREADABLE


def test_a_pdf_signature_over_noise_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "noise.pdf"
    path.write_bytes(b"%PDF-1.7\n" + bytes(range(256)) * 8 + b"\n%%EOF")

    assert refusal(path) is RefusalCode.UNREADABLE


def test_a_truncated_picture_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cut.png"
    Image.effect_noise((200, 200), 50).save(path)
    path.write_bytes(path.read_bytes()[:8000])

    assert refusal(path) is RefusalCode.UNREADABLE


def test_a_picture_with_too_many_pixels_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.png"
    Image.new("1", (9000, 9000)).save(path)

    assert refusal(path) is RefusalCode.TOO_MANY_PIXELS
