"""Proposes a row wherever a known test is followed by words that make one.

Asks neither titles nor columns nor gaps: behind the name of a known test each word up
to the next such name must have one role. Decides nothing: what is proposed here is
judged beside other readings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from portal.lib.units import normalize_unit
from reports.parser.layout.lines import Line, split_words_into_cells
from reports.parser.pages import Word
from reports.parser.readers.aligned_columns import is_far_from_range
from reports.parser.rows.grammar import list_scripts, settle_fields_by_grammar
from reports.parser.rows.row import Row, Section, list_words_of_fields
from reports.parser.rows.segments import cut_words_by_role
from reports.parser.rows.wording import (
    clean_printed_name,
    may_name_a_test,
    split_name_and_flag,
    strip_superscript_from_name,
)
from reports.parser.text.fields import Fields, is_unit, join_word_texts
from reports.parser.text.values import is_numeric_value

_FEWEST_WORDS, _MOST_WORDS = 3, 60
_LONGEST_NAME = 8
_MOST_FAR = 0.1


def propose_rows_in_patterns(lines: Sequence[Line], section: Section) -> list[Row]:
    """Return every row of a known test whose words on one line each have a role."""
    rows: list[Row] = []
    for line in lines:
        if _FEWEST_WORDS <= len(line.words) <= _MOST_WORDS:
            rows += _propose(line, section)
    return _without_doubtful(
        [row for row in rows if row.fields.units or row.fields.range]
    )


def _without_doubtful(rows: Sequence[Row]) -> list[Row]:
    """Return rows, without those of two numbers whose first is mostly far off.

    It may be of a chart, and the second the result.
    """
    doubtful = [row for row in rows if row.doubtful]
    far = sum(1 for row in doubtful if is_far_from_range(row))
    sure = far <= _MOST_FAR * len(doubtful)
    return [row for row in rows if sure or not row.doubtful]


def _propose(line: Line, section: Section) -> list[Row]:
    names, again = _find_names(line.words, section, tight=line.tight, latin=True)
    if not names and not line.text.isascii():
        # Beside a name in Latin, one in another script is a gloss.
        names, again = _find_names(line.words, section, tight=line.tight, latin=False)
    if not names:
        return []
    rows: list[Row] = []
    ends = [start for start, _ in names[1:]] + [len(line.words)]
    for (start, end), stop in zip(names, ends, strict=True):
        name = list(line.words[start:end])
        words = _without_gloss(line.words[max(end, again.get(start, 0)) : stop])
        rows += _read(line, name, words, section)
    if len(names) == 1 and not rows and names[0][0]:
        # A value in front of its name: '139 mmol/L  Sodium  136 - 145'.
        start, end = names[0]
        words = [*line.words[:start], *line.words[end:]]
        rows = _read(line, list(line.words[start:end]), words, section)
        rows = [row for row in rows if row.fields.units]
    return rows


def _find_names(
    words: Sequence[Word], section: Section, *, tight: float, latin: bool
) -> tuple[list[tuple[int, int]], dict[int, int]]:
    """Return where names of known tests begin and end: the longest at each place.

    And by where a name begins, the end of one right behind it, which says it again.
    """
    names: list[tuple[int, int]] = []
    again: dict[int, int] = {}
    n = 0
    while n < len(words):
        end = 0
        foreign = latin and list_scripts(words[n].text) != {"LATIN"}
        if not foreign and _may_begin_name(words, n, tight=tight):
            for length in range(
                _count_near(words[n : n + _LONGEST_NAME], tight), 0, -1
            ):
                name = clean_printed_name(join_word_texts(tuple(words[n : n + length])))
                if section.knows(name) and may_name_a_test(name):
                    end = n + length
                    break
        # Without a number between them the second says the first again.
        if end and names and not any(map(_is_number, words[names[-1][1] : n])):
            again[names[-1][0]] = end
        elif end:
            names.append((n, end))
        n = end or n + 1
    return names, again


def _count_near(words: Sequence[Word], tight: float) -> int:
    """Return how many words stand in one cell with the first."""
    for n, (before, word) in enumerate(pairwise(words), start=1):
        if word.x0 - before.x1 > tight * word.size:
            return n
    return len(words)


def _may_begin_name(words: Sequence[Word], n: int, *, tight: float) -> bool:
    """Whether a word begins a cell, or stands behind a unit, which no name does."""
    word = words[n]
    if not word.text[0].isalpha():
        return False
    if n == 0 or word.x0 - words[n - 1].x1 > tight * word.size:
        return True
    before = words[n - 1].text
    goes_on = is_unit(f"{before} {word.text}")
    return not before.isalpha() and is_unit(before) and not goes_on


def _read(
    line: Line, name: list[Word], words: list[Word], section: Section
) -> list[Row]:
    """Return the row of a known test with a number in a unit or in a range."""
    name, flag = split_name_and_flag(strip_superscript_from_name(name))
    readings = [cut_words_by_role(words, Fields(flag=flag), beside=True)]
    if readings == [None]:
        readings = _cut_in_two_units(words, flag)
    return [_build(line, name, words, found, section) for found in readings if found]


def _cut_in_two_units(words: list[Word], flag: str | None) -> list[Fields | None]:
    """Return what words say in one unit and again in another: '5.2 % 33 mmol/mol'."""
    if sum(map(_is_number, words)) < 2 or sum(is_unit(w.text) for w in words) < 2:
        return []
    for n in range(2, len(words) - 1):
        both = [cut_words_by_role(part, Fields()) for part in (words[:n], words[n:])]
        printed = [(found.units or "") for found in both if found]
        units = {normalize_unit(unit) for unit in printed if not unit.isalpha()}
        if None not in units and len(units) == len(both):
            return [replace(found, flag=flag) for found in both if found]
    return []


def _build(
    line: Line, name: list[Word], words: list[Word], fields: Fields, section: Section
) -> Row:
    fields = settle_fields_by_grammar(fields)
    row = Row(line.page, name, fields, line, titled=False)
    own = set(map(id, list_words_of_fields(fields)))
    row.doubtful = any(_is_number(word) and id(word) not in own for word in words)
    row.panel, row.specimen = section.panel, section.specimen
    return row


def _is_number(word: Word) -> bool:
    return is_numeric_value(word.text)


def _without_gloss(words: Sequence[Word]) -> list[Word]:
    """Return words without cells before the value that name it in another script."""
    cells = split_words_into_cells(list(words))
    foreign = [
        cell
        for cell in cells
        if (scripts := list_scripts(cell.text)) and "LATIN" not in scripts
    ]
    return [word for cell in cells if cell not in foreign for word in cell.words]
