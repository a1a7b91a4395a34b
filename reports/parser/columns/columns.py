"""Finds the columns of a table, and splits lines by them.

Geometry with the roles that titles gave; no text is judged here beyond whether it
starts like a value.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from portal.lib.units import looks_like_unit
from reports.parser.columns.table_titles import Title
from reports.parser.layout.lines import Cell, Line
from reports.parser.pages import Word
from reports.parser.text.dates import is_date_title
from reports.parser.text.ranges import is_plain_numeric_range
from reports.parser.text.roles import (
    Role,
    find_column_role,
    is_column_title,
    is_name_column_title,
)
from reports.parser.text.values import is_out_of_range_flag, is_worded_value

# Of rows that have a cell for each title, to tell columns by their order.
_LEAST_WHOLE = 3
# Between a title and its date, in points.
_DATED = 15.0
# Between two words of a phrase, in sizes of type.
_BLANK = 0.45
_HOLDS_ON = re.compile(r"\d\s?[-–—] |^[-–—] \d|^[<>≤≥]=? \d|\d [-–—]$")
_BLOOD_GROUPS = frozenset(["a", "b", "ab", "o"])
_STARTS_VALUE = re.compile(r"[<>≤≥=+-]?\s*\d|[<>≤≥]|[\[(]?(?:H|L|\*)[\])]?$")


@dataclass(frozen=True, slots=True)
class Column:
    """A strip of a table, from left to right, the right end excluded."""

    role: Role
    left: float
    right: float
    title: str = ""
    title_x0: float = 0.0
    title_x1: float = 0.0
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class Strip:
    """A table's columns and the part of the page it takes."""

    left: float
    right: float
    columns: tuple[Column, ...]

    def has(self, role: Role) -> bool:
        return any(column.role is role for column in self.columns)

    @property
    def unit(self) -> str | None:
        """The unit that the title of the results prints."""
        return next((c.unit for c in self.columns if c.role is Role.VALUE), None)

    @property
    def first(self) -> int:
        """Where the results stand, or the first of them."""
        return next(n for n, c in enumerate(self.columns) if c.role is Role.VALUE)

    @property
    def second(self) -> int | None:
        """Where the results stand again in another unit, as counts beside shares."""
        titled = [n for n, c in enumerate(self.columns) if c.role is Role.VALUE]
        units = [self.columns[n].unit for n in titled]
        if len(set(units)) == 2 and None not in units:
            return titled[1]
        if len(titled) != 2:
            return None
        before = Role.UNIT in {c.role for c in self.columns[: titled[1]]}
        after = Role.UNIT in {c.role for c in self.columns[titled[1] :]}
        return titled[1] if before == after else None

    @property
    def second_range(self) -> int | None:
        """Where the second of two ranges is, for two results each in its unit."""
        at = self.second
        ranges = [n for n, c in enumerate(self.columns) if c.role is Role.RANGE]
        behind = at is not None and len(ranges) == 2 and ranges[1] > at
        return ranges[1] if behind else None

    def repeats(self, column: Column) -> bool:
        """Whether an earlier column of this role stands apart, as for another unit."""
        own = self.columns.index(column)
        same = [n for n in range(own) if self.columns[n].role is column.role]
        return bool(same) and same[-1] < own - 1


def split_titles_by_table(titles: Sequence[Title]) -> list[list[Title]]:
    """Split titles into tables side by side; a second name title starts one.

    So does a title of no usual words before a second title of values, as 'Chemical |
    Result' beside 'Test | Result | Unit'.
    """
    strips: list[list[Title]] = [[]]
    for n, title in enumerate(titles):
        seen = {t.role for t in strips[-1]}
        starts = title.role is Role.NAME and seen >= {Role.NAME, Role.VALUE}
        after = titles[n + 1].role if n + 1 < len(titles) else None
        strange = title.role is Role.OTHER and find_column_role(title.text) is None
        if strange and after is Role.VALUE and seen >= {Role.NAME, Role.VALUE}:
            starts = not is_date_title(titles[n + 1].text)
            title = replace(title, role=Role.NAME)
        if starts:
            strips.append([])
        strips[-1].append(title)
    return strips


def find_titles_of_adjacent_table(
    above: Sequence[Title], titles: Sequence[Title]
) -> list[Title]:
    """Return the titles of a table beside one whose own titles are lower."""
    left, right = min(t.x0 for t in titles), max(t.x1 for t in titles)
    return [
        title
        for group in (split_titles_by_table(above) if above else ())
        if {Role.NAME, Role.VALUE} <= {t.role for t in group}
        and (group[0].x0 > right or max(t.x1 for t in group) < left)
        for title in group
    ]


