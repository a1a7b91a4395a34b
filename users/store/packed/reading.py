"""Samples of packed days among the rows that a statement found in both tables.

Beside the store: each reader's statement lists what lies in rows and, with a payload,
packed days that reach into its range; here the days are unpacked and joined to it.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from portal.lib.database import rows
from users.store.packed.codec import (
    CorruptDayError,
    DayColumns,
    convert_to_datetimes,
    decode_day,
)
from users.store.packed.damage import DayDamaged

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from numpy.typing import NDArray

    from users.store.columns import SampleRow

_SECOND = 1_000_000


class PackedPart(NamedTuple):
    """A packed day as statements list it."""

    first: datetime
    series: int
    feed: int
    number: int
    codec: int
    checksum: int
    payload: bytes


def unpack_part(part: PackedPart) -> DayColumns:
    """Unpack a day. Raises: day_damaged."""
    try:
        return decode_day(
            part.payload,
            day=part.first.date(),
            count=part.number,
            codec=part.codec,
            checksum=part.checksum,
        )
    except CorruptDayError as error:
        raise DayDamaged(
            series=part.series, feed=part.feed, day=part.first.date()
        ) from error


def merge_sample_rows(
    found: Sequence[tuple[Any, ...]],
    *,
    start: datetime,
    end: datetime,
    after: tuple[int, int],
    limit: int,
) -> list[SampleRow]:
    """Return the samples of rows and packed days, by (ts, series, feed).

    A row with a payload is a packed day: first, series, feed, None, count, codec,
    checksum, payload. Of `start` itself only what lies behind `after`.
    """
    first, last = rows.convert_to_postgres_microseconds((start, end))
    branches: dict[tuple[int, int], int] = defaultdict(int)
    samples: list[Any] = [row for row in found if row[-1] is None]
    is_mixed = bool(samples)
    packed = [row for row in found if row[-1] is not None]
    for moment, series, feed, _, *coded in sorted(packed, key=itemgetter(0)):
        left = limit - branches[series, feed]
        if left <= 0:
            continue
        day = unpack_part(PackedPart(moment, series, feed, *coded))
        side = "left" if (series, feed) > after else "right"
        low = int(day.ts.searchsorted(first, side))  # type: ignore[call-overload]  # side is one of both
        high = int(day.ts.searchsorted(last, "left"))
        part = day.take(slice(low, min(high, low + left)))
        branches[series, feed] += len(part.ts)
        samples.extend(
            zip(
                convert_to_datetimes(part.ts),
                repeat(series),
                repeat(feed),
                part.value.tolist(),
                part.tz_offset.tolist(),
                part.duration.tolist(),
                part.origin.tolist(),
                repeat(None),
                strict=False,  # some of them have no end
            )
        )
    if is_mixed or len(branches) > 1:
        samples.sort(key=itemgetter(0, 1, 2))
    return samples[:limit]


class Cell(NamedTuple):
    """Samples of a packed day between two edges; `reaching` in microseconds.

    `cell` counts edges at or before the start, as PostgreSQL's width_bucket.
    """

    cell: int
    reaching: datetime | None
    seconds: int
    samples: int
    total: float
    low: float
    high: float


def sum_day_by_cell(
    day: DayColumns, *, edges: Sequence[datetime], spans: bool
) -> list[Cell]:
    """Sum a day's samples between edges.

    With `spans` those that last over the next edge come singly, and those that start
    before the first edge count if they reach over it; without, by their start alone.
    """
    marks = _microseconds(edges)
    day, until = _within(day, marks[0], marks[-1], spans=spans)
    if not len(day.ts):
        return []
    cells = marks.searchsorted(day.ts, "right")
    reaches = np.zeros(len(cells), bool)
    if spans:
        reaches = until > marks[cells]  # each starts before the last edge
    found = [
        Cell(int(cells[place]), moment, seconds, 1, value, value, value)
        for place, moment, seconds, value in zip(
            np.flatnonzero(reaches).tolist(),
            convert_to_datetimes(day.ts[reaches]),
            day.duration[reaches].tolist(),
            day.value[reaches].tolist(),
            strict=True,
        )
    ]
    rest, cells = day.take(~reaches), cells[~reaches]
    if not len(cells):
        return found
    starts = np.append(0, np.flatnonzero(np.diff(cells)) + 1)
    numbers = np.diff(np.append(starts, len(cells)))
    group = np.repeat(np.arange(len(starts)), numbers)
    found.extend(
        Cell(cell, None, *rest_of)
        for cell, *rest_of in zip(
            cells[starts].tolist(),
            np.maximum.reduceat(rest.duration, starts).tolist(),
            numbers.tolist(),
            # One after the other, as PostgreSQL adds up.
            np.bincount(group, rest.value).tolist(),
            np.minimum.reduceat(rest.value, starts).tolist(),
            np.maximum.reduceat(rest.value, starts).tolist(),
            strict=True,
        )
    )
    return found


def find_intervals(
    day: DayColumns, *, start: datetime, end: datetime
) -> list[tuple[datetime, datetime]]:
    """Return when a day's samples that touch a range last, ascending, joined."""
    first, last = _microseconds((start, end))
    day, until = _within(day, first, last, spans=True)
    if not len(day.ts):
        return []
    ends = np.maximum.accumulate(until)
    starts = np.append(0, np.flatnonzero(day.ts[1:] > ends[:-1]) + 1)
    lasts = np.append(starts[1:] - 1, len(ends) - 1)
    return list(
        zip(
            convert_to_datetimes(day.ts[starts]),
            convert_to_datetimes(ends[lasts]),
            strict=True,
        )
    )


def find_cells(day: DayColumns, edges: Sequence[datetime]) -> list[int]:
    """Return between which edges a day has samples; 1 is behind the first."""
    cells: list[int] = np.unique(
        _microseconds(edges).searchsorted(day.ts, "right")
    ).tolist()
    return cells


def count_between(day: DayColumns, start: datetime, end: datetime) -> int:
    """Count the samples of a day in [start, end)."""
    first, last = day.ts.searchsorted(_microseconds((start, end)), "left").tolist()
    return int(last - first)


def _within(
    day: DayColumns, start: int, end: int, *, spans: bool
) -> tuple[DayColumns, NDArray[np.int64]]:
    """Return the samples that start in [start, end) or reach in, and their ends."""
    until = day.ts + day.duration.astype(np.int64) * _SECOND
    is_within = (day.ts >= start) & (day.ts < end)
    if spans:
        is_within |= (day.ts < start) & (until > start)
    return day.take(is_within), until[is_within]


def _microseconds(moments: Iterable[datetime]) -> NDArray[np.int64]:
    return np.array(rows.convert_to_postgres_microseconds(moments), np.int64)
