"""Writing a batch of samples to PostgreSQL: inserts, updates and extras.

New samples go in by one statement, differing ones are changed by a second that a wholly
new batch does without. Columns are packed on this side, which keeps `unnest` level with
COPY into a temporary table at 10 000 samples and ahead of it below
(tests/bench/users/samples_ingest.py), with no table made for each call.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from operator import le
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from portal.lib.database import rows
from portal.lib.database.prepared import NamedStatement
from users.store.packed.days import DayKey, merge_into_packed_days
from users.store.partitions import ensure_partitions_for_batch

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from users.store.columns import SampleColumns

_T = TypeVar("_T")

# A column that is the same all over is sent once, with an empty array.
_GIVEN = """
    (
        SELECT ts, value, place,
            coalesce(series, %(every_series)s::smallint) AS series,
            coalesce(tz_offset, %(every_tz_offset)s::integer) AS tz_offset,
            coalesce(duration, %(every_duration)s::integer) AS duration,
            coalesce(origin, %(every_origin)s::integer) AS origin
        FROM unnest(
            %(series)s::smallint[], %(ts)s::timestamptz[], %(value)s::float8[],
            %(tz_offset)s::integer[], %(duration)s::integer[], %(origin)s::integer[]
        ) WITH ORDINALITY
            AS sent (series, ts, value, tz_offset, duration, origin, place)
    ) AS given
"""
# In the order given, which is that of the key. Who gets all in need not know which. If
# packed days may hold some of them, it inserts none and returns the keys of those days.
_INSERT = NamedStatement(
    "insert_samples",
    f"""
    WITH packed AS MATERIALIZED (
        SELECT series, day FROM users_packedday
        WHERE NOT %(is_merged)s::boolean AND user_id = %(user_id)s AND feed = %(feed)s
            AND series = ANY(%(numbers)s::smallint[])
            AND day >= (%(first)s::timestamptz AT TIME ZONE 'UTC')::date
            AND day <= (%(last)s::timestamptz AT TIME ZONE 'UTC')::date
    ), added AS (
        INSERT INTO users_sample (
            ts, user_id, value, origin, tz_offset, duration, series, feed
        )
        SELECT given.ts, %(user_id)s, given.value, given.origin, given.tz_offset,
            given.duration, given.series, %(feed)s
        FROM {_GIVEN}
        WHERE NOT EXISTS (SELECT 1 FROM packed)
        ON CONFLICT DO NOTHING
        RETURNING series, ts
    )
    SELECT count(*),
        CASE WHEN count(*) < %(count)s THEN array_agg(series) END,
        CASE WHEN count(*) < %(count)s THEN array_agg(ts) END,
        (SELECT array_agg(series) FROM packed), (SELECT array_agg(day) FROM packed)
    FROM added
    """,  # noqa: S608 - the parts are ours
)
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
    RETURNING given.place
"""  # noqa: S608 - as above
_EXTRAS = """
    SELECT series, ts, extra FROM users_sampleextra
    WHERE user_id = %(user_id)s AND feed = %(feed)s AND series = ANY(%(series)s)
        AND ts >= %(first)s AND ts <= %(last)s
"""
_PUT_EXTRAS = f"""
    INSERT INTO users_sampleextra (user_id, feed, series, ts, extra)
    SELECT %(user_id)s, %(feed)s, given.series, given.ts, told.extra::jsonb
    FROM {_GIVEN} JOIN unnest(%(extra)s::text[]) WITH ORDINALITY AS told (extra, place)
        USING (place)
    ON CONFLICT (user_id, series, feed, ts) DO UPDATE SET extra = excluded.extra
"""  # noqa: S608 - as above
_DROP_EXTRAS = f"""
    DELETE FROM users_sampleextra kept USING {_GIVEN}
    WHERE kept.user_id = %(user_id)s AND kept.feed = %(feed)s
        AND kept.series = given.series AND kept.ts = given.ts
"""  # noqa: S608 - as above


def write_sample_batch(
    *, user_id: int, feed: int, columns: SampleColumns
) -> tuple[list[int], list[int]]:
    """Store samples of a locked user; return the indices created and updated."""
    if not columns.ts:
        return [], []
    moments = rows.convert_to_postgres_microseconds(columns.ts)
    order = _order(columns.series, moments)
    if order is None:
        return _Batch(user_id, feed, columns, moments).write()
    batch = _Batch(user_id, feed, _reordered(columns, order), _pick(moments, order))
    created, updated = batch.write()
    return sorted(_pick(order, created)), sorted(_pick(order, updated))


