"""Results that follow one another in running text, as a letter quotes them, or in the
cells of a grid: each a name, its value with a unit, and its range.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from reports.parser.layout.lines import Cell, Line
from reports.parser.pages import Word
from reports.parser.rows.row import Row, Section
from reports.parser.rows.wording import (
    clean_printed_name,
    is_exact_value,
    may_name_a_test,
)
from reports.parser.text.fields import (
    Fields,
    is_unit,
    join_word_texts,
    split_value_cell,
)
from reports.parser.text.ranges import is_plain_numeric_range
from reports.parser.text.values import is_numeric_value

_LEAST_ITEMS = 3
_LEAST_BARE = 5
_LONGEST_UNIT = 4
_LONGEST_NAME = 6
_NEXT_LINE = 1.9
_ENDS_ITEM = re.compile(r"[)\]][.,;]?$")


def read_rows_in_paragraphs(lines: Sequence[Line], section: Section) -> list[Row]:
    """Return the rows of paragraphs that quote three or more results of known tests.

    More results than lines: where each has a line of its own they are a list.
    """
    rows: list[Row] = []
    for paragraph in _paragraphs(lines):
        found = _read_paragraph(paragraph, section)
        least = max(_LEAST_ITEMS, len(paragraph) + 1)
        if len({row.test_name for row in found}) >= least:
            rows += found
    return rows or _read_letter(lines, section)


def _read_letter(lines: Sequence[Line], section: Section) -> list[Row]:
    """The rows of paragraphs that list results without ranges: 'Hb 118 g/L,'.

    None where results stand in columns, for then a sentence quotes or explains them.
    """
    if any(len(line.cells) > 2 and _is_united(line.cells[1:]) for line in lines):
        return []
    rows: list[Row] = []
    for paragraph in _paragraphs(lines):
        words = [(line, word) for line in paragraph for word in line.words]
        found: list[Row] = []
        start = 0
        for n, (_, word) in enumerate(words):
            if word.text[-1:] in ",;." and (
                row := _read_bare_item(words[start : n + 1], section)
            ):
                found.append(row)
                start = n + 1
        least = max(_LEAST_BARE, len(paragraph) + 1)
        if len({row.test_name for row in found}) >= least:
            rows += found
    return rows


def _is_united(cells: Sequence[Cell]) -> bool:
    return any(split_value_cell(cell.text)[1] or is_unit(cell.text) for cell in cells)


def _paragraphs(lines: Sequence[Line]) -> list[list[Line]]:
    """Lines of one cell each that follow one another; one alone where it is long."""
    single = [line for line in lines if len(line.cells) == 1]
    parts: list[list[Line]] = [single[:1]] if single else []
    for above, line in pairwise(single):
        near = line.middle - above.middle < _NEXT_LINE * line.size
        if near and abs(line.x0 - above.x0) < line.size:
            parts[-1].append(line)
        else:
            parts.append([line])
    return parts


def _read_paragraph(lines: Sequence[Line], section: Section) -> list[Row]:
    words = [(line, word) for line in lines for word in line.words]
    rows: list[Row] = []
    start = 0
    for n, (_, word) in enumerate(words):
        if _ENDS_ITEM.search(word.text):
            row = _read_item(words[start : n + 1], section)
            rows += [row] if row else []
            start = n + 1
    return rows


def _read_bare_item(words: Sequence[tuple[Line, Word]], section: Section) -> Row | None:
    """The row that ends with a concentration: 'Hb 118 g/L,'. A dose is none."""
    own = [word for _, word in words]
    own[-1] = own[-1]._replace(text=own[-1].text.rstrip(",;."))
    for n in range(max(1, len(own) - _LONGEST_UNIT), len(own)):
        value, unit, flag, spread = split_value_cell(join_word_texts(own[n:]))
        if unit and "/" in unit and not spread and is_numeric_value(value):
            break
    else:
        return None
    fields = Fields(
        value=value,
        units=unit,
        flag=flag,
        value_words=(own[n],),
        units_words=tuple(own[n + 1 :]),
    )
    if not is_exact_value(value):
        return None
    return _named(words[:n], fields, section)


def _named(
    words: Sequence[tuple[Line, Word]], fields: Fields, section: Section
) -> Row | None:
    """The row of the longest known name that ends before its value."""
    own = [word for _, word in words]
    for first in range(max(0, len(own) - _LONGEST_NAME), len(own)):
        name = clean_printed_name(join_word_texts(own[first:]))
        if may_name_a_test(name) and section.knows(name):
            break
    else:
        return None
    line = words[-1][0]
    row = Row(line.page, own[first:], fields, line, section.panel, section.specimen)
    row.score, row.titled = 7.0, False
    return row


def _read_item(words: Sequence[tuple[Line, Word]], section: Section) -> Row | None:
    """The row that ends with a bracketed range: 'Hb 11.9 g/dl (12-16),'."""
    own = [word for _, word in words]
    opens = next((n for n, w in enumerate(own) if w.text[:1] in "(["), 0)
    spread = join_word_texts(own[opens:]).rstrip(".,;")
    if not opens or not is_plain_numeric_range(spread):
        return None
    for n in range(max(1, opens - _LONGEST_NAME), opens):
        value, unit, flag, _ = split_value_cell(join_word_texts(own[n:opens]))
        if unit and is_unit(unit) and is_numeric_value(value) and is_exact_value(value):
            break
    else:
        return None
    fields = Fields(
        value=value,
        units=unit,
        range=spread,
        flag=flag,
        value_words=(own[n],),
        units_words=tuple(own[n + 1 : opens]),
        range_words=tuple(own[opens:]),
    )
    return _named(words[:n], fields, section)
