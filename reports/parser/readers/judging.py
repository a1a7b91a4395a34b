"""Judges between readings of the same words: each number on a page has one role.

Readers propose rows, none decides. Rows that use the same words are one question, and
the reading that is more plausible as a whole answers it; what nobody else claims is
believed only where name, value, unit and range all speak for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from reports.parser.layout.lines import CELL_GAP, Line, split_words_into_cells
from reports.parser.readers.aligned_columns import is_far_from_range
from reports.parser.readers.aligned_tables import read_rows_in_aligned_columns
from reports.parser.readers.patterns import propose_rows_in_patterns
from reports.parser.rows.completion import complete_rows_from_free_words
from reports.parser.rows.grammar import swallows_row
from reports.parser.rows.naming import take_unit_from_name
from reports.parser.rows.row import Row, Section, list_used_words, list_words_of_fields
from reports.parser.rows.settling import drop_serial_numbers_from_names
from reports.parser.rows.stacks import share_out_stacked_lines
from reports.parser.rows.wording import (
    clean_printed_name,
    is_exact_value,
    is_sentence_part,
)
from reports.parser.text.fields import (
    find_unit_in_range,
    is_unit,
    join_word_texts,
)
from reports.parser.text.ranges import (
    is_plain_numeric_range,
    is_range_cut_off,
    looks_like_range,
    parse_range_bounds,
)
from reports.parser.text.values import is_numeric_value, is_result_value

# Between readings as plausible, the one with more words of the name.
_INK = 0.05
# Of what is no part of a name, from it, in sizes of type.
_APART = 1.2
# By how much a reading must be better, and one that takes another number for the value.
_EVEN, _SURER = 0.01, 0.12
# What a row that only one reading has says for its column.
_ALONE = 0.5
# What a sign of a slip takes from a reading.
_SLIP = 1.5
_NUMBER_IN_NAME = re.compile(
    r"\s[<>]?\d+(?:[.,]\d+)?(?:\s*[-–]\s*\d|\s+\S+/\S|$)|\d[.,]\d+\s|\s[kmµu]?g/d?L\b"
)
# How far around its rows a table may have more, in sizes of type.
_MARGIN = 8
# For whom a range of several groups is tried.
_SEXES, _GROWN = ("male", "female"), 40.0
_CODE = re.compile(r"\d{1,5}[A-Z]?[.)]?")
_COLUMNS, _FEWEST_NAMES, _MOST_NAMES = 2, 4, 0.5


def judge_rows_of_page(
    rows: list[Row], lines: Sequence[Line], section: Section
) -> list[Row]:
    """Return the rows of a page, corrected by those that the plain pattern proposes.

    rows: as other readers have them, in reading order; kept wherever they explain
    their words as well.
    """
    drop_serial_numbers_from_names(rows)
    _drop_second_names(rows, section)
    if _is_in_doubt(rows, lines, section):
        rows = _judge_aligned_tables(rows, lines, section)
    open_lines = _lines_not_explained(rows, lines)
    proposed = propose_rows_in_patterns(open_lines, section) if open_lines else []
    rows = _settle(rows, proposed, section, is_whole_row)
    for row in rows:
        _drop_code_from_name(row, section)
        take_unit_from_name(row, section)
    complete_rows_from_free_words(rows, lines)
    share_out_stacked_lines(rows, lines)
    return rows


def _drop_code_from_name(row: Row, section: Section) -> None:
    """Leave out a number or code apart from a name, or that nobody knows with it."""
    code, _, name = row.test_name.partition(" ")
    if len(row.name) < _COLUMNS or not _CODE.fullmatch(code):
        return
    apart = row.name[1].x0 - row.name[0].x1 > CELL_GAP * row.name[0].size
    if apart or (section.knows(name) and not section.knows(row.test_name)):
        row.name, row.name_text = row.name[1:], name


def _is_in_doubt(rows: Sequence[Row], lines: Sequence[Line], section: Section) -> bool:
    """Return whether a page may be read better: by what is left, or by a slip."""
    if not rows:
        return sum(len(line.cells) > 1 for line in lines) >= _FEWEST_NAMES
    if any(_is_odd(row) or not section.knows(row.test_name) for row in rows):
        return True
    top = min(row.line.top for row in rows) - _MARGIN * rows[0].line.size
    bottom = max(row.line.bottom for row in rows) + _MARGIN * rows[0].line.size
    owners = {word: row for row in rows if not _swallows(row) for word in _words(row)}
    return any(
        len(line.cells) > 1
        and top < line.middle < bottom
        and _is_left_over(line, owners, section)
        for line in lines
    )


def _is_odd(row: Row) -> bool:
    """Whether the fields of a row look like those of another column.

    A finding may have any words for its range, and a count under the microscope is a
    span: '6 - 8 /hpf'. A number far off its range is in doubt beside another.
    """
    fields = row.fields
    spread, numeric = fields.range or "", is_numeric_value(fields.value)
    return (
        bool(numeric and spread and not fields.units and not is_range(spread))
        or bool(fields.units and not is_unit(fields.units))
        or is_range_cut_off(spread)
        or _holds_more(row)
        or _holds_number(row)
        or (_is_span(row) and not (fields.units or spread))
        or (is_far_from_range(row) and _has_other_number(row))
    )


def _has_other_number(row: Row) -> bool:
    """Whether the line of a row has a number that the row does not have."""
    own = set(_words(row))
    return any(
        is_numeric_value(word.text) and id(word) not in own for word in row.line.words
    )


def _is_left_over(line: Line, owners: Mapping[int, Row], section: Section) -> bool:
    """Whether a line has a row that nobody read, or what its row does not have."""
    own = [owners[id(word)] for word in line.words if id(word) in owners]
    rest = [word for word in line.words if id(word) not in owners]
    numeric = any(is_numeric_value(word.text) for word in rest)
    if not own:
        return numeric and any(
            section.knows(clean_printed_name(cell.text)) for cell in line.cells
        )
    if all(row.fields.units and row.fields.range for row in own):
        return False
    bare = any(not row.fields.range for row in own)
    return (
        numeric
        or any(is_unit(word.text) for word in rest)
        or (bare and looks_like_range(join_word_texts(rest)))
    )


def _judge_aligned_tables(
    rows: list[Row], lines: Sequence[Line], section: Section
) -> list[Row]:
    """Return rows beside those of tables that need no titles."""
    for table in read_rows_in_aligned_columns(lines, Section(section.is_known)):
        # A table of which no other reader has a row must speak for itself.
        shared = not rows or not list_used_words(rows).isdisjoint(
            list_used_words(table)
        )
        rows = _settle(
            rows, table, section, _Table(table).has if shared else is_whole_row
        )
    return rows


def _settle(
    rows: list[Row],
    proposed: Sequence[Row],
    section: Section,
    may_stand: Callable[[Row, Section], bool],
) -> list[Row]:
    """Return rows with each question answered by the reading that explains it best.

    Which column has the results is one question for all rows of a table.
    """
    rows = [_with_one_cell_as_name(row, proposed, section) for row in rows]
    asked = [
        (own, others, {_value(r) for r in own} == {_value(r) for r in others})
        for own, others in _conflicts(rows, proposed)
    ]
    gains = [
        _weigh(others, section, one_value=alike) - _weigh(own, section, one_value=alike)
        for own, others, alike in asked
    ]
    # The column of results has one in each row: rows that no one else reads count too.
    moved = sum(
        gain if own else _ALONE * any(may_stand(row, section) for row in others)
        for gain, (own, others, alike) in zip(gains, asked, strict=True)
        if not alike
    )
    for gain, (own, others, alike) in zip(gains, asked, strict=True):
        if not own:
            rows = _insert(rows, [row for row in others if may_stand(row, section)])
        elif (gain > _EVEN) if alike else (moved > _SURER and gain > -_SURER):
            if alike and len(own) == len(others) == 1:
                others = [_complete(others[0], own[0])]
            for row in others:
                row.panel, row.specimen = own[0].panel, own[0].specimen
            at = next(n for n, row in enumerate(rows) if row is own[0])
            left = [row for row in rows if not any(row is one for one in own)]
            rows = [*left[:at], *others, *left[at:]]
    return rows


def _drop_second_names(rows: Sequence[Row], section: Section) -> None:
    """Leave out of names what most rows have in a column apart: 'Sodium   Natrium'."""
    parted = [
        (row, cells)
        for row in rows
        if len(cells := split_words_into_cells(row.name)) == _COLUMNS
        and any(cell.words[0] is cells[1].words[0] for cell in row.line.cells)
    ]
    starts = [cells[1].x0 for _, cells in parted]
    aligned = [pair for pair in parted if _is_in_column(pair[1][1].x0, starts)]
    known = [
        (row, cells[0])
        for row, cells in aligned
        if section.knows(clean_printed_name(cells[0].text))
    ]
    if len(known) < max(_FEWEST_NAMES, _MOST_NAMES * len(rows)):
        return
    for row, cell in known:
        row.name, row.name_text = list(cell.words), ""


def _is_in_column(x0: float, starts: Sequence[float]) -> bool:
    return sum(abs(x0 - start) < 1 for start in starts) > len(starts) / 2


def _words(row: Row) -> Iterable[int]:
    return map(id, (*row.name, *list_words_of_fields(row.fields)))


def _lines_not_explained(rows: Sequence[Row], lines: Sequence[Line]) -> list[Line]:
    """Return the lines with a number that no sound row has."""
    used = list_used_words(row for row in rows if not _swallows(row))
    return [
        line
        for line in lines
        if any(
            id(word) not in used and is_numeric_value(word.text)
            for word in line.words[1:]
        )
    ]


def _conflicts(
    rows: Sequence[Row], proposed: Sequence[Row]
) -> list[tuple[list[Row], list[Row]]]:
    """Return rows of both sides that share words, one question after the other."""
    questions: list[tuple[set[int], list[Row], list[Row]]] = []
    for side, readings in ((1, rows), (2, proposed)):
        for row in readings:
            words = set(_words(row))
            joined = (words, [row] if side == 1 else [], [row] if side == 2 else [])
            apart = []
            for question in questions:
                if side == 2 and question[0] & words:
                    joined = (
                        joined[0] | question[0],
                        [*question[1], *joined[1]],
                        [*question[2], *joined[2]],
                    )
                else:
                    apart.append(question)
            questions = [*apart, joined]
    return [(own, others) for _, own, others in questions if others]


def _with_one_cell_as_name(row: Row, proposed: Sequence[Row], section: Section) -> Row:
    """Return a row without what stands apart from its name: a code, method or gloss."""
    value = _value(row)
    for other in proposed:
        if _value(other) != value or len(other.name) >= len(row.name):
            continue
        own = {id(word) for word in other.name}
        rest = [word for word in row.name if id(word) not in own]
        if len(rest) + len(own) != len(row.name):
            continue
        left, right = other.name[0], other.name[-1]
        apart = all(
            word.top < left.bottom
            and word.bottom > left.top
            and (
                left.x0 - word.x1 > _APART * word.size
                or word.x0 - right.x1 > _APART * word.size
            )
            for word in rest
        )
        if apart and section.knows(other.test_name):
            row.name, row.name_text = list(other.name), other.test_name
    return row


def _value(row: Row) -> tuple[int, ...]:
    return tuple(map(id, row.fields.value_words))


def _complete(row: Row, other: Row) -> Row:
    """Return a row with the unit and range that only another reading of it has."""
    fields, beside = row.fields, other.fields
    own = set(_words(row))
    if not fields.units and own.isdisjoint(map(id, beside.units_words)):
        fields = replace(fields, units=beside.units, units_words=beside.units_words)
    if not fields.range and own.isdisjoint(map(id, beside.range_words)):
        fields = replace(fields, range=beside.range, range_words=beside.range_words)
    row.fields = replace(fields, flag=fields.flag or beside.flag)
    return row


def _weigh(rows: Sequence[Row], section: Section, *, one_value: bool) -> float:
    """Return how plausible rows are; one_value: the other reading has their values."""
    slips = _SLIPS if not one_value else _SLIPS[:-1]
    return sum(_plausibility(row, section, slips) for row in rows)


def _plausibility(
    row: Row, section: Section, slips: Sequence[Callable[[Row], bool]]
) -> float:
    fields = row.fields
    if _swallows(row):
        return 0.0
    return (
        1.0
        + 2.0 * section.knows(row.test_name)
        + is_unit(fields.units or "")
        + 0.5 * (bool(fields.range) + is_range(fields.range or ""))
        + _INK * (len(row.name) + len(list_words_of_fields(fields)))
        - 0.5 * is_range_cut_off(fields.range or "")
        - _SLIP * sum(is_slip(row) for is_slip in slips)
    )


def _is_span(row: Row) -> bool:
    """Whether a value is rather a range: '12 - 16', without one of its own."""
    value = row.fields.value
    return (
        is_plain_numeric_range(value)
        and not is_exact_value(value)
        and not (value.strip()[:1] in "<>≤≥" and row.fields.range)
    )


def _holds_more(row: Row) -> bool:
    """Whether a value is a number with something beside it: '12.9 Normal'."""
    value = row.fields.value
    return value[:1].isdigit() and not is_result_value(value)


def _holds_number(row: Row) -> bool:
    """Whether a name holds what is rather a value, a range or a unit."""
    return bool(_NUMBER_IN_NAME.search(row.test_name))


_SLIPS = (_is_span, _holds_more, _holds_number, is_far_from_range)


def _swallows(row: Row) -> bool:
    return swallows_row(row.test_name) or swallows_row(row.fields.range or "")


class _Table:
    """What most rows of a table print: a row of it has as much."""

    def __init__(self, rows: Sequence[Row]) -> None:
        units = sum(bool(row.fields.units) for row in rows)
        ranges = sum(bool(row.fields.range) for row in rows)
        self._united = 2 * units > len(rows)
        self._ranged = 2 * ranges > len(rows)

    def has(self, row: Row, section: Section) -> bool:
        """Return whether a row needs no other reading to be believed."""
        fields = row.fields
        united, ranged = is_unit(fields.units or ""), is_range(fields.range or "")
        if is_sentence_part(row.test_name) or not is_numeric_value(fields.value):
            return False
        if _has_other_number(row):
            # Another reader saw the numbers of this line and could not choose.
            return False
        if united and ranged:
            return True
        usual = united >= self._united and ranged >= self._ranged
        known = is_exact_value(fields.value) and section.knows(row.test_name)
        return usual and (united or ranged) and known


def is_whole_row(row: Row, section: Section) -> bool:
    """Return whether a row needs no table to be believed."""
    fields = row.fields
    return (
        is_unit(fields.units or "")
        and is_range(fields.range or "")
        and is_exact_value(fields.value)
        and not is_sentence_part(row.test_name)
        and section.knows(row.test_name)
    )


@lru_cache(maxsize=8192)
def is_range(text: str) -> bool:
    """Return whether a text is a range, also with its unit, or one for each sex."""
    if is_plain_numeric_range(text) or find_unit_in_range(text) is not None:
        return True
    if is_unit(text.partition(" ")[0]):
        return False
    parts = (parse_range_bounds(text, sex=sex, age=_GROWN) for sex in _SEXES)
    return any(part.low is not None or part.high is not None for part in parts)


def _insert(rows: list[Row], found: Sequence[Row]) -> list[Row]:
    """Return rows with others put behind the last row that stands above them."""
    for row in found:
        above = [n for n, own in enumerate(rows) if own.line.top <= row.line.top]
        at = above[-1] + 1 if above else 0
        if above and row.panel is None:
            row.panel, row.specimen = rows[at - 1].panel, rows[at - 1].specimen
        rows = [*rows[:at], row, *rows[at:]]
    return rows
