"""Month partitions of the sample table: one before 2025, then one per UTC month.

There is no default partition: rows in it would block making the month they belong to.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from psycopg import sql
from psycopg.errors import LockNotAvailable

from portal.lib.database import rows

if TYPE_CHECKING:
    from collections.abc import Iterator

# What is older is one partition: little of it arrives, and in any order.
FIRST_MONTH = date(2025, 1, 1)
# Samples may lie two days ahead; the rest is room for a worker that stood still.
MONTHS_AHEAD = 2
_PARENT = "users_sample"
# Of a month whose rows were all packed and vacuumed away, the index is left.
_EMPTY = """
    SELECT inhrelid::regclass::text FROM pg_inherits
    WHERE inhparent = %s::regclass AND pg_relation_size(inhrelid) = 0
        AND pg_indexes_size(inhrelid) > 1024 * 1024
"""
_LOCK_MILLISECONDS = 200

# Months that this process has seen committed.
_known: set[date] = set()


def ensure_sample_partitions(first: date, last: date) -> list[str]:
    """Create the partitions of the months `first` to `last`, inclusive.

    Those that exist are left alone; returns the names of the new ones. May run anywhere
    and at once: attaching blocks neither readers nor writers, and others who make
    months wait for the caller's transaction.
    """
    values = list(_months(first, last))
    if not _missing(values):
        return []
    with transaction.atomic(), rows.open_database_cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('users_sample months'))")
        missing = _missing(values)
        for month in missing:
            cursor.execute("SELECT users_add_sample_month(%s)", [month])
    return [_name(month) for month in missing]


def ensure_partitions_for_batch(first: datetime, last: datetime) -> None:
    """Create the partitions of a batch's months; usually without a query.

    What arrives must not be lost because no worker ran for months.
    """
    months = set(_months(first.astimezone(UTC).date(), last.astimezone(UTC).date()))
    if not months <= _known:
        ensure_sample_partitions(min(months), max(months))
        transaction.on_commit(lambda: _known.update(months))


def ensure_upcoming_sample_partitions() -> list[str]:
    """Create the partitions up to MONTHS_AHEAD from now, by the database's clock."""
    ((today,),) = rows.fetch_rows("SELECT (now() AT TIME ZONE 'UTC')::date")
    last = today
    for _ in range(MONTHS_AHEAD):
        last = _next(last)
    return ensure_sample_partitions(FIRST_MONTH, last)


def drop_space_of_empty_partitions() -> list[str]:
    """Give the index space of emptied months back; return which.

    A month whose table has no page is empty for every reader, however old its snapshot,
    so truncating it takes nothing away. One that is in use is left for the next time.
    """
    cleared = []
    for (name,) in rows.fetch_rows(_EMPTY, [_PARENT]):
        try:
            with transaction.atomic(), rows.open_database_cursor() as cursor:
                cursor.execute(
                    sql.SQL("SET LOCAL lock_timeout = {}").format(
                        sql.Literal(_LOCK_MILLISECONDS)
                    )
                )
                cursor.execute("SELECT users_clear_sample_month(%s)", [name])
                if cursor.fetchone() == (True,):
                    cleared.append(name)
        except LockNotAvailable:
            continue
    return cleared


def find_month_partition_bounds(
    start: datetime, end: datetime
) -> tuple[datetime, datetime]:
    """Return the bounds of the partitions that contain [start, end)."""
    last = (end - timedelta(microseconds=1)).astimezone(UTC).date()
    return _start(start.astimezone(UTC).date()), _start(_next(last))


def _missing(months: list[date]) -> list[date]:
    found = rows.fetch_rows(
        "SELECT inhrelid::regclass::text FROM pg_inherits"
        " WHERE inhparent = %s::regclass",
        [_PARENT],
    )
    names = {name for (name,) in found}
    return [month for month in months if _name(month) not in names]


def _months(first: date, last: date) -> Iterator[date]:
    month = max(first, FIRST_MONTH).replace(day=1)
    while month <= last:
        yield month
        month = _next(month)


def _next(day: date) -> date:
    """Return the first day of the next month."""
    return (day.replace(day=1) + timedelta(days=32)).replace(day=1)


def _start(month: date) -> datetime:
    return datetime(month.year, month.month, 1, tzinfo=UTC)


def _name(month: date) -> str:
    return f"{_PARENT}_{month:%Y_%m}"
