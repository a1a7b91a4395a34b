"""Packing: move closed days of a user from rows to packed days.

Each step is one transaction under the user's lock: read the rows, write the packed
days, read those back and compare to the bit, only then delete the rows. What is killed
in between has changed nothing, and the next run finds the same rows again.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from django.db import transaction

from portal.lib.database import rows
from portal.lib.errors import NotFound
from users.store.locks import lock_samples_of_user
from users.store.packed.codec import (
    DAY,
    DayColumns,
    convert_to_datetimes,
    convert_to_day,
    join_days,
)
from users.store.packed.days import DayKey, fetch_packed_days, save_packed_days

if TYPE_CHECKING:
    from numpy.typing import NDArray

logger = logging.getLogger(__name__)

# Rows of one step: the user's batches wait a tenth of a second. A day with more stays
# rows, as each page of it would unpack the whole; one sample a second is 86 400.
STEP_ROWS = 100_000
# One row of five columns, their values end to end: row by row, the driver alone takes
# three times as long as all the rest, and seven arrays cost PostgreSQL twice as much.
# Series and feed share an integer, offset and duration another, the lower part from 0.
_ROWS = """
    SELECT string_agg(int4send(series * 65536 + (feed + 32768)), ''),
        string_agg(timestamptz_send(ts), ''), string_agg(float8send(value), ''),
        string_agg(int8send(
            tz_offset * 4294967296 + duration + 2147483648
        ), ''), string_agg(int4send(origin), '')
    FROM (
        SELECT series, feed, ts, value, tz_offset, duration, origin FROM users_sample
        WHERE user_id = %(user)s AND ts < %(before)s
            AND (series, feed, ts) > (%(after_series)s, %(after_feed)s, %(after_ts)s)
        ORDER BY series, feed, ts LIMIT %(limit)s
    ) sample
"""
_DELETE = """
    DELETE FROM users_sample
    WHERE user_id = %(user)s AND ts < %(before)s AND ts >= %(first)s AND ts <= %(last)s
        AND (series, feed, ts) > (%(after_series)s, %(after_feed)s, %(after_ts)s)
        AND (series, feed, ts) <= (%(series)s, %(feed)s, %(ts)s)
