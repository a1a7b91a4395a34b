"""Tables that lie on their side: a column for each test, its value, unit and range
below one another.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from reports.parser.layout.lines import Cell, Line, split_words_into_cells
from reports.parser.pages import Word
from reports.parser.rows.reading import read_row_fields_by_column
from reports.parser.rows.row import Parts, Row, Section
from reports.parser.rows.wording import clean_printed_name, may_name_a_test
from reports.parser.text.dates import parse_dates_in_same_order
from reports.parser.text.fields import is_unit, join_word_texts
from reports.parser.text.not_names import has_letters
from reports.parser.text.ranges import is_plain_numeric_range
from reports.parser.text.roles import Role, find_column_role
from reports.parser.text.values import (
    is_not_reported,
    is_result_value,
    split_value_and_flag,
)

_LEAST_TESTS = 3
_DEEPEST = 8


def read_rows_in_transposed_tables(
    lines: Sequence[Line], section: Section
) -> list[Row]:
    """Return the rows of tables with the names of tests as columns."""
    rows: list[Row] = []
    n = 0
    while n < len(lines):
        names = _names(lines[n], section)
        found: list[Row] = []
        depth = 0
        if len(names) >= _LEAST_TESTS:
            found, depth = _read(names, lines[n + 1 : n + 1 + _DEEPEST], section)
        rows.extend(found)
        n += 1 + (depth if found else 0)
    return rows


def _names(line: Line, section: Section) -> list[Cell]:
    """The cells of a line if all but its label name tests."""
    cells = line.tight_cells
    if cells and (find_column_role(cells[0].text) or not _is_name(cells[0], section)):
        cells = cells[1:]
    known = [cell for cell in cells if _is_name(cell, section)]
    return list(cells) if len(known) >= max(_LEAST_TESTS, 0.7 * len(cells)) else []


def _is_name(cell: Cell, section: Section) -> bool:
    name = clean_printed_name(cell.text)
    if not has_letters(name) or not may_name_a_test(name) or find_column_role(name):
        return False
    return section.knows(name)


def _read(
    names: Sequence[Cell], below: Sequence[Line], section: Section
) -> tuple[list[Row], int]:
    parts: list[Parts] = [{} for _ in names]
    latest = ""
    depth = 0
    parted = [_split_label(line, names[0].x0) for line in below]
    days = parse_dates_in_same_order([label for label, _ in parted])
    for (label, cells), day in zip(parted, days, strict=True):
        homes = [_home(cell, names) for cell in cells]
        if not cells or None in homes or len(set(homes)) < len(homes):
            break
        role = find_column_role(label) or _role_by_form(cells)
        if day is not None:
            role = Role.VALUE if day >= latest else Role.PREVIOUS
            latest = max(day, latest)
        if role is None:
            break
        depth += 1
        if role is Role.VALUE and (day is None) and any(Role.VALUE in p for p in parts):
            role = Role.PREVIOUS
        for cell, home in zip(cells, homes, strict=True):
            if home is not None:
                parts[home][role] = list(cell.words)
    if sum(1 for p in parts if Role.VALUE in p) < _LEAST_TESTS:
        return [], 0
    rows = [
        _row(cell, p, below[0], section) for cell, p in zip(names, parts, strict=True)
    ]
    return [row for row in rows if row is not None], depth


def _split_label(line: Line, left: float) -> tuple[str, list[Cell]]:
    """The words left of the first test, and the cells from there on."""
    label = [word for word in line.words if word.x1 < left + 2]
    rest = [word for word in line.words if word.x1 >= left + 2]
    return join_word_texts(label), list(split_words_into_cells(rest, gap=line.tight))


def _home(cell: Cell, names: Sequence[Cell]) -> int | None:
    """The test above a cell; None where the cell stands under none or several."""
    middle = (cell.x0 + cell.x1) / 2
    reach = max((b.x0 - a.x0 for a, b in pairwise(names)), default=60)
    away = [
        (min(abs(middle - (n.x0 + n.x1) / 2), abs(cell.x0 - n.x0)), k)
        for k, n in enumerate(names)
    ]
    nearest, home = min(away)
    return home if nearest < 0.5 * reach else None


def _role_by_form(cells: Sequence[Cell]) -> Role | None:
    texts = [cell.text for cell in cells]
    for role, judge in (
        (Role.UNIT, is_unit),
        (Role.RANGE, is_plain_numeric_range),
        (Role.VALUE, _is_value),
    ):
        if sum(1 for text in texts if judge(text)) >= 0.7 * len(texts):
            return role
    return None


def _is_value(text: str) -> bool:
    return is_result_value(split_value_and_flag(text)[0])


def _row(name: Cell, parts: Parts, line: Line, section: Section) -> Row | None:
    if Role.VALUE not in parts:
        return None
    words: list[Word] = list(name.words)
    fields = read_row_fields_by_column(parts, has_limits=False)
    if is_not_reported(fields.value) or not is_result_value(fields.value):
        return None
    row = Row(line.page, words, fields, line, section.panel, section.specimen)
    row.score = 8.0
    row.titled = False
    return row
