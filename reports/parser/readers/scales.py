"""Results drawn on scales: a name, a value, and under them the two ends of the range,
each a number of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import median

from reports.parser.layout.lines import Cell, Line
from reports.parser.rows.naming import split_name_and_unit
from reports.parser.rows.row import (
    Row,
    Section,
    replace_row_range_text,
    replace_row_unit,
)
from reports.parser.rows.wording import (
    clean_printed_name,
    is_exact_value,
    may_name_a_test,
)
from reports.parser.text.fields import Fields, split_value_cell
from reports.parser.text.values import (
    NUMBER,
    has_decimal_commas,
    is_numeric_value,
    parse_printed_number,
)

_END = re.compile(rf"(?i)(?P<label>min|max|low|high)?\.?\s*:?\s*(?P<number>{NUMBER})")
_BARE = re.compile(NUMBER)
_FEWEST_ENDED = 5
_WIDE = 1.25
_LEAST_SCALES = 2
_ENDS = 2
_HIGHEST = 3
_FARTHEST = 4.0


def read_rows_in_scales(lines: Sequence[Line], section: Section) -> list[Row]:
    """Return the rows printed as scales; none if there are fewer than two."""
    rows: list[Row] = []
    free = 0
    for n, line in enumerate(lines):
        cells = line.tight_cells
        ends = [match for cell in cells if (match := _END.fullmatch(cell.text))]
        if len(ends) != len(cells) or not _ENDS <= len(ends) <= _ENDS + 1:
            continue
        if len(ends) > _ENDS and not (ends[0]["label"] and ends[-1]["label"]):
            continue
        spread = _spread(ends[0]["number"], ends[-1]["number"])
        above = [
            under
            for under in lines[max(free, n - _HIGHEST) : n]
            if line.middle - under.middle < _FARTHEST * max(line.size, under.size)
        ]
        row = _read_scale(above, cells[1:-1], section) if spread else None
        if row is not None and spread:
            words = [*cells[0].words, *cells[-1].words]
            row.fields = replace_row_range_text(row.fields, spread, words)
            rows.append(row)
            free = n + 1
    return rows if len(rows) >= _LEAST_SCALES else []


def take_row_ranges_from_scale_ends(rows: Sequence[Row]) -> None:
    """Give rows the range whose ends are printed behind the value, under a bar.

    So may two earlier results, but these don't rise in every one of many rows, nor by
    much.
    """
    ended = [
        (row, ends)
        for row in rows
        if not row.fields.range and row.fields.units and (ends := _ends_behind(row))
    ]
    spreads = [_spread(low.text, high.text) for _, (low, high) in ended]
    widths = [
        last / first
        for _, (a, b) in ended
        if (first := parse_printed_number(a.text))
        and (last := parse_printed_number(b.text))
    ]
    if (
        len(ended) < _FEWEST_ENDED
        or not all(spreads)
        or median(widths or [1.0]) < _WIDE
    ):
        return
    for (row, (low, high)), spread in zip(ended, spreads, strict=True):
        if spread:
            row.fields = replace_row_range_text(
                row.fields, spread, [*low.words, *high.words]
            )


def _ends_behind(row: Row) -> tuple[Cell, Cell] | None:
    """The two bare numbers that are all there is behind the value and its unit."""
    last = max(word.x1 for word in (*row.fields.value_words, *row.fields.units_words))
    behind = [cell for cell in row.line.cells if cell.x0 > last]
    bare = all(_BARE.fullmatch(cell.text) for cell in behind)
    return (behind[0], behind[1]) if bare and len(behind) == _ENDS else None


def _spread(low: str, high: str) -> str | None:
    """The range from one end to the other, if that is the higher."""
    comma = has_decimal_commas([low, high])
    first = parse_printed_number(low, decimal_comma=comma)
    last = parse_printed_number(high, decimal_comma=comma)
    rises = first is not None and last is not None and first < last
    return f"{low} - {high}" if rises else None


def _read_scale(
    above: Sequence[Line], middle: Sequence[Cell], section: Section
) -> Row | None:
    """The one name and the one value over the ends, or between them."""
    placed = [(line, cell) for line in above for cell in line.cells]
    values = [(cell, f) for cell in middle if (f := _value(cell, bare=True))]
    values += [(cell, f) for _, cell in placed if (f := _value(cell, bare=False))]
    names: list[tuple[Line, Cell, str, str | None]] = []
    for line, cell in placed:
        name, unit = split_name_and_unit(clean_printed_name(cell.text), section)
        if may_name_a_test(name) and section.knows(name):
            names.append((line, cell, name, unit))
    if len(values) != 1 or len(names) != 1:
        return None
    ((line, cell, name, unit),) = names
    fields = values[0][1]
    if unit and not fields.units:
        fields = replace_row_unit(fields, unit, [cell.words[-1]])
    if not fields.units:
        return None
    row = Row(line.page, list(cell.words), fields, line, section.panel)
    row.specimen, row.name_text = section.specimen, name
    row.score, row.titled = 7.0, False
    return row


def _value(cell: Cell, *, bare: bool) -> Fields | None:
    """A number with its unit; bare: or without one."""
    value, unit, flag, spread = split_value_cell(cell.text)
    if spread or not (unit or bare) or not is_numeric_value(value):
        return None
    if not is_exact_value(value) and not unit:
        return None
    return Fields(
        value=value,
        units=unit,
        flag=flag,
        value_words=cell.words[:1] if unit else cell.words,
        units_words=cell.words[1:] if unit else (),
    )
