"""Proposes rows by the plain pattern of their cells: name, value, unit and range.

Asks neither titles nor columns, so tables side by side, or in no column at all, give
rows too. Decides nothing: what is proposed here is judged beside other readings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from portal.lib.units import normalize_unit
from reports.parser.layout.lines import Line
from reports.parser.pages import Word
from reports.parser.readers.lines import join_unfinished_cells
from reports.parser.rows.grammar import list_scripts, settle_fields_by_grammar
from reports.parser.rows.row import Row, Section
from reports.parser.rows.wording import (
    clean_printed_name,
    may_name_a_test,
    split_name_and_flag,
    strip_superscript_from_name,
)
from reports.parser.text.fields import (
    classify_value_cells,
    find_unit_in_range,
    is_laboratory_mark,
    is_range_status_text,
    is_unit,
    join_word_texts,
    split_value_cell,
)
from reports.parser.text.ranges import is_plain_numeric_range
from reports.parser.text.values import is_numeric_value

_FEWEST_CELLS = 3


def propose_rows_in_patterns(lines: Sequence[Line], section: Section) -> list[Row]:
    """Return every row of a known test that stands in cells of its own on one line."""
    return [row for line in lines for row in _propose(line, section)]


def _propose(line: Line, section: Section) -> list[Row]:
    cells = join_unfinished_cells(line.cells)
    if len(cells) < _FEWEST_CELLS:
        return []
    cells = _name_first(cells, section)
    rows: list[Row] = []
    at = 0
    while at < len(cells) - 1:
        start = at + 1
        while start < len(cells) and _is_gloss(join_word_texts(cells[start])):
            start += 1
        end = _find_end(cells, start)
        found = _read(line, cells[at], cells[start:end], section)
        if found:
            again = _find_end(cells, end)
            found += _repeat(found[0], cells[end:again])
            end = again if len(found) > 1 else end
        rows += found
        at = end if found else at + 1
    return rows


def _name_first(cells: list[list[Word]], section: Section) -> list[list[Word]]:
    """Return the cells of a line with the name in front of a value before it."""
    end = _find_end(cells, 0)
    first = _kinds_of_cell(join_word_texts(cells[0]), after_value=False)
    if "value" not in first or end >= len(cells):
        return cells
    name = clean_printed_name(join_word_texts(cells[end]))
    fields = classify_value_cells(cells[:end])
    if fields is None or not fields.units or not section.knows(name):
        return cells
    return [cells[end], *cells[:end], *cells[end + 1 :]]


def _read(
    line: Line, name: list[Word], cells: list[list[Word]], section: Section
) -> list[Row]:
    """Return the row of a known test with a number in a unit or in a range."""
    name, flag = split_name_and_flag(strip_superscript_from_name(name))
    text = clean_printed_name(join_word_texts(name))
    fields = classify_value_cells(cells) if cells and may_name_a_test(text) else None
    if fields is None or not (fields.units or fields.range):
        return []
    fields = settle_fields_by_grammar(fields)
    if not is_numeric_value(fields.value) or not section.knows(text):
        return []
    if flag and fields.flag is None:
        fields = replace(fields, flag=flag)
    row = Row(line.page, name, fields, line, titled=False)
    row.panel, row.specimen = section.panel, section.specimen
    return [row]


def _repeat(row: Row, cells: list[list[Word]]) -> list[Row]:
    """Return the result again where cells have it in another unit: '33 mmol/mol'."""
    fields = classify_value_cells(cells) if cells else None
    if fields is None or not (row.fields.units and fields.units):
        return []
    own, other = normalize_unit(row.fields.units), normalize_unit(fields.units)
    if None in (own, other) or own == other or not is_numeric_value(fields.value):
        return []
    return [replace(row, fields=fields, name_text=row.test_name)]


def _is_gloss(text: str) -> bool:
    """Whether a cell says the name again in another script."""
    scripts = list_scripts(text)
    return bool(scripts) and "LATIN" not in scripts


def _find_end(cells: Sequence[list[Word]], at: int) -> int:
    """Return where the cells of a row end whose first behind the name is given."""
    seen: set[str] = set()
    for n in range(at, len(cells)):
        kinds = _kinds_of_cell(join_word_texts(cells[n]), after_value="value" in seen)
        if not kinds or seen & kinds - {"flag"}:
            return n
        if "value" not in seen | kinds and "flag" not in kinds:
            return n
        seen |= kinds
    return len(cells)


def _kinds_of_cell(text: str, *, after_value: bool) -> frozenset[str]:
    """Return what of a row a cell holds; empty where it is a name or anything else."""
    if after_value and find_unit_in_range(text):
        return frozenset({"range"})
    if is_laboratory_mark(text) or is_range_status_text(text):
        return frozenset({"flag"})
    if is_plain_numeric_range(text):
        return frozenset({"range"})
    if is_unit(text):
        return frozenset({"unit"})
    value, unit, _, spread = split_value_cell(text)
    if not is_numeric_value(value):
        return frozenset()
    held = {"value": True, "unit": unit is not None, "range": spread is not None}
    return frozenset(kind for kind, has in held.items() if has)
