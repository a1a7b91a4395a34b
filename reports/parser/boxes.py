"""Reads the text in a box drawn on a page as one row.

The page's own text where it has any there, else its picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reports.parser.layout.lines import Line, group_words_into_lines
from reports.parser.layout.text_layer import read_pdf_page
from reports.parser.loinc import is_known_test_name
from reports.parser.readers import Row, find_result_rows
from reports.parser.text.fields import join_word_texts, split_value_cell
from reports.parser.text.values import is_result_value

from .documents import NoPictureReader, read_words_in_box
from .intake import FileKind, detect_file_kind_by_signature
from .pages import Page, Word
from .report import Place


@dataclass(frozen=True, slots=True)
class BoxReading:
    """All the text of a box, and what of it is which part of a row, as printed.

    Parts are None where the box does not hold them. sure: of the least sure word, 0 to
    1. from_picture: the page has no text of its own there.
    """

    text: str
    test_name: str | None = None
    value: str | None = None
    units: str | None = None
    reference_range: str | None = None
    flag: str | None = None
    sure: float = 1.0
    from_picture: bool = False


def read_text_in_box(paths: Sequence[Path], place: Place) -> BoxReading:
    """Read a box on a page of one PDF, or of several pictures of pages in order.

    Raises: RefusedFile, NoPictureReader, pdfium's own error. Source: Ours (workflow
    D1: draw a box, and its text is read there).
    """
    page = _own_text(paths, place)
    inside = _inside(page, place) if page else []
    from_picture = not inside
    if page is None or not inside:
        try:
            # An empty box on a page with text may stand over a small picture.
            shown = read_words_in_box(paths, place)
        except NoPictureReader:
            if page is None:
                raise
            return BoxReading("")
        page, inside = shown, list(shown.words)
    lines = group_words_into_lines(inside, page=place.page, drawn=from_picture)
    return _reading(page, lines, from_picture=from_picture)


def _own_text(paths: Sequence[Path], place: Place) -> Page | None:
    """The page's text layer; None where it has none that means anything."""
    if detect_file_kind_by_signature(paths[0]) is not FileKind.PDF:
        return None
    page = read_pdf_page(paths[0], place.page)
    return page if page.legible and not page.pictured else None


def _inside(page: Page, place: Place) -> list[Word]:
    """The words whose middle lies in the box."""
    xs = [point.x for point in place.polygon]
    ys = [point.y for point in place.polygon]
    found = []
    for word in page.words:
        x, y = page.shown((word.x0 + word.x1) / 2, word.middle)
        if min(xs) <= x <= max(xs) and min(ys) <= y <= max(ys):
            found.append(word)
    return found


def _reading(page: Page, lines: Sequence[Line], *, from_picture: bool) -> BoxReading:
    words = [word for line in lines for word in line.words]
    text = " ".join(line.text for line in lines)
    sure = min((word.sure for word in words), default=1.0)
    rows = find_result_rows([page], [lines], is_known=is_known_test_name)
    if len(rows) == 1:
        return _of_row(rows[0], text, sure, from_picture=from_picture)
    first = next(
        (n for n, word in enumerate(words) if is_result_value(word.text)), None
    )
    if first is None:
        return BoxReading(
            text, test_name=text or None, sure=sure, from_picture=from_picture
        )
    value, units, flag, spread = split_value_cell(join_word_texts(words[first:]))
    return BoxReading(
        text,
        test_name=join_word_texts(words[:first]) or None,
        value=value,
        units=units,
        reference_range=spread,
        flag=flag,
        sure=sure,
        from_picture=from_picture,
    )


def _of_row(row: Row, text: str, sure: float, *, from_picture: bool) -> BoxReading:
    fields = row.fields
    return BoxReading(
        text,
        test_name=row.test_name or None,
        value=fields.value or None,
        units=fields.units or None,
        reference_range=fields.range or None,
        flag=fields.flag or None,
        sure=sure,
        from_picture=from_picture,
    )
