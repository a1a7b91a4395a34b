"""Packed days in the database: find, save and delete them; compare batches with them.

Beside the store (users.store.samples); each caller has locked the user.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple

from portal.lib.database import rows
from users.store.packed.damage import DayDamaged

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from users.store.columns import SampleColumns
    from users.store.packed.codec import DayColumns

# A covering look at the key: what a batch of fresh days costs more.
_KEYS = """
    SELECT series, day FROM users_packedday
    WHERE user_id = %(user_id)s AND feed = %(feed)s AND series = ANY(%(series)s)
        AND day >= (%(first)s AT TIME ZONE 'UTC')::date
        AND day <= (%(last)s AT TIME ZONE 'UTC')::date
"""
_DAYS = """
    SELECT series, feed, day, count, codec, checksum, payload FROM users_packedday
    JOIN unnest(%(series)s::smallint[], %(feeds)s::smallint[], %(days)s::date[])
        AS asked (series, feed, day) USING (series, feed, day)
    WHERE user_id = %(user_id)s
"""
_SAVE = """
    INSERT INTO users_packedday (
        user_id, first, last, total, low, high, checksum, count, longest,
        last_tz_offset, day, series, feed, codec, payload
    ) VALUES (
        %(user_id)s, %(first)s, %(last)s, %(total)s, %(low)s, %(high)s, %(checksum)s,
        %(count)s, %(longest)s, %(last_tz_offset)s, %(day)s, %(series)s, %(feed)s,
        %(codec)s, %(payload)s
    )
    ON CONFLICT (user_id, series, feed, day) DO UPDATE SET
        first = excluded.first, last = excluded.last, total = excluded.total,
        low = excluded.low, high = excluded.high, checksum = excluded.checksum,
        count = excluded.count, longest = excluded.longest,
        last_tz_offset = excluded.last_tz_offset, codec = excluded.codec,
        payload = excluded.payload
"""
_DELETE = """
    DELETE FROM users_packedday
    WHERE user_id = %s AND series = %s AND feed = %s AND day = %s
