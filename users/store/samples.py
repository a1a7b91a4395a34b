"""The store of samples: the only access to the sample tables.

Recent days are rows, closed ones may be packed (users.store.packed); every method sees
both. Another engine or many machines are another SampleStore
(docs/explanation/scale.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Protocol

from portal.lib.database import rows
from users.store.batches import write_sample_batch
from users.store.locks import (
    IS_OF_TENANT,
    lock_samples_of_user,
    note_change_of_samples,
)
from users.store.one_source import OneSource, note_only_source, read_only_source
from users.store.packed.days import delete_packed_samples
from users.store.partitions import find_month_partition_bounds

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from users.store.columns import SampleColumns, SampleRow

# Which series and feeds a user has: one step of the index each, however many samples.
# Whole months, so that the first entry of a partition decides. It begins below the
# lowest, and notes whose samples it and what follows are about before it meets one.
_BRANCHES_OF = """
    {name} (series, feed) AS (
        SELECT %(below)s::smallint, 32767::smallint WHERE {named}
        UNION ALL
        SELECT further.series, further.feed
        FROM {name} CROSS JOIN LATERAL (
            SELECT series, feed FROM {table}
            WHERE user_id = %(user_id)s AND series <= %(high)s
                AND (series, feed) > ({name}.series, {name}.feed)
                AND {time} >= {first} AND {time} < {after}
            ORDER BY series, feed LIMIT 1
        ) further
    )
