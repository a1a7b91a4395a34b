"""Shares the lines of a column out among its rows, where cells take several lines.

Which row a line of a range belongs to is no question of one line: cells are set to the
top, the middle or the foot of their rows, all alike, and each row's lines together make
one range. So a column is shared out as a whole, in the way that leaves the most rows
with a whole range, or unit, and the fewest lines over. Source: Ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from statistics import median

from reports.parser.layout.lines import CELL_GAP, Line
from reports.parser.pages import Word
from reports.parser.text.fields import is_unit, join_word_texts
from reports.parser.text.range_groups import mask_ages
from reports.parser.text.ranges import find_ranges_in_text, is_range_in_words
from reports.parser.text.roles import is_column_title
from reports.parser.text.values import is_numeric_value

from .row import Row, list_used_words
from .segments import is_clean_range

_FEWEST, _SEVERAL = 3, 2
_MOST_LINES, _DEEPEST, _LONGEST = 120, 8, 6
# In sizes of type: of a line to its row, to the next line of its cell, to the table.
_LEVEL, _NEXT, _AROUND = 0.45, 1.9, 8.0
_IN_LINE, _PART, _OVER, _GAIN = 1.5, 0.5, 0.6, 0.4
_LETTERS = re.compile(r"[^\W\d_]{2}|\b[MFWH]\b")
_UNIT_IN = re.compile(r"\S*[/%]\S*")
_DIGIT = re.compile(r"\d")
_PART_OF = re.compile(r"[\d/%]")

_Stack = tuple[Word, ...]
_Anchor = Callable[[float, float], float]


@dataclass(frozen=True, slots=True)
class _Kind:
    """A part of a row: its words, how whole a text is as one, and how it is joined."""

    field: str
    weigh: Callable[[str], float]
    join: Callable[[Sequence[str]], str]


def share_out_stacked_lines(rows: Sequence[Row], lines: Sequence[Line]) -> None:
    """Give rows of each table the lines of their ranges and units, shared out again.

    Only where that leaves more rows with a whole range or unit than they have.
    """
    for table in _find_tables(rows):
        near = _list_lines_around(table, lines)
        for kind in _KINDS:
            _share_out(table, rows, near, kind)


def _text(row: Row, kind: _Kind) -> str:
    text: str | None = getattr(row.fields, kind.field)
    return text or ""


def _words(row: Row, kind: _Kind) -> _Stack:
    words: _Stack = getattr(row.fields, f"{kind.field}_words")
    return words


def _find_tables(rows: Iterable[Row]) -> list[list[Row]]:
    """Rows whose names begin in line, from top to bottom."""
    tables: list[list[Row]] = []
    for row in rows:
        if not row.fields.value_words or not row.name:
            continue
        near = _IN_LINE * row.name[0].size
        home = (t for t in tables if abs(t[0].name[0].x0 - row.name[0].x0) < near)
        table = next(home, None)
        if table is None:
            tables.append([row])
        else:
            table.append(row)
    found = [sorted(table, key=_middle) for table in tables if len(table) >= _FEWEST]
    # Of two results on one line, as in two units, nothing is shared out.
    return [t for t in found if len({round(_middle(row)) for row in t}) == len(t)]


def _middle(row: Row) -> float:
    return row.fields.value_words[0].middle


def _list_lines_around(table: Sequence[Row], lines: Sequence[Line]) -> list[Line]:
    """The lines of a table, and those near it, that stand beside its names."""
    reach = _AROUND * table[0].line.size
    top, bottom = _middle(table[0]) - reach, _middle(table[-1]) + reach
    return [line for line in lines if top < line.middle < bottom]


def _share_out(
    table: Sequence[Row], rows: Sequence[Row], lines: Sequence[Line], kind: _Kind
) -> None:
    own = {id(word) for row in table for word in _words(row, kind)}
    stacks = _stack(table, list_used_words(rows) - own, lines, kind)
    if len(stacks) > _MOST_LINES or not _takes_several_lines(table, stacks, kind):
        return
    now = sum(kind.weigh(_text(row, kind)) for row in table)
    left = sum(_OVER for stack in stacks if id(stack[0]) not in own)
    best, shares = max(
        (_share(table, stacks, kind, anchor) for anchor in _ANCHORS),
        key=lambda found: found[0],
    )
    if best < now - left + _GAIN:
        return
    taken = {id(word) for share in shares for stack in share for word in stack}
    for row, share in zip(table, shares, strict=True):
        words = tuple(word for stack in share for word in stack)
        before = {id(word) for word in _words(row, kind)}
        if before == {id(word) for word in words} or not (words or before & taken):
            continue
        text = kind.join([join_word_texts(stack) for stack in share]) or None
        changed = {kind.field: text, f"{kind.field}_words": words}
        row.fields = replace(row.fields, **changed)  # type: ignore[arg-type]


def _takes_several_lines(
    table: Sequence[Row], stacks: Sequence[_Stack], kind: _Kind
) -> bool:
    """Whether a column has parts of ranges or units on the line of no row."""
    reach = _LEVEL * table[0].line.size
    levels = [_middle(row) for row in table]
    return any(
        all(abs(stack[0].middle - y) > reach for y in levels) and _matters(stack, kind)
        for stack in stacks
    )


def _stack(
    table: Sequence[Row], used: set[int], lines: Sequence[Line], kind: _Kind
) -> list[_Stack]:
    """The words of a table's column, line by line, that are of no other part."""
    spans = [
        (min(w.x0 for w in words), max(w.x1 for w in words))
        for row in table
        if (words := _words(row, kind))
    ]
    if len(spans) < _FEWEST:
        return []
    middle = median(x0 + x1 for x0, x1 in spans) / 2
    spans = [(x0, x1) for x0, x1 in spans if x0 <= middle <= x1]
    if not spans:
        return []
    left, right = min(x0 for x0, _ in spans) - 1, max(x1 for _, x1 in spans) + 1
    banded = any(_is_band(_text(row, kind)) for row in table)
    stacks = []
    for line in lines:
        words = tuple(
            word
            for word in line.words
            if word[1] < right and word[3] > left and id(word) not in used
        )
        inside = all(left <= word.x0 and word.x1 <= right for word in words)
        if banded and words and left <= words[0].x0:
            longer = _with_rest_of_cell(words, line, used)
            words, inside = longer or words, inside or bool(longer)
        if words and inside and not is_column_title(join_word_texts(words)):
            stacks.append(words)
    return stacks


