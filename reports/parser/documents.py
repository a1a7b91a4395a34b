"""Reads files into pages of words, from the text layer or the image of each page.

A page's own text is as printed and costs nothing, so a picture is read only where the
text is missing or means nothing. Loads nothing that reads pictures before it must.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from reports.parser.layout.text_layer import TooManyPages, read_pdf_pages

from .intake import FileKind, RefusalCode, RefusedFile, detect_file_kind_by_signature
from .pages import Page
from .report import FailureReason, Place, UnreadableReport

OnPage = Callable[[], None]


class NoPictureReader(UnreadableReport):
    """A picture has to be read and the packages for it are not installed."""

    def __init__(self) -> None:
        super().__init__(FailureReason.PROCESSING_ERROR)


def read_document_pages(
    paths: Sequence[Path],
    *,
    at_most: int,
    threads: int = 1,
    on_page: OnPage | None = None,
) -> tuple[Page, ...]:
    """Read one PDF, or one or more images in order, into pages.

    on_page is called after each picture of a page that was read. Raises:
    UnreadableReport by too_many_pages, processing_error, invalid_input (of no kind
    that is read, or a PDF among several files); NoPictureReader.
    """
    try:
        kinds = [detect_file_kind_by_signature(path) for path in paths]
        if kinds == [FileKind.PDF]:
            pages = read_pdf_pages(paths[0], at_most=at_most)
            return _with_pictures(pages, paths[0], threads, on_page)
        if FileKind.PDF in kinds:
            raise UnreadableReport(FailureReason.INVALID_INPUT)
        if len(paths) > at_most:
            raise UnreadableReport(FailureReason.TOO_MANY_PAGES)
        return _read_pictures(paths, threads, on_page)
    except RefusedFile as refusal:
        foreign = refusal.code in {RefusalCode.EMPTY, RefusalCode.UNSUPPORTED}
        raise UnreadableReport(
            FailureReason.INVALID_INPUT if foreign else FailureReason.PROCESSING_ERROR
        ) from None
    except pdfium.PdfiumError:
        raise UnreadableReport(FailureReason.PROCESSING_ERROR) from None
    except TooManyPages:
        raise UnreadableReport(FailureReason.TOO_MANY_PAGES) from None


def read_words_in_box(paths: Sequence[Path], place: Place) -> Page:
    """Return the words in a box on a page, read from its image.

    Raises: NoPictureReader; RefusedFile; pdfium's own error.
    """
    page: Page = _pictures().read_box_by_ocr(paths, place)
    return page


def _read_pictures(
    paths: Sequence[Path], threads: int, on_page: OnPage | None
) -> tuple[Page, ...]:
    pages: tuple[Page, ...] = _pictures().read_image_files(
        paths, threads=threads, on_page=on_page
    )
    return pages


def _with_pictures(
    pages: tuple[Page, ...], path: Path, threads: int, on_page: OnPage | None
) -> tuple[Page, ...]:
    """The same pages, those without usable text read from their pictures."""
    items = [
        page for page in pages if page.pictured or not (page.words and page.legible)
    ]
    numbers = _marked(path, [page.number for page in items])
    if not numbers:
        return pages
    try:
        shown = _pictures().read_pdf_pages_by_ocr(
            path, numbers, threads=threads, on_page=on_page
        )
    except NoPictureReader:
        if any(not (page.words and page.legible) for page in items):
            raise
        return pages
    return tuple(shown.get(page.number, page) for page in pages)


def _marked(path: Path, numbers: Sequence[int]) -> list[int]:
    """Those of the pages that have anything on them."""
    if not numbers:
        return []
    document = pdfium.PdfDocument(path)
    try:
        return [n for n in numbers if _has_objects(document, n)]
    finally:
        document.close()


def _has_objects(document: pdfium.PdfDocument, number: int) -> bool:
    page = document[number - 1]
    try:
        return bool(pdfium_c.FPDFPage_CountObjects(page.raw) > 0)
    finally:
        page.close()


def _pictures() -> ModuleType:
    """The package that reads pictures. Raises: NoPictureReader."""
    try:
        from . import pictures
    except ImportError:
        raise NoPictureReader from None
    return pictures
