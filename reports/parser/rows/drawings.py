"""What cards and charts show beside a result that is none of its parts.

Numbers along the axis of a chart, and badges that say in words how a value is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from reports.parser.layout.lines import (
    Cell,
    Line,
    build_line_from_words,
    drop_words_from_lines,
)
from reports.parser.pages import Word
from reports.parser.text.fields import is_range_status_text, is_unit, split_value_cell
from reports.parser.text.values import (
    NUMBER,
    has_decimal_commas,
    is_numeric_value,
    is_worded_value,
    parse_printed_number,
)

from .row import Section
from .wording import clean_printed_name

_TICK = re.compile(rf"-?{NUMBER}")
_FEWEST_TICKS = 3
_MOST_NAMED = 1
# A page with more is no chart, and comparing each with each takes long.
_MOST_NUMBERS = 600
# In sizes of type: ticks stand further apart than lines, badges right below.
_APART = 2.0
_ALIGNED = 0.4
_UNEVEN = 0.12
_BELOW = 2.2
_DRAWN = frozenset("●○◦")


class _Tick(NamedTuple):
    line: int
    cell: Cell
    middle: float
    number: float


def drop_chart_axis_lines(lines: Sequence[Line], section: Section) -> list[Line]:
    """Return the lines without the evenly spaced numbers along a chart.

    Results under one another may do so too, so most of the lines must have no name of
    a test.
    """
    ticks = _ticks(lines)
    if len(ticks) > _MOST_NUMBERS:
        return list(lines)
    taken: set[int] = set()
    for n, first in enumerate(ticks):
        below = [tick for tick in ticks[n + 1 :] if _stand_under(first, tick)]
        for second in below:
            axis = _follow(first, second, below)
            if len(axis) < _FEWEST_TICKS:
                continue
            named = sum(_has_name(lines[tick.line], section) for tick in axis)
            if named <= _MOST_NAMED:
                taken.update(id(word) for tick in axis for word in tick.cell.words)
    return drop_words_from_lines(lines, taken)


def drop_status_badge_lines(lines: Sequence[Line]) -> list[Line]:
    """Return the lines without words such as 'In range' below a value.

    The line of the value then reaches down to where they were.
    """
    left: list[Line] = []
    for line in lines:
        above = left[-1] if left else None
        rest = _beside_badge(line) if above and _has_value(above) else None
        near = above and line.middle - above.middle < _BELOW * max(
            above.size, line.size
        )
        if rest is None or above is None or not near:
            left.append(line)
        elif rest:
            left.append(build_line_from_words(rest, page=line.page, drawn=line.drawn))
        else:
            left[-1] = replace(above, bottom=line.bottom)
    return left


def _ticks(lines: Sequence[Line]) -> list[_Tick]:
    bare = [
        (n, cell)
        for n, line in enumerate(lines)
        for cell in line.cells
        if _TICK.fullmatch(cell.text)
    ]
    comma = has_decimal_commas(cell.text for _, cell in bare)
    return [
        _Tick(n, cell, cell.words[0].middle, number)
        for n, cell in bare
        if (number := parse_printed_number(cell.text, decimal_comma=comma)) is not None
    ]


def _follow(first: _Tick, second: _Tick, below: Sequence[_Tick]) -> list[_Tick]:
    """The ticks from a first on, each as far below as the second; empty if none is."""
    apart, fall = second.middle - first.middle, first.number - second.number
    size = max(first.cell.words[0].size, second.cell.words[0].size)
    if apart < _APART * size or fall <= 0:
        return []
    axis = [first, second]
    for tick in below:
        last = axis[-1]
        even = abs(tick.middle - last.middle - apart) < _UNEVEN * apart
        falls = abs(last.number - tick.number - fall) < 0.01 * fall
        if even and falls and _stand_under(last, tick):
            axis.append(tick)
    return axis


def _stand_under(upper: _Tick, lower: _Tick) -> bool:
    a, b = upper.cell, lower.cell
    near = _ALIGNED * a.words[0].size
    return abs(a.x0 - b.x0) < near or abs(a.x1 - b.x1) < near


def _has_name(line: Line, section: Section) -> bool:
    return any(section.knows(clean_printed_name(cell.text)) for cell in line.cells)


def _beside_badge(line: Line) -> list[Word] | None:
    """The words of a line but those of a badge; None if it has none, or says more."""
    others = [cell for cell in line.cells if not is_range_status_text(cell.text)]
    words = [word for cell in others for word in cell.words if word.text not in _DRAWN]
    text = " ".join(word.text for word in words)
    if len(others) == len(line.cells) or (words and not is_unit(text)):
        return None
    return words


def _has_value(line: Line) -> bool:
    values = [split_value_cell(cell.text)[0] for cell in line.cells]
    return any(
        is_numeric_value(value)
        or (is_worded_value(value) and not is_range_status_text(value))
        for value in values
    )