def _with_rest_of_cell(words: _Stack, line: Line, used: set[int]) -> _Stack:
    """The words with those behind them in their cell, where these make them a band.

    A line may be longer than those of the rows: 'Borderline: 200 - 239'.
    """
    at = line.words.index(words[0])
    longer = [words[0]]
    for word in line.words[at + 1 :]:
        if word.x0 - longer[-1].x1 > CELL_GAP * word.size:
            break
        longer.append(word)
    free = len(longer) <= _LONGEST and used.isdisjoint(map(id, longer))
    return tuple(longer) if free and _is_band(join_word_texts(longer)) else ()


def _is_band(text: str) -> bool:
    """Whether a text is a range with words: 'Borderline: 200 - 239'."""
    return bool(find_ranges_in_text(text)) and not is_clean_range(text)


def _share(
    table: Sequence[Row], stacks: Sequence[_Stack], kind: _Kind, anchor: _Anchor
) -> tuple[float, list[list[_Stack]]]:
    """The worth of the best way to share out lines, and the lines of each row."""
    over = [0.0]
    for stack in stacks:
        over.append(over[-1] + _OVER * _matters(stack, kind))
    cells = _list_cells(stacks, anchor)
    texts = [join_word_texts(stack) for stack in stacks]
    offers = [_list_offers(row, cells, texts, kind) for row in table]

    @cache
    def best(row: int, line: int) -> tuple[float, tuple[int, int]]:
        """The worth from a row and a line on, and what the row takes."""
        if row == len(table):
            return over[line] - over[-1], (line, line)
        found = (best(row + 1, line)[0], (line, line))
        for start, end, worth in offers[row]:
            if start >= line:
                left_over = over[start] - over[line]
                total = worth - left_over + best(row + 1, end)[0]
                found = max(found, (total, (start, end)), key=_worth)
        return found

    shares: list[list[_Stack]] = []
    line = 0
    for row in range(len(table)):
        start, line = best(row, line)[1]
        shares.append(list(stacks[start:line]))
    return best(0, 0)[0], shares


