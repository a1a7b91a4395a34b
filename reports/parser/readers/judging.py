"""Judges between readings of the same words: each number on a page has one role.

Readers propose rows, none decides. Rows that use the same words are one question, and
the reading that is more plausible as a whole answers it; what nobody else claims is
believed only where name, value, unit and range all speak for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from reports.parser.layout.lines import CELL_GAP, Line, split_words_into_cells
from reports.parser.pages import Word
from reports.parser.readers.patterns import propose_rows_in_patterns
from reports.parser.rows.grammar import swallows_row
from reports.parser.rows.row import Row, Section, list_words_of_fields
from reports.parser.rows.wording import (
    clean_printed_name,
    is_exact_value,
    is_sentence_part,
)
from reports.parser.text.fields import find_unit_in_range, is_laboratory_mark, is_unit
from reports.parser.text.ranges import is_plain_numeric_range
from reports.parser.text.values import is_numeric_value

# Between readings as plausible, the one with more words of the name.
_INK = 0.1
# Of names that have a second one beside them.
_COLUMNS, _FEWEST_NAMES, _MOST_NAMES = 2, 4, 0.5


def judge_rows_of_page(
    rows: list[Row], lines: Sequence[Line], section: Section
) -> list[Row]:
    """Return the rows of a page, corrected by those that the plain pattern proposes.

    rows: as other readers have them, in reading order; kept wherever they explain
    their words as well.
    """
    _drop_second_names(rows, section)
    open_lines = _lines_not_explained(rows, lines)
    proposed = propose_rows_in_patterns(open_lines, section) if open_lines else []
    for own, others in _conflicts(rows, proposed):
        if not own:
            rows = _insert(rows, [row for row in others if _is_whole(row, section)])
        elif _weigh(others, section) > _weigh(own, section):
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
        if section.knows(clean_printed_name(cells[0].text), row.fields)
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
    """Return the lines with a number that no sound row has, or with half a name."""
    used: set[int] = set()
    named: set[int] = set()
    for row in rows:
        if not _swallows(row):
            used.update(_words(row))
            named.add(id(row.name[0]))
    return [
        line
        for line in lines
        if any(
            _is_open(before, word, used, named) for before, word in pairwise(line.words)
        )
    ]


def _is_open(before: Word, word: Word, used: set[int], named: set[int]) -> bool:
    """Return whether a number has no role, or a name begins inside its cell."""
    if id(word) not in used:
        return is_numeric_value(word.text)
    near = word.x0 - before.x1 < CELL_GAP * word.size
    begun = near and id(word) in named and id(before) not in used
    return begun and not is_laboratory_mark(before.text)


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


def _weigh(rows: Sequence[Row], section: Section) -> float:
    return sum(_plausibility(row, section) for row in rows)


def _plausibility(row: Row, section: Section) -> float:
    fields = row.fields
    if _swallows(row):
        return 0.0
    return (
        1.0
        + 2.0 * section.knows(row.test_name, fields)
        + is_unit(fields.units or "")
        + 0.5 * (bool(fields.range) + _is_range(fields.range or ""))
        + _INK * len(row.name)
    )


def _swallows(row: Row) -> bool:
    return swallows_row(row.test_name) or swallows_row(row.fields.range or "")


def _is_whole(row: Row, section: Section) -> bool:
    """Return whether a row needs no table to be believed."""
    fields = row.fields
    return (
        is_unit(fields.units or "")
        and _is_range(fields.range or "")
        and is_exact_value(fields.value)
        and not is_sentence_part(row.test_name)
        and section.knows(row.test_name, fields)
    )


def _is_range(text: str) -> bool:
    return is_plain_numeric_range(text) or find_unit_in_range(text) is not None


def _insert(rows: list[Row], found: Sequence[Row]) -> list[Row]:
    """Return rows with others put behind the last row that stands above them."""
    for row in found:
        above = [n for n, own in enumerate(rows) if own.line.top <= row.line.top]
        at = above[-1] + 1 if above else 0
        rows = [*rows[:at], row, *rows[at:]]
    return rows
