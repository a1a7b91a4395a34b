"""The store of samples: all that reads or writes them goes through SampleStore.

Lives here: the interface, and the store in PostgreSQL. Another engine for old months or
many machines is another SampleStore (docs/growing.md). Must not be here: what a series
measures, the words of feeds and origins (dictionaries), or the months (partitions).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

import orjson

from portal.lib import rows
from portal.lib.errors import NotFound
from users.wearables.partitions import ensure_months_of, month_bounds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_GIVEN = """
    unnest(
        %(series)s::smallint[], %(ts)s::timestamptz[], %(value)s::float8[],
        %(tz_offset)s::integer[], %(duration)s::integer[], %(origin)s::integer[]
    ) AS given (series, ts, value, tz_offset, duration, origin)
"""
# In the order given, which is that of the key. Who gets all in need not know which.
_INSERT = f"""
    WITH added AS (
        INSERT INTO users_sample (
            ts, user_id, value, origin, tz_offset, duration, series, feed
        )
        SELECT given.ts, %(user_id)s, given.value, given.origin, given.tz_offset,
            given.duration, given.series, %(feed)s
        FROM {_GIVEN}
        ON CONFLICT DO NOTHING
        RETURNING series, ts
    )
    SELECT count(*),
        CASE WHEN count(*) < %(count)s THEN array_agg(series) END,
        CASE WHEN count(*) < %(count)s THEN array_agg(ts) END
    FROM added
"""  # noqa: S608 - the parts are ours
# Equal rows are left alone: no dead tuple (performance 2a).
_UPDATE = f"""
    UPDATE users_sample AS kept SET
        value = given.value, tz_offset = given.tz_offset,
        duration = given.duration, origin = given.origin
    FROM {_GIVEN}
    WHERE kept.user_id = %(user_id)s AND kept.feed = %(feed)s
        AND kept.series = given.series AND kept.ts = given.ts
        AND kept.ts >= %(first)s AND kept.ts <= %(last)s
        AND (kept.value, kept.tz_offset, kept.duration, kept.origin)
            IS DISTINCT FROM
            (given.value, given.tz_offset, given.duration, given.origin)
    RETURNING kept.series, kept.ts
"""  # noqa: S608 - as above
_EXTRAS = """
    SELECT series, ts, extra FROM users_sampleextra
    WHERE user_id = %(user_id)s AND feed = %(feed)s AND series = ANY(%(series)s)
        AND ts >= %(first)s AND ts <= %(last)s
"""
_PUT_EXTRAS = """
    INSERT INTO users_sampleextra (user_id, feed, series, ts, extra)
    SELECT %(user_id)s, %(feed)s, given.series, given.ts, given.extra::jsonb
    FROM unnest(%(series)s::smallint[], %(ts)s::timestamptz[], %(extra)s::text[])
        AS given (series, ts, extra)
    ON CONFLICT (user_id, series, feed, ts) DO UPDATE SET extra = excluded.extra
"""
_DROP_EXTRAS = """
    DELETE FROM users_sampleextra kept
    USING unnest(%(series)s::smallint[], %(ts)s::timestamptz[]) AS given (series, ts)
    WHERE kept.user_id = %(user_id)s AND kept.feed = %(feed)s
        AND kept.series = given.series AND kept.ts = given.ts
"""
# The feeds that each series has, found by one step each; whole months, so that the
# first entry of the index decides.
_BRANCHES = """
    WITH RECURSIVE branch (series, feed) AS (
        SELECT asked.series, (
            SELECT feed FROM users_sample found
            WHERE found.user_id = %(user_id)s AND found.series = asked.series
                AND found.ts >= %(first)s AND found.ts < %(after)s
            ORDER BY feed LIMIT 1
        )
        FROM unnest(%(series)s::smallint[]) AS asked (series)
        UNION ALL
        SELECT branch.series, (
            SELECT feed FROM users_sample found
            WHERE found.user_id = %(user_id)s AND found.series = branch.series
                AND found.feed > branch.feed
                AND found.ts >= %(first)s AND found.ts < %(after)s
            ORDER BY feed LIMIT 1
        )
        FROM branch WHERE branch.feed IS NOT NULL
    )
    SELECT series, feed FROM branch WHERE feed IS NOT NULL
