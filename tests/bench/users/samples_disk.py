"""Bytes of a stored sample, against a narrow row with a covering key in the same run.

Run `python -m tests.bench.users.samples_disk [--samples N]`. The limit is the table of
performance.md 2a': user, resource, source, moment, value and offset, with a key that
includes the last two, filled by the same batches. Must (performance.md section 1): at
most 1.15 of it. In the order of the key it takes 127 bytes; where days of many people
alternate, PostgreSQL leaves the pages of either index half full.
"""

from __future__ import annotations

import argparse
import resource
from datetime import UTC, datetime, timedelta
from random import Random
from typing import TYPE_CHECKING

from tests.bench.stage import database

if TYPE_CHECKING:
    from collections.abc import Iterator

    from users.store.columns import SampleColumns

MUST = 1.15
BATCH = 1440
PEOPLE = {"one person after another": 1, "days of twenty in turn": 20}
START = datetime(2026, 6, 1, tzinfo=UTC)
_NARROW = """
    CREATE TABLE narrow (
        user_id bigint NOT NULL, ts timestamptz NOT NULL, value float8 NOT NULL,
        source integer NOT NULL, tz_offset integer NOT NULL, resource smallint NOT NULL,
        PRIMARY KEY (user_id, resource, source, ts) INCLUDE (value, tz_offset)
    )
"""
_FILL = """
    INSERT INTO narrow (user_id, resource, source, ts, value, tz_offset)
    SELECT %s, 1, 1, given.*, 3600 FROM unnest(%s::timestamptz[], %s::float8[])
        AS given (ts, value)
"""
_SIZES = """
    SELECT sum(pg_relation_size(oid)), sum(pg_indexes_size(oid)) FROM pg_class
    WHERE oid = %(table)s::regclass OR oid IN (
        SELECT inhrelid FROM pg_inherits WHERE inhparent = %(table)s::regclass
    )
"""


def days(number: int, people: int) -> Iterator[tuple[int, SampleColumns]]:
    """Days of minutes, of each of the people in turn."""
    from users.store.columns import SampleColumns

    dice = Random(7)  # noqa: S311 - made-up values
    for index in range(number):
        first = START + index // people * timedelta(days=1)
        yield (
            index % people,
            SampleColumns(
                series=[100] * BATCH,
                ts=[first + minute * timedelta(minutes=1) for minute in range(BATCH)],
                value=[float(dice.randrange(50, 150)) for _ in range(BATCH)],
                tz_offset=[3600] * BATCH,
                duration=[0] * BATCH,
                origin=[1] * BATCH,
            ),
        )


def sizes(number: int, people: list[int]) -> dict[str, tuple[float, float]]:
    """Bytes of heap and of index for one sample, by table."""
    from django.db import connection, transaction

    from users.store.samples import get_sample_store

    found = {}
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE users_sample")
        cursor.execute("DROP TABLE IF EXISTS narrow")
        cursor.execute(_NARROW)
        for place, columns in days(number, len(people)):
            person = people[place]
            with transaction.atomic():
                get_sample_store().write_batch(user_id=person, feed=1, columns=columns)
                cursor.execute(_FILL, [person, columns.ts, columns.value])
        for table in ("users_sample", "narrow"):
            cursor.execute(_SIZES, {"table": table})
            heap, index = map(float, cursor.fetchone())
            found[table] = (heap / number / BATCH, index / number / BATCH)
    return found


def measure(*, samples: int) -> None:
    with database():
        from tests.factories.accounts import make_tenant
        from tests.factories.users import make_user

        tenant = make_tenant(environment="production")
        people = [make_user(tenant=tenant).pk for _ in range(max(PEOPLE.values()))]
        number = max(1, samples // BATCH)
        print(f"{number * BATCH} samples, bytes of each: heap, index, sum")
        for name, several in PEOPLE.items():
            found = sizes(number, people[:several])
            for table, (heap, index) in found.items():
                print(
                    f"{name:26} {table:14} {heap:6.1f} {index:6.1f} {heap + index:6.1f}"
                )
            ours, narrow = map(sum, found.values())
            print(f"{name:26} ratio {ours / narrow:.2f}, must be at most {MUST}")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"memory {memory:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=300_000)
    options = parser.parse_args()
    measure(samples=options.samples)


if __name__ == "__main__":
    main()
