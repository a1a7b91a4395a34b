"""Ranges that stand apart from the value of their row: on a line over or under it, in
a cell among notes, beside the name of a card.
"""

from __future__ import annotations

from collections.abc import Sequence

from reports.parser.layout.lines import Cell, Line
from reports.parser.pages import Word
from reports.parser.text.fields import find_unit_in_range
from reports.parser.text.ranges import (
    is_plain_numeric_range,
    is_range_in_words,
    looks_like_range,
    parse_labeled_range,
)

from .row import Row, replace_row_range_text
from .wording import find_labeled_range

# In points, and in sizes of type.
_HANGING = 2.0
_NEXT_LINE = 1.9


def find_range_among_cells(
    cells: Sequence[Cell], last: Row
) -> tuple[str | None, list[Word]]:
    """Find a range in one cell of a line: labeled, or plain under name or value."""
    value = last.fields
    places = (last.name, (*value.value_words, *value.units_words))
    for cell in cells:
        text = parse_labeled_range(cell.text)
        under = any(
            cell.x0 < words[-1].x1 and words[0].x0 < cell.x1 for words in places
        )
        unit = value.units or find_unit_in_range(cell.text)
        if text is None and under and unit:
            text = _plain_range(cell.text, unit)
        if text is not None and looks_like_range(text):
            return text, list(cell.words)
    return None, []


def _plain_range(text: str, unit: str) -> str | None:
    """A range and nothing else, with or without brackets and the value's unit."""
    if is_plain_numeric_range(text):
        return text
    plain = text.removeprefix("(").removesuffix(")").strip()
    bare = plain.removesuffix(unit).strip()
    return (
        plain
        if is_plain_numeric_range(bare) and find_unit_in_range(plain) == unit
        else None
    )


def merge_range_bands_from_below(rows: Sequence[Row], lines: Sequence[Line]) -> None:
    """Extend labeled ranges by the bands printed below them, at the same indent."""
    by_word = {id(word): n for n, line in enumerate(lines) for word in line.words}
    for row in rows:
        words = row.fields.range_words
        at = by_word.get(id(words[-1])) if words else None
        text = parse_labeled_range(lines[at].text) if at is not None else None
        if at is None or not text or words[0].middle - row.line.middle < row.line.size:
            continue
        last, begins = lines[at], lines[at].words[-len(text.split())].x0
        for line in lines[at + 1 :]:
            near = line.middle - last.middle < _NEXT_LINE * line.size
            hangs = abs(line.x0 - begins) < _HANGING and len(line.cells) == 1
            if not (near and hangs and looks_like_range(line.text)):
                break
            text = f"{text} {line.text}"
            row.fields = replace_row_range_text(row.fields, text, list(line.words))
            last = line


def is_range_label_line(lines: Sequence[Line]) -> bool:
    """Return whether the first of the lines is labeled as a range."""
    if not lines:
        return False
    items = [
        find_labeled_range(lines[0]),
        *(parse_labeled_range(c.text) for c in lines[0].cells),
    ]
    return any(
        looks_like_range(text) or is_range_in_words(text) for text in items if text
    )
