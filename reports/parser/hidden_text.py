"""Finds text that a PDF holds and its pages do not show.

A text layer is what the reader believes, and the picture is what a person believes:
text without ink in a row or in the patient's name makes the two say different things.
Pages that are read from their picture are compared with the text hidden under it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import pypdfium2 as pdfium
from PIL import Image

from reports.parser.layout.text_layer import read_pdf_pages

from .intake import FileKind, detect_file_kind_by_signature
from .pages import Page, Word
from .report import Note, NoteCode, ParsedReport, ParsedResult, Place, RowState

_SCALE = 1.5  # pixels for a point: print of 6 points has ink in it
_LONGEST = 2000  # pixels
_LEAST_SCALE = 0.5  # below it ink is thinner than a pixel
_INK = 24  # of 255: the contrast of the faintest print that people read
_MARGIN = 0.15  # of a box, where a line of the table may run
# So many rows of a picture whose values are nowhere in the text under it.
_CONTRADICTED_SHARE = 0.5
_FEWEST_ROWS = 3
_NUMBER = re.compile(r"\d+")


def find_hidden_text(paths: Sequence[Path], report: ParsedReport) -> tuple[Note, ...]:
    """Return a note if the text of a PDF says what its pages do not show.

    Its rows are those concerned, none where it is the patient's name alone. Empty for
    pictures, and where a page is too large to be drawn. Raises: pdfium's own error.
    Source: Ours (contract D14): reports exist whose header is blank on the page and
    names the patient in the text.
    """
    if [detect_file_kind_by_signature(path) for path in paths] != [FileKind.PDF]:
        return ()
    pages = read_pdf_pages(paths[0])
    inkless = _find_inkless_places(
        paths[0], {*_places_of_rows(pages, report), *_places_of_name(pages, report)}
    )
    rows = {
        position
        for place, position in _places_of_rows(pages, report).items()
        if place in inkless
    }
    rows.update(_find_contradicted_rows(pages, report.results))
    names = _places_of_name(pages, report)
    is_name_hidden = bool(names) and inkless.issuperset(names)
    if not rows and not is_name_hidden:
        return ()
    return (Note(NoteCode.HIDDEN_TEXT, RowState.LOOK, tuple(sorted(rows))),)


def _places_of_rows(pages: Sequence[Page], report: ParsedReport) -> dict[Place, int]:
    """Places of names and values on pages that are read by their text, with rows."""
    pictured = {page.number for page in pages if page.pictured or not page.legible}
    return {
        place: position
        for position, result in enumerate(report.results)
        for place in (result.provenance.name, result.provenance.value)
        if place is not None and place.page not in pictured
    }


def _places_of_name(pages: Sequence[Page], report: ParsedReport) -> set[Place]:
    """Where the patient's name stands on the first page that has words."""
    read = report.metadata
    names = f"{read.patient_first_name or ''} {read.patient_last_name or ''}"
    wanted = {word for word in names.split() if len(word) > 1}
    first = next((page for page in pages if page.words), None)
    if first is None or first.pictured or not first.legible:
        return set()
    words = [word for word in first.words if word.text.strip(",.:;") in wanted]
    return {place for word in words if (place := first.place_of([word]))}


def _find_inkless_places(path: Path, places: set[Place]) -> set[Place]:
    """Those of the places where nothing is drawn."""
    return {
        place
        for number, picture, scale in _draw(path, sorted({one.page for one in places}))
        for place in places
        if place.page == number and not _has_ink(picture, scale, place)
    }


def _find_contradicted_rows(
    pages: Sequence[Page], results: Sequence[ParsedResult]
) -> list[int]:
    """Positions of rows read from a picture that the text under it does not have.

    Only where that is half of the page's rows: a scanner's own text has slips.
    """
    found = []
    for page in pages:
        if not (page.pictured and page.legible and page.words):
            continue
        numbers = _list_numbers(page.words)
        rows = [
            (position, digits)
            for position, result in enumerate(results)
            if (place := result.provenance.value) and place.page == page.number
            if (digits := _NUMBER.findall(result.value))
        ]
        strange = [position for position, digits in rows if not {*digits} <= numbers]
        if len(rows) >= _FEWEST_ROWS and len(strange) > _CONTRADICTED_SHARE * len(rows):
            found += strange
    return found


def _list_numbers(words: Iterable[Word]) -> set[str]:
    return {digits for word in words for digits in _NUMBER.findall(word.text)}


def _draw(
    path: Path, numbers: Sequence[int]
) -> Iterable[tuple[int, Image.Image, float]]:
    """Draw pages in grey, one at a time; those too large are left out."""
    document = pdfium.PdfDocument(path)
    try:
        for number in numbers:
            page = document[number - 1]
            try:
                scale = min(_SCALE, _LONGEST / max(page.get_size()))
                if scale >= _LEAST_SCALE:
                    bitmap = page.render(scale=scale, grayscale=True)
                    yield number, bitmap.to_pil(), scale
            finally:
                page.close()
    finally:
        document.close()


def _has_ink(picture: Image.Image, scale: float, place: Place) -> bool:
    """Whether anything is drawn in a place; nothing is outside of the page."""
    xs = [point.x * scale for point in place.polygon]
    ys = [point.y * scale for point in place.polygon]
    inset = _MARGIN * (max(ys) - min(ys))
    box = (
        max(0, round(min(xs))),
        max(0, round(min(ys) + inset)),
        min(picture.width, round(max(xs)) + 1),
        min(picture.height, round(max(ys) - inset) + 1),
    )
    if box[0] >= box[2] or box[1] >= box[3]:
        return False
    low, high = picture.crop(box).getextrema()
    return bool(high - low >= _INK)  # type: ignore[operator]  # one band
