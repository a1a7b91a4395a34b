"""Reads image files, and rendered PDF pages, into pages of words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pypdfium2 as pdfium

from reports.parser.intake import FileKind, detect_file_kind_by_signature
from reports.parser.pages import Page
from reports.parser.report import Place

from .decoding import is_blank_page_image, open_upright_picture, render_pdf_page
from .engine import load_ocr_engine
from .reading import read_page_from_image
from .view import View, apply_homography_to_points, crop_page_image

OnPage = Callable[[], None]


def read_image_files(
    paths: Sequence[Path], *, threads: int = 1, on_page: OnPage | None = None
) -> tuple[Page, ...]:
    """Read picture files, each one page, in their order.

    Raises: RefusedFile by unreadable_file, too_many_pixels.
    """
    pages = []
    for number, path in enumerate(paths, start=1):
        view = open_upright_picture(path)
        width = float(view.to_page[0, 0] * view.width)
        height = float(view.to_page[1, 1] * view.height)
        pages.append(_read(view, number, (width, height), threads))
        if on_page:
            on_page()
    return tuple(pages)


def read_pdf_pages_by_ocr(
    path: Path,
    numbers: Sequence[int],
    *,
    threads: int = 1,
    on_page: OnPage | None = None,
) -> dict[int, Page]:
    """Read pages of a PDF, by number from 1, as they are shown.

    Raises: pdfium's own error.
    """
    document = pdfium.PdfDocument(path)
    pages = {}
    try:
        for number in numbers:
            pages[number] = _read_shown(document, number, threads)
            if on_page:
                on_page()
    finally:
        document.close()
    return pages


def read_box_by_ocr(paths: Sequence[Path], place: Place) -> Page:
    """Read the part of a page that a box holds: of a PDF, or of pictures of pages.

    Raises: RefusedFile by unreadable_file, too_many_pixels; pdfium's own error.
    """
    view = _view_of(paths, place.page)
    part = crop_page_image(view, [(point.x, point.y) for point in place.polygon])
    ((width, height),) = apply_homography_to_points(
        view.to_page, np.array([[view.width, view.height]])
    )
    return _read(part, place.page, (float(width), float(height)), threads=1)


def _view_of(paths: Sequence[Path], number: int) -> View:
    if detect_file_kind_by_signature(paths[0]) is not FileKind.PDF:
        return open_upright_picture(paths[number - 1])
    document = pdfium.PdfDocument(paths[0])
    try:
        page = document[number - 1]
        try:
            return render_pdf_page(page)
        finally:
            page.close()
    finally:
        document.close()


def _read_shown(document: pdfium.PdfDocument, number: int, threads: int) -> Page:
    page = document[number - 1]
    try:
        view = render_pdf_page(page)
        size = page.get_size()
    finally:
        page.close()
    return _read(view, number, size, threads)


def _read(view: View, number: int, size: tuple[float, float], threads: int) -> Page:
    if is_blank_page_image(view):
        return Page(number=number, width=size[0], height=size[1], words=())
    engine = load_ocr_engine(threads=threads)
    return read_page_from_image(view, number=number, size=size, engine=engine)
