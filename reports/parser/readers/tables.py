"""The column titles of a page, and which lines they take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from reports.parser.columns.dated_titles import (
    read_date_column_titles,
    read_untitled_date_columns,
)
from reports.parser.columns.table_titles import Title
from reports.parser.columns.titles import has_column_title_word, read_column_titles
from reports.parser.layout.lines import Line
from reports.parser.text.not_names import is_explanation_table_title
from reports.parser.text.roles import Role, find_column_role
from reports.parser.text.values import is_numeric_value

_BELOW_DATES = 16


@dataclass(frozen=True, slots=True)
class TitledPart:
    """Column titles and the lines they take; the end is excluded."""

    titles: tuple[Title, ...]
    start: int
    end: int


def find_table_title_lines(lines: Sequence[Line]) -> list[TitledPart]:
    """Return the title lines of a page, from top to bottom."""
    tables: list[TitledPart] = []
    read = cache(lambda start, end: read_column_titles(lines[start:end]))
    n = 0
    while n < len(lines):
        pair = lines[n : n + 2]
        wrapped = len(pair) > 1 and _interleave(pair)
        if not any(has_column_title_word(line) for line in pair[: 1 + wrapped]):
            n += 1
            continue
        best: tuple[int, tuple[Title, ...], int] | None = None
        for depth in (1, 2, 3):
            group = lines[n : n + depth]
            if len(group) < depth or not are_lines_without_gap(group):
                break
            within = depth > 1 and _interleave(group[-2:])
            if depth > 1 and not within and any(c.isdigit() for c in group[-1].text):
                break
            if depth == 2 and any(is_numeric_value(w.text) for w in group[0].words):
                break
            if depth > 1 and find_column_role(group[0].text) is Role.FLAG:
                break
            stacked = depth > 1 and best is None and not within
            if stacked and read(n + depth - 1, n + depth):
                break
            if (
                best
                and _are_whole(best[1])
                and is_explanation_table_title(group[-1].text)
            ):
                break
            titles = read(n, n + depth)
            if titles:
                worth = len({t.role for t in titles} - {Role.OTHER})
                if best is None or worth > best[0]:
                    best = (worth, titles, depth)
        if best is None:
            titles, depth = read_date_column_titles(lines[n : n + 4])
            if not titles:
                titles, depth = read_untitled_date_columns(lines[n : n + _BELOW_DATES])
            best = (0, titles, depth) if titles else None
        if best is None:
            n += 1
            continue
        end = n + best[2]
        while end < len(lines) and _repeats_titles(best[1], lines[end - 1 : end + 1]):
            end += 1
        tables.append(TitledPart(best[1], n, end))
        n = end
    return tables


def _repeats_titles(titles: Sequence[Title], lines: Sequence[Line]) -> bool:
    """Whether a line right under titles says them again, as in another language."""
    if not are_lines_without_gap(lines):
        return False
    cells = lines[-1].cells
    alike = sum(
        1
        for cell in cells
        if any(
            title.role is find_column_role(cell.text)
            and cell.x0 < title.x1
            and title.x0 < cell.x1
            for title in titles
        )
    )
    return alike > 1 and alike == len(cells)


def _are_whole(titles: Sequence[Title]) -> bool:
    """Whether titles name all that a row of results has."""
    return {t.role for t in titles} >= {Role.NAME, Role.VALUE, Role.UNIT, Role.RANGE}


def _interleave(lines: Sequence[Line]) -> bool:
    """Whether two lines are nearer than lines of one column can stand."""
    above, below = lines
    return below.middle - above.middle < 0.85 * min(above.size, below.size)


def are_lines_without_gap(lines: Sequence[Line]) -> bool:
    """Return whether each line follows the one above without a blank line between."""
    return all(
        b.middle - a.middle < 2.0 * max(a.size, b.size) for a, b in pairwise(lines)
    )