"""
_BRANCHES = "WITH RECURSIVE {}, {} {}".format(
    _BRANCHES_OF.format(
        named=IS_OF_TENANT,
        name="kept",
        table="users_sample",
        time="ts",
        first="%(first)s",
        after="%(after)s",
    ),
    _BRANCHES_OF.format(
        named="true",
        name="packed",
        table="users_packedday",
        time="day",
        first="(%(first)s AT TIME ZONE 'UTC')::date",
        after="(%(after)s AT TIME ZONE 'UTC')::date",
    ),
    "SELECT series, feed FROM (TABLE kept UNION TABLE packed) found"
    " WHERE series > %(below)s ORDER BY series, feed",
)
_COLUMNS = "ts, series, feed, value, tz_offset, duration, origin, NULL::bytea"
# Rows and packed days in one statement: packing may move samples in between two. Of
# the days no more are read than hold the limit, whatever of the first is cut off.
_PACKED = """
    UNION ALL
    SELECT first, packed.series, packed.feed, NULL, count, codec, checksum, payload
    FROM unnest(%(series)s::smallint[], %(feeds)s::smallint[])
        AS branch (branch_series, branch_feed)
    CROSS JOIN LATERAL (
        SELECT *, sum(count) FILTER (WHERE first > %(start)s) OVER (
            ORDER BY day ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS behind
        FROM users_packedday
        WHERE user_id = %(user_id)s AND series = branch_series AND feed = branch_feed
            AND day >= (%(start)s AT TIME ZONE 'UTC')::date
            AND day <= (%(end)s AT TIME ZONE 'UTC')::date
            AND first < %(end)s AND last >= %(start)s
    ) packed
    WHERE coalesce(packed.behind, 0) < %(limit)s
"""
# The usual case: the order of the key is that of the answer.
_READ_ONE = f"""
    (
        SELECT {_COLUMNS} FROM users_sample
        WHERE user_id = %(user_id)s AND series = %(one_series)s AND feed = %(one_feed)s
            AND ts >= %(start)s AND ts < %(end)s
            AND (ts, series, feed) > (%(start)s, %(above)s, %(behind)s)
        ORDER BY ts LIMIT %(limit)s
    )
    {_PACKED}
"""  # noqa: S608 - the parts are ours
# Each branch is read along the key and no farther than the limit.
_READ = f"""
    (
        SELECT sample.* FROM unnest(%(series)s::smallint[], %(feeds)s::smallint[])
            AS branch (branch_series, branch_feed)
        CROSS JOIN LATERAL (
            SELECT {_COLUMNS} FROM users_sample
            WHERE user_id = %(user_id)s AND series = branch_series
                AND feed = branch_feed AND ts >= %(start)s AND ts < %(end)s
                AND (ts, series, feed) > (%(start)s, %(above)s, %(behind)s)
            ORDER BY ts LIMIT %(limit)s
        ) sample
        ORDER BY ts, series, feed LIMIT %(limit)s
    )
    {_PACKED}
"""  # noqa: S608 - as above
_EXTRAS_OF_RANGE = """
    SELECT ts, series, feed, extra FROM users_sampleextra
    WHERE user_id = %(user_id)s AND series = ANY(%(series)s) AND feed = ANY(%(feeds)s)
        AND ts >= %(start)s AND ts <= %(last)s
"""
_DELETE = """
    DELETE FROM {table} AS kept
    USING unnest(%(series)s::smallint[], %(ts)s::timestamptz[]) AS gone (series, ts)
    WHERE kept.user_id = %(user_id)s AND kept.feed = %(feed)s
        AND kept.series = gone.series AND kept.ts = gone.ts
        AND kept.ts >= %(first)s AND kept.ts <= %(last)s
"""
_DELETE_PACKED = """
    WITH gone AS (DELETE FROM users_packedday WHERE user_id = %s RETURNING count)
    SELECT coalesce(sum(count), 0) FROM gone
"""
_LOWEST = -(2**15)
_IN_ORDER = itemgetter(0, 1, 2)


@dataclass(frozen=True, slots=True)
class Written:
    """Indices of samples that are new, and of those that changed, both ascending."""

    created: list[int]
    updated: list[int]


class SampleStore(Protocol):
    """The interface of the sample store; it uses the caller's transaction."""

    def write_batch(
        self, *, user_id: int, feed: int, columns: SampleColumns
    ) -> Written:
        """Store samples; the latest of a key counts, equal ones are not written.

        Of samples in packed days the changed ones are changed there, and new ones wait
        as rows to be packed. Locks the user's row, so that batches of one user come one
        after the other; lock it before anything else where a transaction locks more.
        Moments far ahead are the caller's to refuse: their months would all be made.
        Raises: not_found.
        """
        ...

    def read_range(
        self,
        *,
        user_id: int,
        series: Sequence[int],
        start: datetime,
        end: datetime,
        feeds: Sequence[int] | None,
        after: tuple[datetime, int, int] | None,
        limit: int,
    ) -> list[SampleRow]:
        """Return at most `limit` samples of [start, end), by (ts, series, feed).

        `feeds` None: all. `after` is the key (ts, series, feed) to go on behind.
        """
        ...

    def read_only_source(
        self,
        *,
        user_id: int,
        series: Sequence[int],
        start: datetime,
        end: datetime,
        after: tuple[datetime, int, int] | None,
        limit: int,
        has_durations: bool,
    ) -> OneSource | None:
        """Return what `read_range` would of all feeds, where that is of one source.

        Faster, and None where it can't be: `read_range` always can. `has_durations`:
        whether the series are of intervals.
        """
        ...

    def delete_samples(
        self, *, user_id: int, feed: int, keys: Sequence[tuple[int, datetime]]
    ) -> int:
        """Delete the samples of these pairs of series and time; return how many.

        The caller locked the user.
        """
        ...

    def delete_user(self, *, user_id: int) -> int:
        """Delete all samples of a user; return how many. The caller locked the user."""
        ...


def get_sample_store() -> SampleStore:
    """Return the store of this installation."""
    return _STORE


class _PostgresStore:
    """Samples in rows (models.sample), closed days packed, their extras beside them."""

    def write_batch(
        self, *, user_id: int, feed: int, columns: SampleColumns
    ) -> Written:
        lock_samples_of_user(user_id)
        return Written(*write_sample_batch(user_id=user_id, feed=feed, columns=columns))

    def read_range(
        self,
        *,
        user_id: int,
        series: Sequence[int],
        start: datetime,
        end: datetime,
        feeds: Sequence[int] | None,
        after: tuple[datetime, int, int] | None,
        limit: int,
    ) -> list[SampleRow]:
        start, above, behind = after or (start, _LOWEST, _LOWEST)
        if end <= start or not series:
            return []
        branches = _find_branches(user_id, series, start, end, feeds)
        if not branches:
            return []
        inputs: dict[str, Any] = {
            "user_id": user_id,
            "series": [each for each, _ in branches],
            "feeds": [feed for _, feed in branches],
            "one_series": branches[0][0],
            "one_feed": branches[0][1],
            "start": start,
            "end": end,
            "above": above,
            "behind": behind,
            "limit": limit,
        }
        query = _READ_ONE if len(branches) == 1 else _READ
        found: list[Any] = rows.fetch_rows(query, inputs)
        if any(row[-1] is not None for row in found):
            from users.store.packed.reading import merge_sample_rows

            found = merge_sample_rows(
                found, start=start, end=end, after=(above, behind), limit=limit
            )
            return _with_extras(found, inputs)
        if len(found) > 1:
            found.sort(key=_IN_ORDER)  # a union promises none
        read = _with_extras(found, inputs)
        if len(branches) == 1 and feeds is None and found and read is found:
            note_only_source(
                user_id=user_id,
                series=series,
                start=start,
                end=end,
                source=branches[0],
            )
        return read

    def read_only_source(
        self,
        *,
        user_id: int,
        series: Sequence[int],
        start: datetime,
        end: datetime,
        after: tuple[datetime, int, int] | None,
        limit: int,
        has_durations: bool,
    ) -> OneSource | None:
        behind = after or (start, _LOWEST, _LOWEST)
        if end <= behind[0] or not series:
            return None
        return read_only_source(
            user_id=user_id,
            series=series,
            start=behind[0],
            end=end,
            behind=behind,
            limit=limit,
            has_durations=has_durations,
        )

    def delete_samples(
        self, *, user_id: int, feed: int, keys: Sequence[tuple[int, datetime]]
    ) -> int:
        if not keys:
            return 0
        note_change_of_samples(user_id)
        inputs: dict[str, Any] = {
            "user_id": user_id,
            "feed": feed,
            "series": [series for series, _ in keys],
            "ts": [ts for _, ts in keys],
            "first": min(ts for _, ts in keys),
            "last": max(ts for _, ts in keys),
        }
        with rows.open_database_cursor() as cursor:
            cursor.execute(_DELETE.format(table="users_sampleextra").encode(), inputs)
            cursor.execute(_DELETE.format(table="users_sample").encode(), inputs)
            removed = cursor.rowcount
        moments = rows.convert_to_postgres_microseconds(inputs["ts"])
        samples = list(zip(inputs["series"], moments, strict=True))
        return removed + delete_packed_samples(
            user_id=user_id, feed=feed, samples=samples, place=inputs
        )

    def delete_user(self, *, user_id: int) -> int:
        note_change_of_samples(user_id)
        with rows.open_database_cursor() as cursor:
            cursor.execute(
                "DELETE FROM users_sampleextra WHERE user_id = %s", [user_id]
            )
            cursor.execute("DELETE FROM users_sample WHERE user_id = %s", [user_id])
            removed = cursor.rowcount
            cursor.execute(_DELETE_PACKED.encode(), [user_id])
            ((packed,),) = cursor.fetchall()
            return removed + int(packed)


_STORE = _PostgresStore()


def _with_extras(found: list[Any], inputs: dict[str, Any]) -> list[SampleRow]:
    """Return the rows, ascending, with their extras last."""
    if not found:
        return found
    extras = rows.fetch_rows(_EXTRAS_OF_RANGE, inputs | {"last": found[-1][0]})
    if not extras:
        return found
    by_key = {tuple(key): extra for *key, extra in extras}
    return [(*row[:-1], by_key.get(row[:3])) for row in found]


def _find_branches(
    user_id: int,
    series: Sequence[int],
    start: datetime,
    end: datetime,
    feeds: Sequence[int] | None,
) -> list[tuple[int, int]]:
    """Return the pairs of series and feed of the user near a range, in order."""
    first, after = find_month_partition_bounds(start, end)
    found = rows.fetch_rows(
        _BRANCHES,
        {
            "user_id": user_id,
            "below": min(series) - 1,
            "high": max(series),
            "first": first,
            "after": after,
        },
    )
    names = set(series)
    return [
        (each, feed)
        for each, feed in found
        if each in names and (feeds is None or feed in feeds)
    ]
