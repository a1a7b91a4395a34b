"""Check that an upload is a readable PDF, JPEG or PNG.

`detect_file_type_without_opening` reads its first and last bytes and is safe in a web
process; `check_file_can_be_opened` opens it, which only a bounded process may do.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import filetype
import pikepdf
import pypdfium2 as pdfium
from filetype.types import archive, image
from PIL import Image

MAX_BYTES = 10 * 1024 * 1024
MAX_PIXELS = 60_000_000
_SIGNATURE_BYTES = 8192
# A moving picture begins as a PNG does, and is none.
_MAY_BE = (archive.Pdf(), image.Jpeg(), image.Apng(), image.Png())


class FileKind(StrEnum):
    """The kind of a file by its content."""

    PDF = "application/pdf"
    JPEG = "image/jpeg"
    PNG = "image/png"


class RefusalCode(StrEnum):
    """The reason why an upload is refused."""

    EMPTY = "empty_file"
    TOO_LARGE = "file_too_large"
    UNSUPPORTED = "unsupported_file_type"
    MISMATCH = "file_type_mismatch"
    ENCRYPTED = "encrypted_file"
    UNREADABLE = "unreadable_file"
    TOO_MANY_PIXELS = "too_many_pixels"


class RefusedFile(Exception):
    """A refused upload, by code; never carries text of the file."""

    def __init__(self, code: RefusalCode) -> None:
        super().__init__(code.value)
        self.code = code


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """What a file proved to be: its kind by content; pages is 1 for a picture."""

    kind: FileKind
    pages: int


def detect_file_type_without_opening(
    path: Path, *, declared: str | None = None
) -> FileKind:
    """Detect a PDF, JPEG or PNG by its first and last bytes, without opening it.

    declared: the media type the sender stated, which must agree with the content.
    Raises: RefusedFile by empty_file, file_too_large (over 10 MB),
    unsupported_file_type, file_type_mismatch, unreadable_file (a PDF without its end).
    Source: Contract 7.1.
    """
    size = path.stat().st_size
    if size == 0:
        raise RefusedFile(RefusalCode.EMPTY)
    if size > MAX_BYTES:
        raise RefusedFile(RefusalCode.TOO_LARGE)
    kind = detect_file_kind_by_signature(path)
    if declared is not None and _plain_type(declared) != kind:
        raise RefusedFile(RefusalCode.MISMATCH)
    if kind is FileKind.PDF and not _ends_whole(path):
        raise RefusedFile(RefusalCode.UNREADABLE)
    return kind


def check_file_can_be_opened(path: Path, *, declared: str | None = None) -> OpenedFile:
    """Check that a file is a readable PDF, JPEG or PNG, by opening it.

    A hostile file may take any time. Raises: RefusedFile as by
    detect_file_type_without_opening, and by encrypted_file, unreadable_file,
    too_many_pixels. Source: Contract 7.1.
    """
    kind = detect_file_type_without_opening(path, declared=declared)
    if kind is FileKind.PDF:
        return OpenedFile(kind, _count_pages(path))
    _decode_picture(path, kind)
    return OpenedFile(kind, 1)


def detect_file_kind_by_signature(path: Path) -> FileKind:
    """Return the kind of a signature. Raises: unsupported_file_type."""
    with path.open("rb") as file:
        head = file.read(_SIGNATURE_BYTES)
    guess = filetype.match(head, _MAY_BE)
    try:
        return FileKind(guess.mime if guess else "")
    except ValueError:
        raise RefusedFile(RefusalCode.UNSUPPORTED) from None


def _plain_type(declared: str) -> str:
    plain = declared.partition(";")[0].strip().lower()
    return "image/jpeg" if plain in ("image/jpg", "image/pjpeg") else plain


def _count_pages(path: Path) -> int:
    """Pages of a PDF that both readers can open; neither runs its scripts."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pikepdf.open(path, attempt_recovery=False) as document:
                encrypted = document.is_encrypted
    except pikepdf.PasswordError:
        raise RefusedFile(RefusalCode.ENCRYPTED) from None
    except (pikepdf.PdfError, ValueError, RuntimeError):
        raise RefusedFile(RefusalCode.UNREADABLE) from None
    if encrypted:
        raise RefusedFile(RefusalCode.ENCRYPTED)
    try:
        pdf = pdfium.PdfDocument(path)
    except pdfium.PdfiumError:
        raise RefusedFile(RefusalCode.UNREADABLE) from None
    try:
        pages = len(pdf)
        if pages == 0:
            raise RefusedFile(RefusalCode.UNREADABLE)
        pdf[0].close()  # reads all that the page draws, forms inside forms as well
    except pdfium.PdfiumError:
        raise RefusedFile(RefusalCode.UNREADABLE) from None
    finally:
        pdf.close()
    return pages


def _ends_whole(path: Path) -> bool:
    """Whether the end marker is there; a cut-off upload lacks it."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 2048))
        return b"%%EOF" in file.read()


def _decode_picture(path: Path, kind: FileKind) -> None:
    """Decode a picture whole, once its header has shown that it is not too large."""
    expected = "JPEG" if kind is FileKind.JPEG else "PNG"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path, formats=[expected]) as picture:
                width, height = picture.size
                if width * height > MAX_PIXELS:
                    raise RefusedFile(RefusalCode.TOO_MANY_PIXELS)
                picture.load()
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise RefusedFile(RefusalCode.TOO_MANY_PIXELS) from None
    except (OSError, SyntaxError, ValueError, EOFError):
        raise RefusedFile(RefusalCode.UNREADABLE) from None
