"""Files as pages of words: decides page by page between text layer and picture.

A page's own text is as printed and costs nothing, so a picture is read only where the
text is missing or means nothing. Loads nothing that reads pictures before it must.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import pypdfium2 as pdfium

from .intake import FileKind, RefusalCode, RefusedFile, file_kind
from .pages import Page, TooManyPages, read_pages
from .report import FailureReason, UnreadableReport

logger = logging.getLogger(__name__)


def read_document(
    paths: Sequence[Path], *, at_most: int, threads: int = 1
) -> tuple[Page, ...]:
    """Read one PDF, or one or several pictures in order, into pages.

    Raises: UnreadableReport by too_many_pages, processing_error, invalid_input (of no
    kind that is read, or a PDF among several files).
    """
    try:
        return _read(paths, at_most=at_most, threads=threads)
    except RefusedFile as refusal:
        foreign = refusal.code in {RefusalCode.EMPTY, RefusalCode.UNSUPPORTED}
        raise UnreadableReport(
            FailureReason.INVALID_INPUT if foreign else FailureReason.PROCESSING_ERROR
        ) from None
    except pdfium.PdfiumError:
        raise UnreadableReport(FailureReason.PROCESSING_ERROR) from None
    except TooManyPages:
        raise UnreadableReport(FailureReason.TOO_MANY_PAGES) from None


def _read(paths: Sequence[Path], *, at_most: int, threads: int) -> tuple[Page, ...]:
    kinds = [file_kind(path) for path in paths]
    if len(paths) == 1 and kinds[0] is FileKind.PDF:
        return _read_pdf(paths[0], at_most=at_most, threads=threads)
    if FileKind.PDF in kinds:
        raise RefusedFile(RefusalCode.UNSUPPORTED)
    if len(paths) > at_most:
        raise TooManyPages
    return _read_pictures(paths, threads=threads)


def _read_pictures(paths: Sequence[Path], *, threads: int) -> tuple[Page, ...]:
    try:
        from .pictures import EngineMissing, read_pictures
    except ImportError:
        raise _no_engine() from None
    try:
        return read_pictures(paths, threads=threads)
    except EngineMissing:
        raise _no_engine() from None


def _read_pdf(path: Path, *, at_most: int, threads: int) -> tuple[Page, ...]:
    pages = read_pages(path, at_most=at_most)
    wanted = [page.number for page in pages if not (page.words and page.legible)]
    if not wanted:
        return pages
    try:
        from .pictures import EngineMissing, read_shown
    except ImportError:
        logger.warning("pages without text are left out: no OCR packages")
        return pages
    try:
        shown = read_shown(path, wanted, threads=threads)
    except EngineMissing:
        logger.warning("pages without text are left out: no OCR packages")
        return pages
    return tuple(shown.get(page.number, page) for page in pages)


def _no_engine() -> UnreadableReport:
    logger.error("pictures can't be read: the OCR packages are not installed")
    return UnreadableReport(FailureReason.PROCESSING_ERROR)
