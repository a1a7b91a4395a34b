"""Extents of a user's samples: first, last, days and numbers.

Beside the store (samples) in the same tables; each answer takes a few steps of their
indexes for each series and feed, however many samples there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from portal.lib.database import rows
from users.store.locks import IS_OF_TENANT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

# Which series and feeds there are, in no time: one step of the index of each month. It
# notes whose samples it is about before it meets one.
_BRANCHES_OF = """
    {name} (series, feed) AS (
        SELECT (-32768)::smallint, (-32768)::smallint WHERE {named}
        UNION ALL
        SELECT further.series, further.feed
        FROM {name} CROSS JOIN LATERAL (
            SELECT series, feed FROM {table}
            WHERE user_id = %(user_id)s
                AND (series, feed) > ({name}.series, {name}.feed)
            ORDER BY series, feed LIMIT 1
        ) further
    )
"""
_OF_BRANCH = """
    WHERE user_id = %(user_id)s AND series = branch.series AND feed = branch.feed
"""
# Rows and packed days in one statement: packing may move samples in between two.
_EXTENTS = f"""
    WITH RECURSIVE
    {_BRANCHES_OF.format(name="kept", table="users_sample", named=IS_OF_TENANT)},
    {_BRANCHES_OF.format(name="packed", table="users_packedday", named="true")},
    branch AS (
        SELECT * FROM (TABLE kept UNION TABLE packed) found WHERE series > -32768
    )
    SELECT branch.series, branch.feed, first.ts, last.ts, last.tz_offset
    FROM branch
    CROSS JOIN LATERAL (
        SELECT min(ts) AS ts FROM (
            (SELECT ts FROM users_sample {_OF_BRANCH} ORDER BY ts LIMIT 1)
            UNION ALL
            (SELECT first FROM users_packedday {_OF_BRANCH} ORDER BY day LIMIT 1)
        ) earliest
    ) first
    CROSS JOIN LATERAL (
        SELECT ts, tz_offset FROM (
            (
                SELECT ts, tz_offset FROM users_sample {_OF_BRANCH}
                ORDER BY ts DESC LIMIT 1
            )
            UNION ALL
            (
                SELECT last, last_tz_offset FROM users_packedday {_OF_BRANCH}
                ORDER BY day DESC LIMIT 1
            )
        ) latest
        ORDER BY ts DESC LIMIT 1
    ) last
    ORDER BY branch.series, branch.feed
"""  # noqa: S608 - the parts are ours
_BRANCHES = """
    unnest(%(series)s::smallint[], %(feeds)s::smallint[])
        AS branch (series, feed)
"""
_PACKED = f"""
    FROM {_BRANCHES} JOIN users_packedday packed
        ON user_id = %(user_id)s AND packed.series = branch.series
        AND packed.feed = branch.feed
        AND day >= (%(start)s AT TIME ZONE 'UTC')::date
        AND day <= (%(end)s AT TIME ZONE 'UTC')::date
        AND first < %(end)s AND last >= %(start)s
"""
# A packed day in one local day or two that adjoin needs no unpacking: its ends say so.
_DAYS = f"""
    SELECT branch.series, branch.feed, day.number, day.number, NULL::timestamptz,
        NULL::integer, NULL::smallint, NULL::integer, NULL::bytea
    FROM {_BRANCHES}
    CROSS JOIN unnest(%(starts)s::timestamptz[], %(ends)s::timestamptz[])
        WITH ORDINALITY AS day (first, after, number)
    CROSS JOIN LATERAL (
        SELECT 1 FROM users_sample {_OF_BRANCH}
            AND ts >= day.first AND ts < day.after
            AND ts >= %(start)s AND ts < %(end)s
        LIMIT 1
    ) sample
    UNION ALL
    SELECT series, feed, lowest, highest, first, count, codec, checksum,
        CASE WHEN highest - lowest > 1 THEN payload END
    FROM (
        SELECT packed.*, width_bucket(first, %(edges)s::timestamptz[]) AS lowest,
            width_bucket(last, %(edges)s::timestamptz[]) AS highest
        {_PACKED}
    ) placed
"""  # noqa: S608 - as above
_COUNTS = f"""
    SELECT branch.series, branch.feed, counted.number, NULL::timestamptz,
        NULL::smallint, NULL::integer, NULL::bytea
    FROM {_BRANCHES}
    CROSS JOIN LATERAL (
        SELECT count(*) AS number FROM (
            SELECT 1 FROM users_sample {_OF_BRANCH}
                AND ts >= %(start)s AND ts < %(end)s
            LIMIT %(most)s
        ) sample
    ) counted
    UNION ALL
    SELECT packed.series, packed.feed, count, first, codec, checksum, CASE
        WHEN first < %(start)s OR last >= %(end)s THEN payload END
    {_PACKED}
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
            "edges": list(edges),
            "start": edges[0],
            "end": edges[-1],
        },
    )
    days: dict[tuple[int, int], set[int]] = {}
    for series, feed, low, high, first, *coded in found:
        numbers = {low, high}
        if coded[-1] is not None:
            from users.store.packed.reading import PackedPart, find_cells, unpack_part

            part = PackedPart(first, series, feed, *coded)
            numbers = set(find_cells(unpack_part(part), edges))
        # Below are samples before the first edge, above those behind the last.
        inside = {number - 1 for number in numbers if 0 < number < len(edges)}
        days.setdefault((series, feed), set()).update(inside)
    return {key: sorted(numbers) for key, numbers in sorted(days.items()) if numbers}


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
    numbers: dict[tuple[int, int], int] = {}
    for series, feed, number, first, codec, checksum, payload in found:
        counted = number
        if payload is not None:
            from users.store.packed.reading import (
                PackedPart,
                count_between,
                unpack_part,
            )

            part = PackedPart(first, series, feed, number, codec, checksum, payload)
            counted = count_between(unpack_part(part), start, end)
        numbers[series, feed] = numbers.get((series, feed), 0) + counted
    return {key: min(number, most) for key, number in numbers.items()}


def _branches(user_id: int, extents: Sequence[Extent]) -> dict[str, object]:
    return {
        "user_id": user_id,
        "series": [each.series for each in extents],
        "feeds": [each.feed for each in extents],
    }