def split_page_into_tables(
    titles: Sequence[Title], lines: Sequence[Line], *, width: float
) -> list[Strip]:
    """Split the page into tables, and the tables into columns.

    A cut goes where the fewest cells of the lines below are crossed, as near as may
    be to the gap between the two titles.
    """
    groups = split_titles_by_table(titles)
    left = 0.0
    strips = []
    rows = _spans(lines)
    spans = [span for row in rows for span in row]
    for n, group in enumerate(groups):
        right = width
        if n + 1 < len(groups):
            right = _find_cut(group[-1], groups[n + 1][0], spans)
        strips.append(Strip(left, right, _build_columns(group, rows, left, right)))
        left = right
    return strips


def _build_columns(
    titles: list[Title],
    rows: Sequence[Sequence[tuple[float, float]]],
    left: float,
    right: float,
) -> tuple[Column, ...]:
    titles = _merge(titles)
    named = any(t.role is Role.NAME and is_name_column_title(t.text) for t in titles)
    if not named and titles[0].role not in (Role.NAME, Role.OTHER, Role.FLAG):
        start = Title(Role.NAME, "", left, left + 1)
        titles = [start, *titles]
    elif Role.NAME not in {title.role for title in titles}:
        value = next(n for n, t in enumerate(titles) if t.role is Role.VALUE)
        before = titles[value - 1].x1 if value else left
        titles.insert(value, Title(Role.NAME, "", before + 1, before + 2))
    within = [
        [span for span in row if span[0] >= left - 1 and span[1] <= right + 1]
        for row in rows
    ]
    inner = [span for row in within for span in row]
    cuts = [left, *(_find_cut(a, b, inner) for a, b in pairwise(titles)), right]
    cuts = _cut_in_order(titles, within, cuts) or cuts
    return tuple(
        Column(
            title.role, cuts[n], cuts[n + 1], title.text, title.x0, title.x1, title.unit
        )
        for n, title in enumerate(titles)
    )


def _cut_in_order(
    titles: Sequence[Title],
    rows: Sequence[Sequence[tuple[float, float]]],
    cuts: Sequence[float],
) -> list[float] | None:
    """Cuts between as many bands of cells as there are titles, each under its own.

    Only where most rows have a cell for each title, the middle of which stands over
    no cells of another, and titles set to the other side of their columns were cut off.
    """
    whole = [spans for spans in rows if len(spans) == len(cuts) - 1]
    if len(whole) < _LEAST_WHOLE or 2 * len(whole) <= len(rows):
        return None
    bands = [
        (min(x0 for x0, _ in band), max(x1 for _, x1 in band))
        for band in zip(*whole, strict=True)
    ]
    if any(a[1] >= b[0] for a, b in pairwise(bands)):
        return None
    for n, title in enumerate(titles):
        before = bands[n - 1][1] if n else title.x0
        after = bands[n + 1][0] if n + 1 < len(bands) else title.x1
        if not before <= (title.x0 + title.x1) / 2 <= after:
            return None
    homes = [sum(1 for cut in cuts[1:-1] if (a + b) / 2 >= cut) for a, b in bands]
    if homes == list(range(len(bands))):
        return None
    between = [(a[1] + b[0]) / 2 for a, b in pairwise(bands)]
    return [cuts[0], *between, cuts[-1]]


def _merge(titles: list[Title]) -> list[Title]:
    merged: list[Title] = []
    for title in titles:
        last = merged[-1] if merged else None
        apart = title.x0 - last.x1 if last else 0.0
        parted = last is not None and is_column_title(f"{last.text} {title.text}")
        # 'Results 07/28/18', of which only the first is a title.
        dated = last and last.role is Role.VALUE and is_date_title(title.text)
        if last and (
            (last.role is title.role and apart < (24 if parted else 6))
            or (dated and title.role is Role.OTHER and apart < _DATED)
        ):
            text = f"{last.text} {title.text}"
            merged[-1] = replace(last, text=text, x1=title.x1)
        else:
            merged.append(title)
    return merged


def _spans(lines: Sequence[Line]) -> list[list[tuple[float, float]]]:
    """Where cells of the lines that look tabular begin and end, line by line."""
    spans = []
    for line in lines:
        cells = line.tight_cells
        if len(cells) > 1:
            spans.append([(c.x0, c.x1) for c in cells if len(c.words) < 9])
    return spans


