"""The store of samples: the only access to the sample tables.

Another engine for old months or many machines is another SampleStore
(docs/explanation/scale.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from django.utils.translation import gettext as _

from portal.lib.database import rows
from portal.lib.errors import NotFound
from users.store.batches import SampleColumns, write_sample_batch
from users.store.partitions import find_month_partition_bounds

if TYPE_CHECKING:
    from collections.abc import Sequence

# Which series and feeds a user has: one step of the index each, however many samples.
# Whole months, so that the first entry of a partition decides.
_BRANCHES = """
    WITH RECURSIVE branch (series, feed) AS (
        (
            SELECT series, feed FROM users_sample
            WHERE user_id = %(user_id)s AND series >= %(low)s AND series <= %(high)s
                AND ts >= %(first)s AND ts < %(after)s
            ORDER BY series, feed LIMIT 1
        )
        UNION ALL
        SELECT further.series, further.feed
        FROM branch CROSS JOIN LATERAL (
            SELECT series, feed FROM users_sample
            WHERE user_id = %(user_id)s AND series <= %(high)s
                AND (series, feed) > (branch.series, branch.feed)
                AND ts >= %(first)s AND ts < %(after)s
            ORDER BY series, feed LIMIT 1
        ) further
    )
    SELECT series, feed FROM branch
"""
_COLUMNS = "ts, series, feed, value, tz_offset, duration, origin, NULL"
# The usual case: the order of the key is that of the answer.
_READ_ONE = f"""
    SELECT {_COLUMNS} FROM users_sample
    WHERE user_id = %(user_id)s AND series = %(one_series)s AND feed = %(one_feed)s
        AND ts >= %(start)s AND ts < %(end)s
        AND (ts, series, feed) > (%(start)s, %(above)s, %(behind)s)
    ORDER BY ts LIMIT %(limit)s
"""  # noqa: S608 - the parts are ours
# Each branch is read along the key and no farther than the limit.
_READ = f"""
    SELECT sample.* FROM unnest(%(series)s::smallint[], %(feeds)s::smallint[])
        AS branch (branch_series, branch_feed)
    CROSS JOIN LATERAL (
        SELECT {_COLUMNS} FROM users_sample
        WHERE user_id = %(user_id)s AND series = branch_series AND feed = branch_feed
            AND ts >= %(start)s AND ts < %(end)s
            AND (ts, series, feed) > (%(start)s, %(above)s, %(behind)s)
        ORDER BY ts LIMIT %(limit)s
    ) sample
    ORDER BY ts, series, feed LIMIT %(limit)s
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
_LOWEST = -(2**15)

# Of a sample as `read_range` gives it: ts (UTC), series, feed, value, tz_offset,
# duration, origin, extra or None.
SampleRow = tuple[datetime, int, int, float, int, int, int, "dict[str, Any] | None"]


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

        Locks the user's row, so that batches of one user come one after the other; lock
        it before anything else where a transaction locks more. Moments far ahead are
        the caller's to refuse: their months would all be made. Raises: not_found.
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

    def delete_samples(
        self, *, user_id: int, feed: int, keys: Sequence[tuple[int, datetime]]
    ) -> int:
        """Delete the samples of these pairs of series and time; return how many.

        The caller locked the user.
        """
        ...

    def delete_user(self, *, user_id: int) -> int:
        """Delete all samples of a user; return how many."""
        ...


def get_sample_store() -> SampleStore:
    """Return the store of this installation."""
    return _STORE


class _PostgresStore:
    """Samples in one partitioned table (models.sample), their extras beside it."""

    def write_batch(
        self, *, user_id: int, feed: int, columns: SampleColumns
    ) -> Written:
        _lock_user(user_id)
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
        return _with_extras(found, inputs)

    def delete_samples(
        self, *, user_id: int, feed: int, keys: Sequence[tuple[int, datetime]]
    ) -> int:
        if not keys:
            return 0
        inputs = {
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
            return cursor.rowcount

    def delete_user(self, *, user_id: int) -> int:
        with rows.open_database_cursor() as cursor:
            cursor.execute(
                "DELETE FROM users_sampleextra WHERE user_id = %s", [user_id]
            )
            cursor.execute("DELETE FROM users_sample WHERE user_id = %s", [user_id])
            return cursor.rowcount


_STORE = _PostgresStore()


def _lock_user(user_id: int) -> None:
    found = rows.fetch_rows(
        "SELECT 1 FROM users_user WHERE id = %s FOR NO KEY UPDATE", [user_id]
    )
    if not found:
        raise NotFound("not_found", _("User not found."))


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
            "low": min(series),
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
