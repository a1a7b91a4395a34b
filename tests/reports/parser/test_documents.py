"""Which pages are read from their text and which from their picture."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from reports.parser.documents import NoPictureReader, read_document_pages
from reports.parser.pages import Page
from reports.parser.report import UnreadableReport
from tests.factories.reports import make_pdf, make_picture

HIDDEN, PLAIN = 3, 0


@pytest.fixture
def pictures(monkeypatch):
    """Stands in for the reader of pictures: notes what it is asked for."""

    class Reader:
        items: list[object] = []

        def read_pdf_pages_by_ocr(self, path, numbers, **_):
            self.asked.append(list(numbers))
            return {n: Page(number=n, width=1, height=1, words=()) for n in numbers}

        def read_image_files(self, paths, **_):
            self.asked.append(list(paths))
            return tuple(
                Page(number=n + 1, width=1, height=1, words=())
                for n in range(len(paths))
            )

    reader = Reader()
    reader.asked = []
    monkeypatch.setattr("reports.parser.documents._pictures", lambda: reader)
    return reader


@pytest.fixture
def no_reader(monkeypatch):
    monkeypatch.setitem(sys.modules, "reports.parser.pictures", None)
    monkeypatch.delattr("reports.parser.pictures", raising=False)


def scan(folder, *, words, mode):
    """A page under a picture, with words of a text layer in one rendering mode."""
    path = folder / "scan.pdf"
    file = folder / "scan.png"
    file.write_bytes(make_picture("PNG"))
    canvas = Canvas(str(path), pagesize=(595, 842))
    canvas.drawImage(ImageReader(str(file)), 0, 0, 595, 842)
    text = canvas.beginText(50, 800)
    text.setTextRenderMode(mode)
    for n in range(words):
        text.textLine(f"word{n}")
    canvas.drawText(text)
    canvas.save()
    return path


def pdf(folder, content):
    path = folder / "report.pdf"
    path.write_bytes(content)
    return path


def test_a_page_with_text_is_not_rendered(tmp_path, pictures):
    (page,) = read_document_pages([pdf(tmp_path, make_pdf())], at_most=30)

    assert pictures.asked == []
    assert "Glucose" in [word.text for word in page.words]


@pytest.mark.parametrize(
    ("words", "mode", "asked"),
    [(60, HIDDEN, [[1]]), (3, PLAIN, [[1]]), (0, PLAIN, [[1]]), (60, PLAIN, [])],
    ids=["hidden text", "a stamp on a scan", "a scan", "text over a background"],
)
def test_what_a_picture_shows_wins_over_hidden_or_little_text(
    tmp_path, pictures, words, mode, asked
):
    read_document_pages([scan(tmp_path, words=words, mode=mode)], at_most=30)

    assert pictures.asked == asked


def test_an_empty_page_is_not_rendered(tmp_path, pictures):
    path = tmp_path / "empty.pdf"
    canvas = Canvas(str(path))
    canvas.showPage()
    canvas.save()

    (page,) = read_document_pages([path], at_most=30)

    assert (page.words, pictures.asked) == ((), [])


def test_pictures_are_read_in_their_order(tmp_path, pictures):
    paths = [tmp_path / "b.png", tmp_path / "a.png"]
    for path in paths:
        path.write_bytes(make_picture("PNG"))

    pages = read_document_pages(paths, at_most=30)

    assert pictures.asked == [paths]
    assert [page.number for page in pages] == [1, 2]


def test_a_pdf_among_pictures_is_no_page_of_them(tmp_path, pictures):
    first = tmp_path / "a.png"
    first.write_bytes(make_picture("PNG"))

    with pytest.raises(UnreadableReport) as refusal:
        read_document_pages([first, pdf(tmp_path, make_pdf())], at_most=30)

    assert (refusal.value.reason, pictures.asked) == ("invalid_input", [])


def test_more_pictures_than_pages_allowed_are_not_read(tmp_path, pictures):
    paths = [tmp_path / f"{n}.png" for n in range(3)]
    for path in paths:
        path.write_bytes(make_picture("PNG"))

    with pytest.raises(UnreadableReport) as refusal:
        read_document_pages(paths, at_most=2)

    assert (refusal.value.reason, pictures.asked) == ("too_many_pages", [])


def test_a_picture_needs_the_packages_that_read_it(tmp_path, no_reader):
    path = tmp_path / "page.png"
    path.write_bytes(make_picture("PNG"))

    with pytest.raises(NoPictureReader) as refusal:
        read_document_pages([path], at_most=30)

    assert refusal.value.reason == "processing_error"


def test_a_page_is_never_left_out_for_want_of_a_reader(tmp_path, no_reader):
    with pytest.raises(NoPictureReader):
        read_document_pages([scan(tmp_path, words=0, mode=PLAIN)], at_most=30)


def test_hidden_text_serves_where_nothing_reads_the_picture(tmp_path, no_reader):
    (page,) = read_document_pages([scan(tmp_path, words=60, mode=HIDDEN)], at_most=30)

    assert len(page.words) == 60


def test_a_text_report_loads_nothing_that_reads_pictures(tmp_path):
    code = (
        "import sys, pathlib\n"
        "from reports.parser.parsing import parse_report\n"
        "assert parse_report(pathlib.Path(sys.argv[1])).results\n"
        "print([m for m in ('numpy', 'cv2', 'onnxruntime', 'rapidocr')"
        " if m in sys.modules])\n"
    )
    path = pdf(tmp_path, make_pdf())

    found = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        cwd=Path(settings.BASE_DIR),
        capture_output=True,
        check=True,
    )

    assert found.stdout.strip() == b"[]"
