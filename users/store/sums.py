"""Sums of samples in the database: the store's reads for aggregates.

Beside the store (samples) in the same tables, as adding up a year of rows here would
mean to fetch it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from portal.lib.database import rows
from users.store.locks import IS_OF_TENANT
from users.wearables.timeseries.readings import LONGEST

if TYPE_CHECKING:
    from collections.abc import Sequence

_NEVER = datetime.max.replace(tzinfo=UTC)
_FEEDS = "AND feed = ANY(coalesce(%(feeds)s::smallint[], ARRAY[feed]))"
# Before a row is met.
_NAMED = f"AND (SELECT {IS_OF_TENANT})"
# What starts before and reaches in is looked for as far back as a sample may last.
_TOUCHING = """
    ts >= %(before)s AND ts < %(end)s
    AND (ts >= %(start)s OR ts + make_interval(secs => duration) > %(start)s)
"""
# Rows and packed days in one statement: packing may move samples in between two. A day
# that lies between two edges as a whole needs no unpacking, only its sums.
_PACKED = f"""
    UNION ALL
    SELECT series, feed, CASE WHEN is_whole THEN cell END, NULL, longest, count::bigint,
        total, low, high, first, codec, checksum,
        CASE WHEN NOT is_whole THEN payload END
    FROM (
        SELECT *, cell > 0 AND cell = width_bucket(last, %(edges)s::timestamptz[])
            AND {{whole}} AS is_whole
        FROM (
            SELECT *, width_bucket(first, %(edges)s::timestamptz[]) AS cell
            FROM users_packedday
            WHERE user_id = %(user_id)s AND series = ANY(%(series)s::smallint[])
                {_FEEDS}
                AND day >= (%(before)s AT TIME ZONE 'UTC')::date
                AND day <= (%(end)s AT TIME ZONE 'UTC')::date
                AND first < %(end)s AND {{touching}}
        ) placed
    ) packed
"""  # noqa: S608 - the parts are ours
_UNTIL = "last + make_interval(secs => longest)"
_POINTS = f"""
    SELECT series, feed, width_bucket(ts, %(edges)s::timestamptz[]) AS cell,
        NULL::timestamptz, NULL::integer, count(*), sum(value), min(value), max(value),
        NULL::timestamptz, NULL::smallint, NULL::integer, NULL::bytea
    FROM users_sample
    WHERE user_id = %(user_id)s AND series = ANY(%(series)s::smallint[]) {_FEEDS}
        AND ts >= %(start)s AND ts < %(end)s {_NAMED}
    GROUP BY series, feed, cell
    {_PACKED.format(whole="true", touching="last >= %(start)s")}
"""  # noqa: S608 - as above
# One that reaches over an edge comes by itself, with its moment.
_SPANS = f"""
    SELECT series, feed, cell, reaching, max(duration),
        count(*), sum(value), min(value), max(value),
        NULL::timestamptz, NULL::smallint, NULL::integer, NULL::bytea
    FROM (
        SELECT series, feed, value, duration, cell, CASE
            WHEN ts + make_interval(secs => duration)
                > (%(edges)s::timestamptz[])[cell + 1]
            THEN ts END AS reaching
        FROM (
            SELECT *, width_bucket(ts, %(edges)s::timestamptz[]) AS cell
            FROM users_sample
            WHERE user_id = %(user_id)s AND series = ANY(%(series)s::smallint[])
                {_FEEDS} AND {_TOUCHING} {_NAMED}
        ) placed
    ) sample
    GROUP BY series, feed, cell, reaching
    {
    _PACKED.format(
        whole=f"{_UNTIL} <= (%(edges)s::timestamptz[])[cell + 1]",
        touching=f"(last >= %(start)s OR {_UNTIL} > %(start)s)",
    )
}
"""  # noqa: S608 - as above
# Samples that touch or overlap are one time of measuring.
_MEASURED = f"""
    SELECT series, feed, min(ts), max(until), NULL::integer, NULL::smallint,
        NULL::integer, NULL::bytea
    FROM (
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
                    {_FEEDS} AND {_TOUCHING} {_NAMED}
            ) sample
        ) marked
    ) numbered
    GROUP BY series, feed, number
    UNION ALL
    SELECT series, feed, first, NULL, count, codec, checksum, payload
    FROM users_packedday
    WHERE user_id = %(user_id)s AND series = ANY(%(series)s::smallint[]) {_FEEDS}
        AND day >= (%(before)s AT TIME ZONE 'UTC')::date
        AND day <= (%(end)s AT TIME ZONE 'UTC')::date
        AND first < %(end)s AND (last >= %(start)s OR {_UNTIL} > %(start)s)
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
    return _add_up(found, edges, spans=False)


def sum_interval_samples(
    *,
    user_id: int,
    series: Sequence[int],
    edges: Sequence[datetime],
    feeds: Sequence[int] | None,
) -> list[CellSum]:
    """Sum samples with a duration; those over an edge separately; one query."""
    found = rows.fetch_rows(_SPANS, _inputs(user_id, series, edges, feeds))
    return _add_up(found, edges, spans=True)


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
    found = rows.fetch_rows(_MEASURED, inputs)
    intervals = []
    for series_, feed, first, until, *coded in found:
        if coded[-1] is None:
            intervals.append(Measured(series_, feed, first, until))
            continue
        from users.store.packed.reading import PackedPart, find_intervals, unpack_part

        day = unpack_part(PackedPart(first, series_, feed, *coded))
        intervals.extend(
            Measured(series_, feed, *each)
            for each in find_intervals(day, start=start, end=end)
        )
    return _join(sorted(intervals))


def _join(intervals: list[Measured]) -> list[Measured]:
    """Join intervals in order that touch or overlap, of one series and feed."""
    joined: list[Measured] = []
    for each in intervals:
        last = joined[-1] if joined else None
        if last and last[:2] == each[:2] and each.start <= last.end:
            joined[-1] = last._replace(end=max(last.end, each.end))
        else:
            joined.append(each)
    return joined


def _add_up(
    found: Sequence[tuple[Any, ...]], edges: Sequence[datetime], *, spans: bool
) -> list[CellSum]:
    """Return the sums of rows and packed days by series, feed, cell and reach."""
    sums: dict[tuple[Any, ...], CellSum] = {}
    for series, feed, cell, reaching, seconds, count, total, low, high, *coded in found:
        if coded[-1] is None:
            _add(sums, series, feed, cell, reaching, seconds, count, total, low, high)
            continue
        from users.store.packed.reading import PackedPart, sum_day_by_cell, unpack_part

        first, codec, checksum, payload = coded
        part = PackedPart(first, series, feed, count, codec, checksum, payload)
        for each in sum_day_by_cell(unpack_part(part), edges=edges, spans=spans):
            _add(sums, series, feed, *each)
    return [each for _, each in sorted(sums.items())]


def _add(
    sums: dict[tuple[Any, ...], CellSum],
    series: int,
    feed: int,
    cell: int,
    reaching: datetime | None,
    seconds: int | None,
    *rest: Any,
) -> None:
    # Of a cell those that reach over its edge come first, as by time.
    key = (series, feed, cell, reaching is None, reaching or _NEVER)
    new = CellSum(series, feed, cell - 1, *rest, reaching, seconds or 0)  # type: ignore[call-arg]  # all nine
    old = sums.get(key)
    if old is not None:
        new = new._replace(
            samples=old.samples + new.samples,
            total=old.total + new.total,
            low=min(old.low, new.low),
            high=max(old.high, new.high),
            seconds=max(old.seconds, new.seconds),
        )
    sums[key] = new


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