def _find_cut(a: Title, b: Title, spans: Sequence[tuple[float, float]]) -> float:
    """Where the column of one title ends and that of the next begins."""
    low, high = a.x0 + 1, max(b.x1 - 1, a.x0 + 2)
    near_low, near_high = min(a.x1, b.x0), max(a.x1, b.x0)
    edges = {low, high, near_low, near_high}
    edges.update(x for span in spans for x in span if low < x < high)
    ordered = sorted(edges)
    merged: list[tuple[int, float, float]] = []
    for x0, x1 in pairwise(ordered):
        middle = (x0 + x1) / 2
        near, far = middle - 0.5, middle + 0.5
        crossed = len([1 for left, right in spans if left < near and right > far])
        if merged and merged[-1][0] == crossed and merged[-1][2] == x0:
            merged[-1] = (crossed, merged[-1][1], x1)
        else:
            merged.append((crossed, x0, x1))
    # Cells that stand under one title and not under the other belong to it; between
    # results in two units, what has no title goes with the first.
    reaches = near_high if a.role is b.role is Role.VALUE else a.x1
    under_a = [x0 for x0, x1 in spans if a.x0 < x1 < near_high and x0 < reaches]
    under_b = [x1 for x0, x1 in spans if near_low < x0 < b.x1 and x1 > b.x0]
    if not any(x0 < a.x1 and x1 > a.x0 for x0, x1 in spans):
        # Nor is a title over none: its cells are set to the right of their column.
        under_a = [x1 for x0, x1 in spans if x0 > a.x1 and x1 < near_high]
    reach = max((crossed for crossed, _, _ in merged), default=0) or 1
    best: float | None = None
    place = (a.x1 + b.x0) / 2
    for crossed, x0, x1 in merged:
        if x1 - x0 < 0.8:
            continue
        away = max(x0 - near_high, near_low - x1, 0.0)
        cost = 1.5 * crossed / reach + away / 40 - min(x1 - x0, 60) / 600
        lost = sum(x >= x1 for x in under_a) + sum(x <= x0 for x in under_b)
        cost += 1.5 * lost / reach
        if best is None or cost < best:
            best, place = cost, (x0 + x1) / 2
            inner = (max(x0, near_low) + min(x1, near_high)) / 2
            if not away and x0 < inner < x1:
                place = inner
    return place


def split_line_by_column(line: Line, strip: Strip) -> list[list[Word]]:
    """Split a line by column; a cell that spills over stays with its start."""
    parts: list[list[Word]] = [[] for _ in strip.columns]
    last: Word | None = None
    home = 0
    for cell in line.tight_cells:
        first = _find_column(cell.words[0], strip.columns)
        spilling = strip.columns[first].role is Role.NAME
        end = _find_column(cell.words[-1], strip.columns)
        reaches = end != first and strip.columns[end].role is Role.RANGE
        if reaches and is_plain_numeric_range(cell.text):
            # One range, though it begins left of its column.
            parts[end] += cell.words
            last, home = cell.words[-1], end
            continue
        if spilling and last is not None and is_worded_value(cell.text):
            # A finding set to the right of its column, longer than that.
            first = _find_column(cell.words[-1], strip.columns)
            parts[first] += cell.words
            last, home = cell.words[-1], first
            continue
        if strip.columns[first].role is Role.VALUE and _is_finding(cell):
            # Longer than its column is wide.
            parts[first] += cell.words
            last, home = cell.words[-1], first
            continue
        for n, word in enumerate(cell.words, start=1):
            before, home = home, _find_column(word, strip.columns)
            if last is not None and _is_one_range(last, word):
                home = before
            elif home != first and spilling:
                after = cell.words[n].text if n < len(cell.words) else ""
                if home == first + 1 and _starts_value(
                    word, strip.columns[home], after
                ):
                    spilling = False
                else:
                    home = first
            parts[home].append(word)
            last = word
    return parts


def _is_finding(cell: Cell) -> bool:
    """Whether a cell is one finding in words: 'Calcium oxalate +', set as a phrase."""
    if is_worded_value(cell.text):
        return True
    first = cell.words[0].text
    if not first[:1].isalpha() or is_out_of_range_flag(first):
        return False
    return all(
        b.x0 - a.x1 < _BLANK * b.size and not looks_like_unit(b.text)
        for a, b in pairwise(cell.words)
    )


def _starts_value(word: Word, column: Column, after: str) -> bool:
    if _STARTS_VALUE.match(word.text):
        return True
    if word.text.casefold() in _BLOOD_GROUPS and _STARTS_VALUE.match(after):
        # The end of a name: 'Vitamin A 45', 'Thyroid peroxidase Ab 88'.
        return False
    return word.x0 >= column.left and is_worded_value(word.text)


def _is_one_range(last: Word, word: Word) -> bool:
    """Whether two words are parts of one range, however far apart they stand."""
    near = word.x0 - last.x1 < 1.5 * word.size
    return near and bool(_HOLDS_ON.search(f"{last.text} {word.text}"))


def _find_column(word: Word, columns: Sequence[Column]) -> int:
    middle = (word.x0 + word.x1) / 2
    for n, column in enumerate(columns):
        if middle < column.right:
            return n
    return len(columns) - 1
