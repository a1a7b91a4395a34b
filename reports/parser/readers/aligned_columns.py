"""Finds the columns of a table by the content and the alignment of its cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from reports.parser.readers.aligned_cells import Level, Part
from reports.parser.rows.row import Row
from reports.parser.text.dates import is_date_title
from reports.parser.text.fields import split_value_cell
from reports.parser.text.ranges import Bounds, parse_range_bounds
from reports.parser.text.roles import Role, find_column_role
from reports.parser.text.values import parse_printed_number

# Of the anchors, with a cell in a column.
_SHARE = 0.4
# How far a result is from its range, in times of its ends, before it is another number.
_FAR = 4.0
_NOT_RESULTS = frozenset({Role.PREVIOUS, Role.OTHER, Role.METHOD, Role.SPECIMEN})
# Names of each of several tables side by side.
_PAIR = 2


@dataclass(slots=True)
class Band:
    """Cells of one kind that stand over one another."""

    x0: float
    x1: float
    parts: list[Part] = field(default_factory=list)

    def holds(self, part: Part, *, by: float = 0.0) -> bool:
        x0, x1 = part.span
        return x0 < self.x1 + by and x1 > self.x0 - by


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table, found by their content."""

    names: Band
    values: Band
    units: Band | None
    ranges: Band | None


def find_strips(block: Sequence[Level]) -> list[tuple[float, float]]:
    """Return the left and right ends of tables side by side, mostly of one."""
    bands = [
        band
        for band in _find_bands(
            [part for level in block for part in level.named], by_start=True
        )
        if len(band.parts) >= _PAIR
    ]
    starts: list[float] = []
    for band in bands:
        if not starts:
            starts.append(band.x0)
            continue
        between = sum(
            1
            for level in block
            for part in level.find("number")
            if starts[-1] < part.cell.x0 and part.cell.x1 < band.x0
        )
        behind = sum(
            1
            for level in block
            if any(part in band.parts for part in level.named)
            and any(p.cell.x0 > band.x0 for p in level.find("number"))
        )
        if between >= _PAIR and behind >= max(_PAIR, _SHARE * len(band.parts)):
            starts.append(band.x0)
    cuts = [0.0, *(x - 3 for x in starts[1:]), float("inf")]
    return list(pairwise(cuts))


def _find_bands(parts: Iterable[Part], *, by_start: bool = False) -> list[Band]:
    """Return cells in columns: those that overlap, or those that begin in line."""
    bands: list[Band] = []
    for part in sorted(parts, key=lambda p: p.cell.x0):
        size = part.cell.words[0].size
        last = bands[-1] if bands else None
        if last and (
            part.cell.x0 - last.parts[-1].cell.x0 < size
            if by_start
            else part.cell.x0 < last.x1
        ):
            last.parts.append(part)
            last.x1 = max(last.x1, part.cell.x1)
        else:
            bands.append(Band(*part.span, [part]))
    return bands


def find_columns(above: Sequence[Level], anchors: Sequence[Level]) -> Columns | None:
    """Return the columns of a table; None where no column holds results.

    above: the lines right above it. anchors: those with a known test.
    """
    names = max(
        _find_bands([p for level in anchors for p in level.named], by_start=True),
        key=lambda band: len(band.parts),
    )
    names = Band(names.x0, max(p.cell.x1 for p in names.parts), names.parts)
    values = _choose_values(above, anchors, names)
    if values is None:
        return None
    size = anchors[0].line.size

    def nearest(*kinds: str) -> Band | None:
        bands = [
            band
            for band in _find_bands(
                [
                    p
                    for lv in anchors
                    for p in lv.find(*kinds)
                    if p not in names.parts and not values.holds(p)
                ]
            )
            if len(band.parts) >= max(2, 0.2 * len(anchors))
        ]
        most = max((len(band.parts) for band in bands), default=0)
        bands = [band for band in bands if 2 * len(band.parts) >= most]
        return min(
            bands,
            key=lambda b: (
                b.x0 - values.x1 if b.x0 > values.x0 else values.x0 - b.x1 + size
            ),
            default=None,
        )

    return Columns(names, values, nearest("unit"), nearest("range", "limit"))


def _choose_values(
    above: Sequence[Level], anchors: Sequence[Level], names: Band
) -> Band | None:
    """Return the column of results among all that hold numbers."""
    bands = _find_bands([p for level in anchors for p in level.find("number")])
    bands = [b for b in bands if len(b.parts) >= _SHARE * len(anchors)]
    weighed = [
        (_weigh_values(band, above, anchors, names), -n, band)
        for n, band in enumerate(bands)
        if not _counts_rows(band)
    ]
    return max(weighed, key=lambda item: item[:2])[2] if weighed else None


def _weigh_values(
    band: Band, above: Sequence[Level], anchors: Sequence[Level], names: Band
) -> float:
    score = 2.0 * len(band.parts) / len(anchors)
    for level in above:
        for part in level.parts:
            # A label and its date are of the page's head: 'Collected: 12/05/2024'.
            if not band.holds(part) or ": " in part.cell.text:
                continue
            role = find_column_role(part.cell.text)
            if role is Role.VALUE:
                score += 3
            elif role in _NOT_RESULTS or is_date_title(part.cell.text):
                score -= 3
    near = asked = 0
    for level in anchors:
        number = next((p for p in level.find("number") if p in band.parts), None)
        spread = next(iter(level.find("range", "limit")), None)
        if number is None or spread is None:
            continue
        bounds = parse_range_bounds(spread.cell.text)
        size = parse_printed_number(number.value.lstrip("<>=≤≥ "))
        if size is None or (bounds.low is None and bounds.high is None):
            continue
        asked += 1
        near += is_near_range(size, bounds)
    score += 2.0 * near / asked if asked else 0.0
    united = sum(split_value_cell(p.cell.text)[1] is not None for p in band.parts)
    return score + united / len(band.parts) - (0.5 if band.x1 < names.x0 else 0.0)


def is_near_range(size: float, bounds: Bounds) -> bool:
    """Return whether a number may be of a range, within a few times of its ends."""
    over = bounds.low is None or size >= bounds.low / _FAR
    return over and (bounds.high is None or size <= bounds.high * _FAR)


def is_far_from_range(row: Row) -> bool:
    """Return whether a value is many times off its own range, as of a chart."""
    bounds = parse_range_bounds(row.fields.range or "")
    size = parse_printed_number(row.fields.value)
    return size is not None and not is_near_range(size, bounds)


def _counts_rows(band: Band) -> bool:
    """Whether a column but numbers the rows: 1, 2, 3."""
    texts = [
        part.cell.text.rstrip(".)")
        for part in sorted(band.parts, key=lambda p: p.cell.words[0].top)
    ]
    if not all(text.isdigit() for text in texts):
        return False
    steps = [int(b) - int(a) for a, b in pairwise(texts)]
    return bool(steps) and sum(1 <= step <= 2 for step in steps) > 0.7 * len(steps)
