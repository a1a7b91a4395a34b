"""Reads columns that are titled with dates, each with one day's results.

What other columns hold is told by their titles or, where they have none, by what
stands in them. No row is read here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from reports.parser.columns.table_titles import Title
from reports.parser.columns.titles import read_column_titles
from reports.parser.layout.lines import Cell, Line, build_line_from_words
from reports.parser.text.dates import is_date_title, parse_dates_in_same_order
from reports.parser.text.fields import is_unit, split_value_cell
from reports.parser.text.ranges import looks_like_range
from reports.parser.text.roles import Role, find_column_role, is_column_title
from reports.parser.text.values import is_numeric_value

_LEAST_DATES = 2
_LEAST_ROWS = 2
_LONGEST_DATE = 3

Titled = tuple[tuple[Title, ...], int]


def read_date_column_titles(lines: Sequence[Line]) -> Titled:
    """Read dates printed over column titles, as 'Date', 'Time' and 'Units' in lines.

    Also how many lines they take; empty and 0 where no unit or range is titled.
    """
    dated, others = _split_dates(lines[0].cells)
    if len(dated) < _LEAST_DATES or len(others) > 1:
        return (), 0
    if others and (others[0].x0 > dated[0].x0 or not is_column_title(others[0].text)):
        return (), 0
    if others and find_column_role(others[0].text) is Role.VALUE:
        # The dates are of earlier results: 'Result', '02-Mar-25', '19-Oct-24'.
        return (), 0
    for n, line in enumerate(lines[1:], start=2):
        beside = [
            c for c in line.cells if find_column_role(c.text) in (Role.UNIT, Role.RANGE)
        ]
        if beside:
            words = [word for cell in (*dated, *beside) for word in cell.words]
            titles = read_column_titles(
                [build_line_from_words(words, page=line.page, drawn=line.drawn)]
            )
            if not titles:
                break
            left = min(above.x0 for above in lines[:n])
            return (Title(Role.NAME, "", left, left + 1), *titles), n
    return (), 0


def read_untitled_date_columns(lines: Sequence[Line]) -> Titled:
    """Read dates alone over columns of numbers, where units and ranges have no titles.

    lines: that of the dates and some below it. Also how many lines they take; empty
    and 0 where fewer than two names have numbers under two of the dates.
    """
    first = lines[0]
    dated, others = _split_dates(first.tight_cells)
    if len(dated) < _LEAST_DATES or len(others) > 1:
        return (), 0
    if others and others[0].x0 > dated[0].x0:
        return (), 0
    reach = 0.5 * min(b.x0 - a.x0 for a, b in pairwise(dated))
    rows = [
        cells
        for line in lines[1:]
        if _is_dated_row(cells := line.tight_cells, dated, reach)
    ]
    if len(rows) < _LEAST_ROWS:
        return (), 0
    days = parse_dates_in_same_order([cell.text for cell in dated])
    latest = max(filter(None, days), default=None)
    titles = [
        Title(
            Role.VALUE if day == latest else Role.PREVIOUS, cell.text, cell.x0, cell.x1
        )
        for cell, day in zip(dated, days, strict=True)
    ]
    if sum(1 for title in titles if title.role is Role.VALUE) != 1:
        return (), 0
    left = min(cells[0].x0 for cells in rows)
    titles = [Title(Role.NAME, "", left, left + 1), *titles]
    beyond = titles[-1].x1
    for role, judge in ((Role.UNIT, is_unit), (Role.RANGE, looks_like_range)):
        column = _untitled(rows, judge, beyond=beyond)
        if len(column) >= 0.5 * len(rows):
            x0, x1 = column[0].x0, max(cell.x1 for cell in column)
            titles.append(Title(role, "", x0, x1))
            beyond = x0
    return tuple(titles), 1


def _split_dates(cells: Sequence[Cell]) -> tuple[list[Cell], list[Cell]]:
    """The cells that are dates and nothing else, and those that are not."""
    dated: list[Cell] = []
    others: list[Cell] = []
    for cell in cells:
        short = len(cell.words) <= _LONGEST_DATE and ":" not in cell.words[0].text
        (dated if short and is_date_title(cell.text) else others).append(cell)
    return dated, others


def _is_dated_row(cells: Sequence[Cell], dated: Sequence[Cell], reach: float) -> bool:
    """Whether a name stands left of the dates and numbers under two of them."""
    if not cells or cells[0].x1 > dated[0].x0 or cells[0].text[:1].isdigit():
        return False
    under = 0
    for day in dated:
        middle = (day.x0 + day.x1) / 2
        under += any(
            abs((cell.x0 + cell.x1) / 2 - middle) < reach
            and is_numeric_value(split_value_cell(cell.text.lstrip("*"))[0])
            for cell in cells[1:]
        )
    return under >= _LEAST_DATES


def _untitled(
    rows: Sequence[Sequence[Cell]], judge: Callable[[str], bool], *, beyond: float
) -> list[Cell]:
    """Cells of a kind right of a place, at most one of each row, that stand in line."""
    found = [
        next((c for c in cells if c.x0 > beyond and judge(c.text)), None)
        for cells in rows
    ]
    kept = [cell for cell in found if cell is not None]
    return [cell for cell in kept if abs(cell.x0 - kept[0].x0) < cell.words[0].size]
