from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from threading import Barrier

import pytest
from django.db import connection

from tests.factories.users import make_user
from users import jobs
from users.store import partitions
from users.store.columns import SampleColumns
from users.store.partitions import (
    FIRST_MONTH,
    MONTHS_AHEAD,
    ensure_partitions_for_batch,
    ensure_sample_partitions,
    find_month_partition_bounds,
)
from users.store.samples import get_sample_store

pytestmark = pytest.mark.django_db
TICK = timedelta(microseconds=1)
FIRST_MONTH_STARTS = datetime(2025, 1, 1, tzinfo=UTC)


def fetch(query, *inputs):
    with connection.cursor() as cursor:
        cursor.execute(query, inputs)
        return cursor.fetchall()


def names():
    return {
        name
        for (name,) in fetch(
            "SELECT inhrelid::regclass::text FROM pg_inherits"
            " WHERE inhparent = 'users_sample'::regclass"
        )
    }


def test_months_from_2025_to_some_ahead_are_there_from_the_start():
    ((now,),) = fetch("SELECT now() AT TIME ZONE 'UTC'")
    number = (now.year - FIRST_MONTH.year) * 12 + now.month + MONTHS_AHEAD

    found = names()

    assert len(found) == number + 1
    assert {"users_sample_before_2025", "users_sample_2025_01"} <= found
    assert f"users_sample_{now:%Y_%m}" in found


def test_months_are_made_once():
    before = names()

    made = ensure_sample_partitions(date(2090, 11, 30), date(2091, 1, 1))
    again = ensure_sample_partitions(date(2090, 12, 24), date(2091, 1, 31))

    assert made == [
        f"users_sample_{month}" for month in ("2090_11", "2090_12", "2091_01")
    ]
    assert again == []
    assert names() == before | set(made)


def test_what_is_older_than_2025_needs_no_month():
    assert ensure_sample_partitions(date(1990, 1, 1), date(2024, 12, 31)) == []


def test_a_sample_lies_in_its_month_of_utc(alice_tenant):
    user = make_user(tenant=alice_tenant)
    edge = datetime(2026, 2, 1, tzinfo=UTC)
    moments = [FIRST_MONTH_STARTS - TICK, FIRST_MONTH_STARTS, edge - TICK, edge]

    get_sample_store().write_batch(
        user_id=user.pk,
        feed=1,
        columns=SampleColumns([1] * 4, moments, [1.0] * 4, [0] * 4, [0] * 4, [0] * 4),
    )

    # Of a distributed table it is a shard, whose number comes last.
    found = fetch(
        "SELECT regexp_replace(tableoid::regclass::text, '_[0-9]{6}$', ''), ts"
        " FROM users_sample ORDER BY ts"
    )
    assert found == [
        ("users_sample_before_2025", moments[0]),
        ("users_sample_2025_01", moments[1]),
        ("users_sample_2026_01", moments[2]),
        ("users_sample_2026_02", moments[3]),
    ]


def test_a_month_is_covered_by_its_key_and_vacuumed_early():
    (month,) = ensure_sample_partitions(date(2091, 5, 1), date(2091, 5, 1))

    ((definition,),) = fetch(
        "SELECT pg_get_indexdef(indexrelid) FROM pg_index"
        " WHERE indrelid = %s::regclass",
        month,
    )
    ((options,),) = fetch(
        "SELECT reloptions FROM pg_class WHERE oid = %s::regclass", month
    )

    assert definition.endswith(
        "(user_id, series, feed, ts) INCLUDE (value, tz_offset, origin, duration)"
    )
    assert options == ["autovacuum_vacuum_insert_scale_factor=0.02"]


def test_months_of_a_batch_are_asked_for_until_they_are_committed(
    monkeypatch, django_capture_on_commit_callbacks
):
    monkeypatch.setattr(partitions, "_known", set())
    moment = datetime(2091, 7, 3, tzinfo=UTC)

    with django_capture_on_commit_callbacks(execute=True):
        ensure_partitions_for_batch(moment, moment)
        names = set(partitions._known)
    ensure_partitions_for_batch(moment, moment)

    assert names == set()
    assert partitions._known == {date(2091, 7, 1)}
    assert ensure_sample_partitions(moment.date(), moment.date()) == []


def test_bounds_are_those_of_whole_months():
    noon = datetime(2026, 2, 14, 12, tzinfo=UTC)
    march, april = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)

    assert find_month_partition_bounds(noon, march) == (
        datetime(2026, 2, 1, tzinfo=UTC),
        march,
    )
    assert find_month_partition_bounds(noon, march + TICK) == (
        datetime(2026, 2, 1, tzinfo=UTC),
        april,
    )


def test_the_daily_job_makes_what_is_missing():
    ((now,),) = fetch("SELECT now() AT TIME ZONE 'UTC'")
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE users_sample_{now:%Y_%m}")
    before = names()

    jobs.create_upcoming_sample_partitions()
    jobs.create_upcoming_sample_partitions()

    assert names() - before == {f"users_sample_{now:%Y_%m}"}


@pytest.mark.django_db(transaction=True)
def test_two_can_make_the_same_months_at_once():
    together = Barrier(2)

    def make(_):
        together.wait(20)
        try:
            return ensure_sample_partitions(date(2092, 1, 1), date(2092, 3, 1))
        finally:
            connection.close()

    try:
        with ThreadPoolExecutor(2) as pool:
            made = list(pool.map(make, range(2)))
        found = names()
    finally:
        for month in ("01", "02", "03"):
            with connection.cursor() as cursor:
                cursor.execute(f"DROP TABLE IF EXISTS users_sample_2092_{month}")

    assert sorted(map(len, made)) == [0, 3]
    assert {f"users_sample_2092_0{n}" for n in (1, 2, 3)} <= found