"""
_LOWEST = (-(2**15), -(2**15), "-infinity")
_KINDS = (">i4", ">i8", ">f8", ">i8", ">i4")


class PackingFailedError(Exception):
    """What was packed does not read back as it was; nothing was changed."""


@dataclass(frozen=True, slots=True)
class Packed:
    """What was packed: days that were written, and samples that moved."""

    days: int = 0
    samples: int = 0


class _Rows(NamedTuple):
    """Columns of rows in the order of the key; `ts` in microseconds from 2000."""

    series: NDArray[np.int16]
    feed: NDArray[np.int16]
    ts: NDArray[np.int64]
    value: NDArray[np.float64]
    tz_offset: NDArray[np.int32]
    duration: NDArray[np.int32]
    origin: NDArray[np.int32]

    def take(self, which: slice) -> _Rows:
        """Return the rows of a slice."""
        columns: list[Any] = [column[which] for column in self]
        return _Rows(*columns)


# Where a step goes on: behind this series, feed and time.
_Place = tuple[int, int, Any]


def pack_days_of_user(*, user_id: int, before: datetime) -> Packed:
    """Pack a user's samples before the start of a UTC day, in steps.

    A sample whose day is packed joins it; a day that is corrupt or holds more than
    STEP_ROWS stays as it is. Raises: PackingFailedError.
    """
    after: _Place | None = _LOWEST
    days = samples = 0
    while after is not None:
        with transaction.atomic():
            try:
                lock_samples_of_user(user_id)
            except NotFound:  # erased meanwhile
                break
            packed, after = _pack_step(user_id, before, after)
        days += packed.days
        samples += packed.samples
    return Packed(days, samples)


def _pack_step(
    user_id: int, before: datetime, after: _Place
) -> tuple[Packed, _Place | None]:
    """Pack a part; return it, and where to go on, None at the end."""
    read = _read_rows(user_id, before, after)
    is_last = len(read.ts) <= STEP_ROWS
    bounds = _find_days(read)
    if not is_last and len(bounds) > 1:
        bounds = bounds[:-1]  # it goes on behind what was read
    elif not is_last:
        key = _key(read, bounds[0])
        logger.warning("more than %d samples in a day stay rows", STEP_ROWS)
        return Packed(), _behind(key)
    if not bounds:
        return Packed(), None
    found = fetch_packed_days(
        user_id=user_id, keys=[_key(read, each) for each in bounds]
    )
    days: dict[DayKey, DayColumns] = {}
    end, skipped = 0, None
    for each in bounds:
        key = _key(read, each)
        columns = DayColumns(*read.take(each)[2:])
        if key in found:
            older = found[key]
            if older is None or len(older.ts) + len(columns.ts) > STEP_ROWS:
                logger.error("a packed day of user %d is corrupt or full", user_id)
                skipped = key
                break
            columns = join_days(older, columns)
        days[key] = columns
        end = each.stop
    if end:
        _move(user_id, before, after, read.take(slice(end)), days)
    if skipped:
        return Packed(len(days), end), _behind(skipped)
    return Packed(len(days), end), None if is_last else _last(read.take(slice(end)))


def _move(
    user_id: int,
    before: datetime,
    after: _Place,
    read: _Rows,
    days: dict[DayKey, DayColumns],
) -> None:
    save_packed_days(user_id=user_id, days=days)
    back = fetch_packed_days(user_id=user_id, keys=days)
    for key, columns in days.items():
        stored = back.get(key)
        if stored is None or not stored.equals(columns):
            raise PackingFailedError(f"user {user_id}, {key.day}")
    series, feed, ts = _last(read)
    first, last = convert_to_datetimes(np.array([read.ts.min(), read.ts.max()]))
    bounds = {"first": first, "last": last, "series": series, "feed": feed, "ts": ts}
    with rows.open_database_cursor() as cursor:
        cursor.execute(_DELETE.encode(), _place(user_id, before, after) | bounds)
        if cursor.rowcount != len(read.ts):
            raise PackingFailedError(f"user {user_id}: {cursor.rowcount} rows left")


def _read_rows(user_id: int, before: datetime, after: _Place) -> _Rows:
    """Return a user's rows in the order of the key, one more than a step's."""
    ((*columns,),) = rows.fetch_rows(
        _ROWS, _place(user_id, before, after) | {"limit": STEP_ROWS + 1}
    )
    branch, ts, value, times, origin = map(_parse_column, columns, _KINDS)
    return _Rows(
        series=(branch >> 16).astype(np.int16),
        feed=((branch & 0xFFFF) - 2**15).astype(np.int16),
        ts=ts,
        value=value,
        tz_offset=(times >> 32).astype(np.int32),
        duration=((times & 0xFFFFFFFF) - 2**31).astype(np.int32),
        origin=origin,
    )


def _parse_column(data: bytes | None, kind: str) -> NDArray[Any]:
    return np.frombuffer(data or b"", kind).astype(np.dtype(kind).newbyteorder("="))


def _place(user_id: int, before: datetime, after: _Place) -> dict[str, Any]:
    names = ("after_series", "after_feed", "after_ts")
    return {"user": user_id, "before": before, **dict(zip(names, after, strict=True))}


def _find_days(read: _Rows) -> list[slice]:
    """Return the slices of one series, feed and UTC day each."""
    if not len(read.ts):
        return []
    differs = (
        (np.diff(read.ts // DAY) != 0)
        | (np.diff(read.series) != 0)
        | (np.diff(read.feed) != 0)
    )
    edges = [0, *(np.flatnonzero(differs) + 1).tolist(), len(read.ts)]
    return [slice(first, after) for first, after in pairwise(edges)]


def _key(read: _Rows, where: slice) -> DayKey:
    place = where.start
    return DayKey(
        int(read.series[place]),
        int(read.feed[place]),
        convert_to_day(int(read.ts[place])),
    )


def _last(read: _Rows) -> _Place:
    (ts,) = convert_to_datetimes(read.ts[-1:])
    return int(read.series[-1]), int(read.feed[-1]), ts


def _behind(key: DayKey) -> _Place:
    end = datetime(key.day.year, key.day.month, key.day.day, 23, 59, 59, 999_999, UTC)
    return key.series, key.feed, end
