"""Extents of a user's samples: first, last, days and numbers.

Beside the store (samples) in the same table; each answer takes a few steps of its index
for each series and feed, however many samples there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from portal.lib.database import rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

# Which series and feeds there are, in no time: one step of the index of each month.
_EXTENTS = """
    WITH RECURSIVE branch (series, feed) AS (
        (
            SELECT series, feed FROM users_sample WHERE user_id = %(user_id)s
            ORDER BY series, feed LIMIT 1
        )
        UNION ALL
        SELECT further.series, further.feed
        FROM branch CROSS JOIN LATERAL (
            SELECT series, feed FROM users_sample
            WHERE user_id = %(user_id)s
                AND (series, feed) > (branch.series, branch.feed)
            ORDER BY series, feed LIMIT 1
        ) further
    )
    SELECT branch.series, branch.feed, first.ts, last.ts, last.tz_offset
    FROM branch
    CROSS JOIN LATERAL (
        SELECT ts FROM users_sample
        WHERE user_id = %(user_id)s AND series = branch.series AND feed = branch.feed
        ORDER BY ts LIMIT 1
    ) first
    CROSS JOIN LATERAL (
        SELECT ts, tz_offset FROM users_sample
        WHERE user_id = %(user_id)s AND series = branch.series AND feed = branch.feed
        ORDER BY ts DESC LIMIT 1
    ) last
    ORDER BY branch.series, branch.feed
"""
_BRANCHES = """
    unnest(%(series)s::smallint[], %(feeds)s::smallint[])
        AS branch (series, feed)
"""
_DAYS = f"""
    SELECT branch.series, branch.feed, day.number
    FROM {_BRANCHES}
    CROSS JOIN unnest(%(starts)s::timestamptz[], %(ends)s::timestamptz[])
        WITH ORDINALITY AS day (first, after, number)
    CROSS JOIN LATERAL (
        SELECT 1 FROM users_sample
        WHERE user_id = %(user_id)s AND series = branch.series AND feed = branch.feed
            AND ts >= day.first AND ts < day.after
            AND ts >= %(start)s AND ts < %(end)s
        LIMIT 1
    ) sample
    ORDER BY branch.series, branch.feed, day.number
"""  # noqa: S608 - the part is ours
_COUNTS = f"""
    SELECT branch.series, branch.feed, counted.number
    FROM {_BRANCHES}
    CROSS JOIN LATERAL (
        SELECT count(*) AS number FROM (
            SELECT 1 FROM users_sample
            WHERE user_id = %(user_id)s
                AND series = branch.series AND feed = branch.feed
                AND ts >= %(start)s AND ts < %(end)s
            LIMIT %(most)s
        ) sample
    ) counted
"""  # noqa: S608 - as above


class Extent(NamedTuple):
    """A user's samples of one series and feed: the first and the last, UTC.

    `tz_offset` is that of the last, seconds east of UTC.
    """

    series: int
    feed: int
    first: datetime
    last: datetime
    tz_offset: int


def find_sample_extents(*, user_id: int) -> list[Extent]:
    """Return the extents of a user's samples by series and feed; one query."""
    found = rows.fetch_rows(_EXTENTS, {"user_id": user_id})
    return [Extent(*row) for row in found]


def find_days_with_samples(
    *, user_id: int, extents: Sequence[Extent], edges: Sequence[datetime]
) -> dict[tuple[int, int], list[int]]:
    """Return the days between ascending `edges` with samples; one query.

    Days count from 0, ascending, by series and feed.
    """
    if not extents or len(edges) < 2:
        return {}
    found = rows.fetch_rows(
        _DAYS,
        {
            **_branches(user_id, extents),
            "starts": list(edges[:-1]),
            "ends": list(edges[1:]),
            "start": edges[0],
            "end": edges[-1],
        },
    )
    days: dict[tuple[int, int], list[int]] = {}
    for series, feed, number in found:
        days.setdefault((series, feed), []).append(number - 1)
    return days


def count_samples_by_series(
    *,
    user_id: int,
    extents: Sequence[Extent],
    start: datetime,
    end: datetime,
    most: int,
) -> dict[tuple[int, int], int]:
    """Count the samples in [start, end) by series and feed; one query.

    Each is counted up to `most`, which then stands for all above.
    """
    if not extents:
        return {}
    found = rows.fetch_rows(
        _COUNTS,
        {
            **_branches(user_id, extents),
            "start": start,
            "end": end,
            "most": most,
        },
    )
    return {(series, feed): number for series, feed, number in found}


def _branches(user_id: int, extents: Sequence[Extent]) -> dict[str, object]:
    return {
        "user_id": user_id,
        "series": [each.series for each in extents],
        "feeds": [each.feed for each in extents],
    }