class _Batch:
    """Samples in the order of the table's key."""

    def __init__(
        self, user_id: int, feed: int, columns: SampleColumns, moments: list[int]
    ) -> None:
        self.columns = columns
        self.moments = moments
        self.all = range(len(moments))
        first, last = (
            columns.ts[moments.index(each)] for each in (min(moments), max(moments))
        )
        self.place: dict[str, Any] = {
            "user_id": user_id,
            "feed": feed,
            "first": first,
            "last": last,
        }
        self.packed = self._pack(self.all)

    def write(self) -> tuple[list[int], list[int]]:
        ensure_partitions_for_batch(self.place["first"], self.place["last"])
        inserted, packed_days = self._insert(self.all, is_merged=False)
        held, updated = self._change_packed(packed_days)
        loose: Sequence[int] = self.all
        if packed_days:
            loose = sorted(set(self.all).difference(held))
            if loose:
                inserted, _ = self._insert(loose, is_merged=True)
        if len(inserted) == len(self.all):
            return inserted, []
        if inserted:
            loose = sorted(set(loose).difference(inserted))
        if loose:
            packed = self.packed if loose is self.all else self._pack(loose)
            changed = rows.fetch_rows_with_packed_arrays(_UPDATE, packed)
            updated |= {loose[place - 1] for (place,) in changed}
        rest = sorted({*held, *loose}) if held else loose
        return inserted, sorted(updated | self._change_extras(rest))

    def _change_packed(self, packed: set[DayKey]) -> tuple[list[int], set[int]]:
        """Change the samples in packed days; return those there, and the changed."""
        if not packed:
            return [], set()
        return merge_into_packed_days(
            user_id=self.place["user_id"],
            feed=self.place["feed"],
            columns=self.columns,
            moments=self.moments,
            packed=packed,
        )

    def _insert(
        self, indices: Sequence[int], *, is_merged: bool
    ) -> tuple[list[int], set[DayKey]]:
        """Insert new samples with their extras; return the indices.

        If packed days may hold some, nothing is inserted and the keys of these days are
        returned, unless the batch `is_merged` into them already.
        """
        asked = {
            "count": len(indices),
            "is_merged": is_merged,
            "numbers": rows.pack_smallint_array(set(self.columns.series)),
        }
        given = self.packed if indices is self.all else self._pack(indices)
        ((number, series, moments, *keys),) = _INSERT.fetch(given | asked)
        if keys[0]:
            days = zip(*keys, strict=True)
            return [], {DayKey(each, self.place["feed"], day) for each, day in days}
        created = list(indices)
        if number < len(indices):
            new = set(zip(series or (), moments or (), strict=True))
            created = (
                [each for each in indices if self._key(each) in new] if new else []
            )
        if self.columns.extra:
            self._put_extras([each for each in created if each in self.columns.extra])
        return created, set()

    def _change_extras(self, rest: Sequence[int]) -> set[int]:
        """Change the extras of samples that were there; return the indices."""
        found = rows.fetch_rows(
            _EXTRAS, self.place | {"series": list(set(self.columns.series))}
        )
        if not found and not self.columns.extra:
            return set()
        stored = {(series, ts): extra for series, ts, extra in found}
        return self._update_extras(rest, stored)

    def _update_extras(
        self, rest: Sequence[int], stored: dict[tuple[int, datetime], Any]
    ) -> set[int]:
        given = self.columns.extra
        differing = [
            index for index in rest if given.get(index) != stored.get(self._key(index))
        ]
        self._put_extras([index for index in differing if index in given])
        gone = [index for index in differing if index not in given]
        if gone:
            rows.fetch_rows_with_packed_arrays(_DROP_EXTRAS, self._pack(gone))
        return set(differing)

    def _key(self, index: int) -> tuple[int, datetime]:
        return self.columns.series[index], self.columns.ts[index]

    def _put_extras(self, indices: list[int]) -> None:
        if indices:
            extra = [orjson.dumps(self.columns.extra[index]) for index in indices]
            texts = {"extra": [each.decode() for each in extra]}
            rows.fetch_rows_with_packed_arrays(_PUT_EXTRAS, self._pack(indices) | texts)

    def _pack(self, indices: Sequence[int]) -> dict[str, Any]:
        """Return the samples of these indices with user, feed and bounds."""
        given = self.columns
        packed: dict[str, Any] = {
            "ts": rows.pack_timestamp_array(_pick(self.moments, indices)),
            "value": rows.pack_double_array(_pick(given.value, indices)),
        }
        for name, column, pack in (
            ("series", given.series, rows.pack_smallint_array),
            ("tz_offset", given.tz_offset, rows.pack_integer_array),
            ("duration", given.duration, rows.pack_integer_array),
            ("origin", given.origin, rows.pack_integer_array),
        ):
            picked = _pick(column, indices)
            is_same = picked.count(picked[0]) == len(picked)
            packed[name] = pack([] if is_same else picked)
            packed[f"every_{name}"] = picked[0] if is_same else None
        return self.place | packed


def _order(series: list[int], moments: list[int]) -> list[int] | None:
    """Return the indices in key order; None if already ordered."""
    keys: list[Any] = moments
    if len(set(series)) > 1:
        keys = list(zip(series, moments, strict=True))
    if all(map(le, keys, islice(keys, 1, None))):
        return None
    return sorted(range(len(keys)), key=keys.__getitem__)


def _reordered(columns: SampleColumns, order: list[int]) -> SampleColumns:
    return replace(
        columns,
        series=_pick(columns.series, order),
        ts=_pick(columns.ts, order),
        value=_pick(columns.value, order),
        tz_offset=_pick(columns.tz_offset, order),
        duration=_pick(columns.duration, order),
        origin=_pick(columns.origin, order),
        extra={
            place: columns.extra[index]
            for place, index in enumerate(order)
            if index in columns.extra
        },
    )


def _pick(column: list[_T], indices: Sequence[int]) -> list[_T]:
    if isinstance(indices, range):  # all of them
        return column
    return [column[index] for index in indices]