def _worth(found: tuple[float, object]) -> float:
    return found[0]


def _list_cells(
    stacks: Sequence[_Stack], anchor: _Anchor
) -> list[tuple[int, int, float, float]]:
    """Where lines begin and end that may be a cell, its top, and where its value is."""
    middles = [stack[0].middle for stack in stacks]
    cells = []
    for start, first in enumerate(middles):
        near = _NEXT * stacks[start][0].size
        for end in range(start + 1, min(start + _DEEPEST, len(stacks)) + 1):
            last = middles[end - 1]
            if end - start > 1 and last - middles[end - 2] > near:
                break
            cells.append((start, end, first, anchor(first, last)))
    return cells


def _list_offers(
    row: Row,
    cells: Sequence[tuple[int, int, float, float]],
    texts: Sequence[str],
    kind: _Kind,
) -> list[tuple[int, int, float]]:
    """Where lines begin and end that may be a row's, and how whole they are."""
    level, near, deep = _middle(row), _LEVEL * row.line.size, _DEEPEST * row.line.size
    return [
        (start, end, worth)
        for start, end, first, place in cells
        if abs(place - level) <= near and abs(first - level) <= deep
        if (worth := kind.weigh(kind.join(texts[start:end])))
    ]


# The height in a cell of several lines at which its row's value stands.
_ANCHORS: tuple[_Anchor, ...] = (
    lambda first, _: first,
    lambda first, last: (first + last) / 2,
    lambda _, last: last,
)


def _matters(stack: _Stack, kind: _Kind) -> bool:
    """Whether a line has a part of a range or unit, that must be of some row."""
    text = join_word_texts(stack)
    return bool(_PART_OF.search(text)) or kind.weigh(text) > 0


@lru_cache(maxsize=4096)
def _weigh_range(text: str) -> float:
    """1 for a range, or for one behind or before each of as many labels; else less."""
    if is_clean_range(text) or is_range_in_words(text):
        return 1.0
    text = mask_ages(text)
    found = find_ranges_in_text(text)
    if len(found) < _SEVERAL:
        outside = (text[:start] + text[end:] for start, end in found)
        return _PART * any(not _DIGIT.search(rest) for rest in outside)
    ends = [0, *(end for _, end in found)]
    starts = [*(start for start, _ in found), len(text)]
    between = [
        bool(_LETTERS.search(_UNIT_IN.sub(" ", text[end:start])))
        for end, start in zip(ends, starts, strict=True)
    ]
    labelled = all(between[:-1]) and not between[-1]
    labelled |= all(between[1:]) and not between[0]
    return 1.0 if labelled else 0.0


@lru_cache(maxsize=4096)
def _weigh_unit(text: str) -> float:
    return 1.0 if is_unit(text) and not is_numeric_value(text) else 0.0


def _join_unit(pieces: Sequence[str]) -> str:
    """The pieces of a unit, with blanks between them only where it is none without."""
    glued = "".join(pieces)
    return glued if is_unit(glued) else " ".join(pieces)


_KINDS = (
    _Kind("range", _weigh_range, " ".join),
    _Kind("units", _weigh_unit, _join_unit),
)
