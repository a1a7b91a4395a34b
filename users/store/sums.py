"""Sums of samples in the database: the store's reads for aggregates.

Beside the store (samples) in the same table, as adding up a year here would mean to
fetch it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from portal.lib.database import rows
from users.wearables.timeseries.readings import LONGEST

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

_FEEDS = "AND feed = ANY(coalesce(%(feeds)s::smallint[], ARRAY[feed]))"
# What starts before and reaches in is looked for as far back as a sample may last.
_TOUCHING = """
    ts >= %(before)s AND ts < %(end)s
    AND (ts >= %(start)s OR ts + make_interval(secs => duration) > %(start)s)
"""
_POINTS = f"""
    SELECT series, feed, width_bucket(ts, %(edges)s::timestamptz[]) AS cell,
        count(*), sum(value), min(value), max(value)
    FROM users_sample
    WHERE user_id = %(user_id)s AND series = ANY(%(series)s::smallint[]) {_FEEDS}
        AND ts >= %(start)s AND ts < %(end)s
    GROUP BY series, feed, cell ORDER BY series, feed, cell
"""  # noqa: S608 - the part is ours
# One that reaches over an edge comes by itself, with its moment.
_SPANS = f"""
    SELECT series, feed, cell, reaching, max(duration),
        count(*), sum(value), min(value), max(value)
    FROM (
        SELECT series, feed, value, duration, cell, CASE
            WHEN ts + make_interval(secs => duration)
                > (%(edges)s::timestamptz[])[cell + 1]
            THEN ts END AS reaching
        FROM (
            SELECT *, width_bucket(ts, %(edges)s::timestamptz[]) AS cell
            FROM users_sample
            WHERE user_id = %(user_id)s AND series = ANY(%(series)s::smallint[])
                {_FEEDS} AND {_TOUCHING}
        ) placed
    ) sample
    GROUP BY series, feed, cell, reaching ORDER BY series, feed, cell, reaching
"""  # noqa: S608 - as above
# Samples that touch or overlap are one time of measuring.
_MEASURED = f"""
    SELECT series, feed, min(ts), max(until) FROM (
        SELECT *, count(*) FILTER (WHERE is_first)
            OVER (PARTITION BY series, feed ORDER BY ts) AS number
        FROM (
            SELECT *, coalesce(ts > max(until) OVER (
                PARTITION BY series, feed ORDER BY ts
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ), true) AS is_first
            FROM (
                SELECT series, feed, ts,
                    ts + make_interval(secs => duration) AS until
                FROM users_sample
                WHERE user_id = %(user_id)s AND series = ANY(%(series)s::smallint[])
                    {_FEEDS} AND {_TOUCHING}
            ) sample
        ) marked
    ) numbered
    GROUP BY series, feed, number ORDER BY series, feed, min(ts)
"""  # noqa: S608 - as above


class CellSum(NamedTuple):
    """Samples of one series and feed between two edges; `cell` counts from 0.

    One that reaches over the next edge comes by itself: `reaching` is its start and
    `seconds` how long it lasts. Its cell is -1 if it starts before the first edge.
    """

    series: int
    feed: int
    cell: int
    samples: int
    total: float
    low: float
    high: float
    reaching: datetime | None = None
    seconds: int = 0


class Measured(NamedTuple):
    """An interval in which a feed measured without a break."""

    series: int
    feed: int
    start: datetime
    end: datetime


def sum_instant_samples(
    *,
    user_id: int,
    series: Sequence[int],
    edges: Sequence[datetime],
    feeds: Sequence[int] | None,
) -> list[CellSum]:
    """Sum samples by their start between ascending `edges`; one query."""
    found = rows.fetch_rows(_POINTS, _inputs(user_id, series, edges, feeds))
    return [
        CellSum(series, feed, cell - 1, *rest) for series, feed, cell, *rest in found
    ]


def sum_interval_samples(
    *,
    user_id: int,
    series: Sequence[int],
    edges: Sequence[datetime],
    feeds: Sequence[int] | None,
) -> list[CellSum]:
    """Sum samples with a duration; those over an edge separately; one query."""
    found = rows.fetch_rows(_SPANS, _inputs(user_id, series, edges, feeds))
    return [
        CellSum(series, feed, cell - 1, *rest, reaching, seconds)  # type: ignore[call-arg]  # all nine
        for series, feed, cell, reaching, seconds, *rest in found
    ]


def find_measurement_times(
    *,
    user_id: int,
    series: Sequence[int],
    start: datetime,
    end: datetime,
    feeds: Sequence[int] | None,
) -> list[Measured]:
    """Return when feeds measured in a range, by series, feed and start.

    Of samples that last; one query.
    """
    inputs = _inputs(user_id, series, [start, end], feeds)
    return [Measured(*row) for row in rows.fetch_rows(_MEASURED, inputs)]


def _inputs(
    user_id: int,
    series: Sequence[int],
    edges: Sequence[datetime],
    feeds: Sequence[int] | None,
) -> dict[str, object]:
    return {
        "user_id": user_id,
        "series": list(series),
        "feeds": feeds if feeds is None else list(feeds),
        "edges": list(edges),
        "start": edges[0],
        "before": edges[0] - LONGEST,
        "end": edges[-1],
    }