"""


class DayKey(NamedTuple):
    """The key of a packed day, below its user."""

    series: int
    feed: int
    day: date


def find_packed_day_keys(
    place: Mapping[str, Any], series: Sequence[int]
) -> set[DayKey]:
    """Return the packed days that samples of `place` may lie in.

    `place` has user_id, feed, and the first and last time.
    """
    found = rows.fetch_rows(_KEYS, {**place, "series": list(set(series))})
    return {DayKey(number, place["feed"], day) for number, day in found}


def fetch_packed_days(
    *, user_id: int, keys: Iterable[DayKey]
) -> dict[DayKey, DayColumns | None]:
    """Return packed days by key; None for one that is corrupt."""
    from users.store.packed.codec import CorruptDayError, decode_day

    asked = list(keys)
    if not asked:
        return {}
    found = rows.fetch_rows(
        _DAYS,
        {
            "user_id": user_id,
            "series": [key.series for key in asked],
            "feeds": [key.feed for key in asked],
            "days": [key.day for key in asked],
        },
    )
    days: dict[DayKey, DayColumns | None] = {}
    for series, feed, day, count, codec, checksum, payload in found:
        try:
            columns = decode_day(
                payload, day=day, count=count, codec=codec, checksum=checksum
            )
        except CorruptDayError:
            days[DayKey(series, feed, day)] = None
        else:
            days[DayKey(series, feed, day)] = columns
    return days


def save_packed_days(*, user_id: int, days: Mapping[DayKey, DayColumns]) -> None:
    """Store packed days, in place of what was stored of them."""
    inputs = [
        build_packed_row(user_id=user_id, key=key, columns=columns)
        for key, columns in days.items()
    ]
    if inputs:
        with rows.open_database_cursor() as cursor:
            cursor.executemany(_SAVE.encode(), inputs)


def build_packed_row(
    *, user_id: int, key: DayKey, columns: DayColumns
) -> dict[str, Any]:
    """Return the columns of users_packedday for the samples of a day."""
    from users.store.packed.codec import (
        VERSION,
        compute_checksum,
        convert_to_datetimes,
        encode_day,
    )

    payload = encode_day(columns, key.day)
    first, last = convert_to_datetimes(columns.ts[[0, -1]])
    return {
        "user_id": user_id,
        **key._asdict(),
        "first": first,
        "last": last,
        "total": float(columns.value.sum()),
        "low": float(columns.value.min()),
        "high": float(columns.value.max()),
        "checksum": compute_checksum(payload),
        "count": len(columns.ts),
        "longest": int(columns.duration.max()),
        "last_tz_offset": int(columns.tz_offset[-1]),
        "codec": VERSION,
        "payload": payload,
    }


def merge_into_packed_days(
    *,
    user_id: int,
    feed: int,
    columns: SampleColumns,
    moments: Sequence[int],
    packed: set[DayKey],
) -> tuple[list[int], set[int]]:
    """Change the samples of a batch that packed days hold; leave equal ones alone.

    Returns the indices of the samples that are held there, ascending, and which of
    them changed. The others are the rows of their days until those are packed again.
    Raises: day_damaged, as nobody could tell what changed.
    """
    import numpy as np

    touched = {
        key: indices
        for key, indices in _group_by_day(columns.series, feed, moments).items()
        if key in packed
    }
    held: list[int] = []
    updated: set[int] = set()
    changed: dict[DayKey, DayColumns] = {}
    for key, day in fetch_packed_days(user_id=user_id, keys=touched).items():
        if day is None:
            raise DayDamaged(**key._asdict())
        indices = np.array(touched[key])
        places, is_held = find_places(
            day, np.array([moments[index] for index in touched[key]], np.int64)
        )
        indices, places = indices[is_held], places[is_held]
        is_changed = np.zeros(len(indices), bool)
        given = []
        for column, name in zip(
            day.all()[1:], ("value", "tz_offset", "duration", "origin"), strict=True
        ):
            sent = getattr(columns, name)
            new = np.array([sent[index] for index in indices], column.dtype)
            old = column[places]
            # As PostgreSQL has it: NaN is NaN, and zero has no sign.
            is_changed |= ~((new == old) | ((new != new) & (old != old)))
            given.append(new)
        held.extend(indices.tolist())
        if is_changed.any():
            updated.update(indices[is_changed].tolist())
            changed[key] = _with_changes(day, places[is_changed], given, is_changed)
    save_packed_days(user_id=user_id, days=changed)
    return sorted(held), updated


def delete_packed_samples(
    *,
    user_id: int,
    feed: int,
    samples: Sequence[tuple[int, int]],
    place: Mapping[str, Any],
) -> int:
    """Delete samples from packed days by (series, microseconds from 2000).

    Raises: day_damaged.
    """
    series = [each for each, _ in samples]
    packed = find_packed_day_keys({**place, "user_id": user_id, "feed": feed}, series)
    if not packed:
        return 0
    import numpy as np

    moments = [moment for _, moment in samples]
    touched = {
        key: indices
        for key, indices in _group_by_day(series, feed, moments).items()
        if key in packed
    }
    removed = 0
    kept: dict[DayKey, DayColumns] = {}
    for key, day in fetch_packed_days(user_id=user_id, keys=touched).items():
        if day is None:
            raise DayDamaged(**key._asdict())
        gone = np.array([moments[index] for index in touched[key]], np.int64)
        left = day.take(~np.isin(day.ts, gone))
        if len(left.ts) == len(day.ts):
            continue
        removed += len(day.ts) - len(left.ts)
        if len(left.ts):
            kept[key] = left
        else:
            with rows.open_database_cursor() as cursor:
                cursor.execute(_DELETE.encode(), [user_id, *key])
    save_packed_days(user_id=user_id, days=kept)
    return removed


def find_places(day: DayColumns, ts: Any) -> tuple[Any, Any]:
    """Return where times stand in a day, and which of them do."""
    places = day.ts.searchsorted(ts)
    places[places == len(day.ts)] = 0
    return places, day.ts[places] == ts


def _with_changes(
    day: DayColumns, places: Any, given: Sequence[Any], which: Any
) -> DayColumns:
    from users.store.packed.codec import DayColumns

    columns = [column.copy() for column in day.all()]
    for column, new in zip(columns[1:], given, strict=True):
        column[places] = new[which]
    return DayColumns(*columns)


def _group_by_day(
    series: Sequence[int], feed: int, moments: Sequence[int]
) -> dict[DayKey, list[int]]:
    from users.store.packed.codec import DAY, convert_to_day

    groups: dict[tuple[int, int], list[int]] = defaultdict(list)
    for index, (number, moment) in enumerate(zip(series, moments, strict=True)):
        groups[number, moment // DAY].append(index)
    return {
        DayKey(number, feed, convert_to_day(day * DAY)): indices
        for (number, day), indices in groups.items()
    }