"""
# Each branch is read along the key and no farther than the limit.
_READ = """
    SELECT sample.ts, branch.series, branch.feed, sample.value, sample.tz_offset,
        sample.duration, sample.origin, NULL
    FROM unnest(%(series)s::smallint[], %(feeds)s::smallint[])
        AS branch (series, feed)
    CROSS JOIN LATERAL (
        SELECT * FROM users_sample kept
        WHERE kept.user_id = %(user_id)s AND kept.series = branch.series
            AND kept.feed = branch.feed
            AND kept.ts >= %(start)s AND kept.ts < %(end)s
            AND (kept.ts, kept.series, kept.feed) > (%(start)s, %(above)s, %(behind)s)
        ORDER BY kept.ts LIMIT %(limit)s
    ) sample
    ORDER BY sample.ts, branch.series, branch.feed LIMIT %(limit)s
"""
_EXTRAS_OF_RANGE = """
    SELECT ts, series, feed, extra FROM users_sampleextra
    WHERE user_id = %(user_id)s AND series = ANY(%(series)s) AND feed = ANY(%(feeds)s)
        AND ts >= %(start)s AND ts <= %(last)s
"""
_LOWEST = -(2**15)

# Of a sample as `read_range` gives it: ts (UTC), series, feed, value, tz_offset,
# duration, origin, extra or None.
SampleRow = tuple[datetime, int, int, float, int, int, int, "dict[str, Any] | None"]


@dataclass(frozen=True, slots=True)
class SampleColumns:
    """Samples of one user and feed, as lists of equal length.

    Of one (series, ts) there is at most one. `ts` is aware, `tz_offset` and `duration`
    are seconds. `extra` is JSON by index into the lists; one that is absent here is
    removed where it was stored.
    """

    series: list[int]
    ts: list[datetime]
    value: list[float]
    tz_offset: list[int]
    duration: list[int]
    origin: list[int]
    extra: dict[int, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Written:
    """Indices of samples that are new, and of those that changed, both ascending."""

    created: list[int]
    updated: list[int]


class SampleStore(Protocol):
    """Where samples are. All of it happens in the caller's transaction."""

    def write_batch(
        self, *, user_id: int, feed: int, columns: SampleColumns
    ) -> Written:
        """Store samples: of one key the latest counts, an equal one writes nothing.

        Locks the user's row, so that batches of one user come one after the other; lock
        it before anything else where a transaction locks more. Raises: not_found.
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
        """At most `limit` samples of [start, end), by (ts, series, feed).

        `feeds` None: all. `after` is the key (ts, series, feed) to go on behind.
        """
        ...

    def delete_user(self, *, user_id: int) -> int:
        """Remove all samples of a user; returns how many."""
        ...


def find_store() -> SampleStore:
    """The store of this installation."""
    return _STORE


class _PostgresStore:
    """Samples in one partitioned table (models.sample), their extras beside it."""

    def write_batch(
        self, *, user_id: int, feed: int, columns: SampleColumns
    ) -> Written:
        _lock_user(user_id)
        if not columns.ts:
            return Written([], [])
        batch = _Batch(user_id, feed, columns)
        ensure_months_of(min(columns.ts), max(columns.ts))
        created = batch.insert()
        updated = batch.update(set(range(len(columns.ts))).difference(created))
        return Written(sorted(created), sorted(updated))

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
        if end <= start:
            return []
        branches = _find_branches(user_id, series, start, end, feeds)
        if not branches:
            return []
        inputs = {
            "user_id": user_id,
            "series": [series for series, _ in branches],
            "feeds": [feed for _, feed in branches],
            "start": start,
            "end": end,
            "above": above,
            "behind": behind,
            "limit": limit,
        }
        found: list[Any] = rows.fetch_rows(_READ, inputs)
        if found:
            extras = rows.fetch_rows(_EXTRAS_OF_RANGE, inputs | {"last": found[-1][0]})
            if extras:
                by_key = {tuple(key): extra for *key, extra in extras}
                found = [(*row[:-1], by_key.get(row[:3])) for row in found]
        return found

    def delete_user(self, *, user_id: int) -> int:
        with rows.cursor() as cursor:
            cursor.execute(
                "DELETE FROM users_sampleextra WHERE user_id = %s", [user_id]
            )
            cursor.execute("DELETE FROM users_sample WHERE user_id = %s", [user_id])
            return cursor.rowcount


_STORE = _PostgresStore()


class _Batch:
    """Samples on their way into the tables."""

    def __init__(self, user_id: int, feed: int, columns: SampleColumns) -> None:
        self.columns = columns
        self.place = {
            "user_id": user_id,
            "feed": feed,
            "first": min(columns.ts),
            "last": max(columns.ts),
        }
        keys = list(zip(columns.series, columns.ts, strict=True))
        self.keys = keys
        self.order = sorted(range(len(keys)), key=keys.__getitem__)

    def insert(self) -> list[int]:
        """Store what is new; returns the indices."""
        count = len(self.order)
        ((number, series, moments),) = rows.run_packed(
            _INSERT, self._inputs(self.order) | {"count": count}
        )
        created = self.order
        if number < count:
            created = self._find(zip(series or (), moments or (), strict=True))
        self._put_extras([index for index in created if index in self.columns.extra])
        return created

    def update(self, indices: set[int]) -> set[int]:
        """Change what differs of samples that are stored; returns the indices."""
        if not indices:
            return set()
        rest = [index for index in self.order if index in indices]
        changed = rows.run_packed(_UPDATE, self._inputs(rest))
        found = rows.fetch_rows(
            _EXTRAS, self.place | {"series": list(set(self.columns.series))}
        )
        stored = {(series, ts): extra for series, ts, extra in found}
        put: list[int] = []
        drop: list[int] = []
        for index in rest if stored or self.columns.extra else ():
            extra, old = self.columns.extra.get(index), stored.get(self.keys[index])
            if extra != old:
                (put if extra else drop).append(index)
        self._put_extras(put)
        if drop:
            rows.run_packed(_DROP_EXTRAS, self._inputs(drop))
        return {*self._find(changed), *put, *drop}

    def _put_extras(self, indices: list[int]) -> None:
        if indices:
            extra = [orjson.dumps(self.columns.extra[index]) for index in indices]
            texts = {"extra": [each.decode() for each in extra]}
            rows.run_packed(_PUT_EXTRAS, self._inputs(indices) | texts)

    def _find(self, keys: Iterable[Any]) -> list[int]:
        """The indices of keys, as PostgreSQL gives them back."""
        wanted = set(keys)
        if not wanted:
            return []
        return [index for index in self.order if self.keys[index] in wanted]

    def _inputs(self, indices: list[int]) -> dict[str, Any]:
        """The samples of these indices, packed, with their user, feed and bounds."""
        return self.place | {
            name: pack(list(map(getattr(self.columns, name).__getitem__, indices)))
            for name, pack in _PACKED
        }


_PACKED = (
    ("series", rows.pack_smallints),
    ("ts", rows.pack_moments),
    ("value", rows.pack_doubles),
    ("tz_offset", rows.pack_integers),
    ("duration", rows.pack_integers),
    ("origin", rows.pack_integers),
)


def _lock_user(user_id: int) -> None:
    found = rows.fetch_rows(
        "SELECT 1 FROM users_user WHERE id = %s FOR NO KEY UPDATE", [user_id]
    )
    if not found:
        raise NotFound("not_found", "User not found.")


def _find_branches(
    user_id: int,
    series: Sequence[int],
    start: datetime,
    end: datetime,
    feeds: Sequence[int] | None,
) -> list[tuple[int, int]]:
    if feeds is not None:
        return [(each, feed) for each in series for feed in feeds]
    first, after = month_bounds(start, end)
    found = rows.fetch_rows(
        _BRANCHES,
        {"user_id": user_id, "series": list(series), "first": first, "after": after},
    )
    return [(series, feed) for series, feed in found]
