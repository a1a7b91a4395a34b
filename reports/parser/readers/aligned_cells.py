"""Cells of a line, each with what it may be, for tables read by what stands in line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from reports.parser.layout.lines import Cell, Line, build_cell, clip_lines_to_columns
from reports.parser.rows.row import Section
from reports.parser.rows.wording import clean_printed_name, may_name_a_test
from reports.parser.text.fields import (
    find_unit_in_range,
    is_laboratory_mark,
    is_range_status_text,
    is_unit,
    split_value_cell,
)
from reports.parser.text.ranges import (
    is_plain_numeric_range,
    looks_like_range,
    strip_range_label,
)
from reports.parser.text.values import is_numeric_value, is_worded_value

_MOST_WORDS = 12
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Part:
    """A cell with what it may be: range, flag, unit, number, finding or text."""

    kind: str
    cell: Cell
    value: str = ""

    @property
    def span(self) -> tuple[float, float]:
        return self.cell.x0, self.cell.x1


@dataclass(frozen=True, slots=True)
class Level:
    """One line of a table and its cells."""

    line: Line
    parts: tuple[Part, ...]
    named: tuple[Part, ...] = ()

    def find(self, *kinds: str) -> list[Part]:
        return [part for part in self.parts if part.kind in kinds]


@lru_cache(maxsize=8192)
def classify_cell(text: str) -> tuple[str, str]:
    """Return what a cell may be, and its value where it holds one."""
    if is_laboratory_mark(text) or is_range_status_text(text):
        return "flag", ""
    if is_plain_numeric_range(text) or find_unit_in_range(text):
        # A comparator heads a result as well as a limit.
        value = split_value_cell(text)[0]
        limit = text.strip()[:1] in "<>≤≥" and is_numeric_value(value)
        return ("limit", value) if limit else ("range", "")
    if is_unit(text):
        return "unit", ""
    value = split_value_cell(text)[0]
    if is_numeric_value(value):
        return "number", value
    if is_worded_value(value):
        return "finding", value
    bare = strip_range_label(text)
    labelled = bare != text and looks_like_range(bare)
    if labelled or (looks_like_range(text) and _is_list_of_ranges(text)):
        return "range", ""
    return "text", ""


def _is_list_of_ranges(text: str) -> bool:
    """Whether a text is mostly limits, each with few words: 'Male: 13 - 17'."""
    digits = sum(sign.isdigit() for sign in text)
    return digits >= 2 and len(text) <= 12 * digits and len(text.split()) <= _MOST_WORDS


def cut_line(line: Line, section: Section) -> Level:
    """Return a line cut into cells, with those that name a test beside a number."""
    parts = tuple(map(_classify, _split(line)))
    numbers = [part for part in parts if part.kind == "number"]
    named = (part for part in parts if _is_known_name(part, section))
    return Level(line, parts, tuple(named) if numbers and len(parts) > 1 else ())


def _classify(cell: Cell) -> Part:
    kind, value = classify_cell(cell.text)
    return Part(kind, cell, value)


def _split(line: Line) -> list[Cell]:
    cells = line.tight_cells
    return [piece for cell in cells for piece in _split_words(cell)]


def _split_words(cell: Cell) -> list[Cell]:
    """Split a unit and the range or value behind it: 'mg/dL [70 - 99]'."""
    words = cell.words
    if len(words) > 1 and is_unit(words[0].text) and not words[0].text.isdigit():
        rest = build_cell(words[1:])
        if looks_like_range(rest.text) or is_numeric_value(rest.text):
            return [build_cell(words[:1]), rest]
    return [cell]


def _is_known_name(part: Part, section: Section) -> bool:
    if part.kind in ("range", "number", "flag") or not _LETTER.search(part.cell.text):
        return False
    name = clean_printed_name(part.cell.text)
    return may_name_a_test(name) and section.knows(name)


def clip_levels(
    levels: Sequence[Level], left: float, right: float, section: Section
) -> list[Level]:
    """Return the parts of lines between left and right, cut again."""
    if left == 0.0 and right == float("inf"):
        return list(levels)
    lines = clip_lines_to_columns([lv.line for lv in levels], left=left, right=right)
    return [cut_line(line, section) for line in lines]
