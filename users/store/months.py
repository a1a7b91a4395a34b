"""Whole months of samples: a user's as columns, and a mark of what changed in any.

Beside the store (samples) in the same tables, for exports that copy all there is: row
by row that would take ten times as long.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from portal.lib.database import rows
from portal.lib.database.months import MonthMark
from users.store.locks import note_user_of_samples

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from users.store.packed.codec import DayColumns

# The rows of each series and feed as five arrays, end to end, and packed days as they
# are: in one statement, as packing may move samples in between two.
_SAMPLES = """
    SELECT series, feed, NULL::date, count(*), NULL::smallint, NULL::integer,
        string_agg(timestamptz_send(ts), ''), string_agg(float8send(value), ''),
        string_agg(int4send(tz_offset), ''), string_agg(int4send(duration), ''),
        string_agg(int4send(origin), '')
    FROM (
        SELECT series, feed, ts, value, tz_offset, duration, origin FROM users_sample
        WHERE user_id = %(user_id)s AND ts >= %(start)s AND ts < %(end)s
        ORDER BY series, feed, ts
    ) sample
    GROUP BY series, feed
    UNION ALL
    SELECT series, feed, day, count, codec, checksum, payload, NULL, NULL, NULL, NULL
    FROM users_packedday
    WHERE user_id = %(user_id)s AND day >= (%(start)s AT TIME ZONE 'UTC')::date
        AND day < (%(end)s AT TIME ZONE 'UTC')::date
"""
_EXTRAS = """
    SELECT series, feed, ts, extra FROM users_sampleextra
    WHERE user_id = %(user_id)s AND ts >= %(start)s AND ts < %(end)s
"""
# Of a packed day its checksum stands for all samples. A table is passed over once, as
# each look by month or user would be one of its own, and before users are joined, who
# may be on another machine.
_MARKS = """
    WITH found AS MATERIALIZED (
        SELECT user_id, month, sum(number) AS number, bit_xor(mark) AS mark FROM (
            SELECT user_id, date_trunc('month', day::timestamp)::date AS month,
                count AS number, hash_record_extended(ROW(
                    user_id, series, feed, day, count, checksum, total, low, high
                ), 0) AS mark
            FROM users_packedday WHERE day < (%(before)s AT TIME ZONE 'UTC')::date
            UNION ALL
            SELECT user_id, date_trunc('month', ts AT TIME ZONE 'UTC')::date, 1,
                hash_record_extended(ROW(
                    user_id, series, feed, ts, value, tz_offset, duration, origin
                ), 0)
            FROM users_sample WHERE ts < %(before)s
            UNION ALL
            SELECT user_id, date_trunc('month', ts AT TIME ZONE 'UTC')::date, 0,
                hash_record_extended(ROW(user_id, series, feed, ts, extra), 0)
            FROM users_sampleextra WHERE ts < %(before)s
        ) each
        GROUP BY user_id, month
    )
    SELECT person.tenant_id, left(person.uuid::text, 2), month,
        sum(number)::bigint, bit_xor(mark)
    FROM found
    JOIN users_user person ON person.id = user_id AND person.deleted_at IS NULL
    GROUP BY 1, 2, 3
"""
_KINDS = (">i8", ">f8", ">i4", ">i4", ">i4")


class SeriesColumns(NamedTuple):
    """A user's samples of one series and feed, ascending by time.

    `extras` are the extra fields of the few that have any, by index.
    """

    series: int
    feed: int
    columns: DayColumns
    extras: Mapping[int, dict[str, Any]]


def iterate_sample_columns(
    *, user_id: int, start: datetime, end: datetime
) -> Iterator[SeriesColumns]:
    """Yield a user's samples of [start, end), by series and feed.

    Both are starts of UTC days. What is of the user in that time is held in memory.
    Raises: day_damaged.
    """
    note_user_of_samples(user_id)
    inputs = {"user_id": user_id, "start": start, "end": end}
    found = rows.fetch_rows(_SAMPLES, inputs)
    if not found:
        return
    extras: dict[tuple[int, int], dict[datetime, dict[str, Any]]] = {}
    for series, feed, ts, extra in rows.fetch_rows(_EXTRAS, inputs):
        extras.setdefault((series, feed), {})[ts] = extra
    found.sort(key=itemgetter(0, 1))
    for (series, feed), parts in groupby(found, key=itemgetter(0, 1)):
        columns = _join_parts(series, feed, parts)
        indices = _find_extras(columns, extras.get((series, feed), {}))
        yield SeriesColumns(series, feed, columns, indices)


def find_sample_marks(*, before: datetime) -> list[MonthMark]:
    """Return the marks of months (UTC) with samples before a time, of live users.

    Over all tenants. A sample that is new, changed or gone changes its month's.
    """
    return [MonthMark(*row) for row in rows.fetch_rows(_MARKS, {"before": before})]


def _join_parts(series: int, feed: int, parts: Iterator[Any]) -> DayColumns:
    import numpy as np

    from users.store.packed.codec import CorruptDayError, DayColumns, decode_day
    from users.store.packed.damage import DayDamaged

    days: list[DayColumns] = []
    for _, _, day, count, codec, checksum, payload, *rest in parts:
        if day is None:
            arrays = (
                np.frombuffer(data, kind).astype(np.dtype(kind).newbyteorder("="))
                for data, kind in zip((payload, *rest), _KINDS, strict=True)
            )
            days.append(DayColumns(*arrays))
            continue
        try:
            days.append(
                decode_day(
                    payload, day=day, count=count, codec=codec, checksum=checksum
                )
            )
        except CorruptDayError as error:
            raise DayDamaged(series=series, feed=feed, day=day) from error
    joined = DayColumns(
        *(np.concatenate(each) for each in zip(*(d.all() for d in days), strict=True))
    )
    if (joined.ts[1:] > joined.ts[:-1]).all():
        return joined
    return joined.take(np.argsort(joined.ts, kind="stable"))


def _find_extras(
    columns: DayColumns, extras: Mapping[datetime, dict[str, Any]]
) -> dict[int, dict[str, Any]]:
    if not extras:
        return {}
    moments = rows.convert_to_postgres_microseconds(extras)
    places = columns.ts.searchsorted(moments)
    return {
        int(place): extra
        for place, moment, extra in zip(places, moments, extras.values(), strict=True)
        if place < len(columns.ts) and columns.ts[place] == moment
    }
