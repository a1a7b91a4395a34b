"""A user's only source is read by one statement, until it is not the only one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction

from tests.factories.samples import put_samples
from tests.factories.users import make_user
from tests.packed import EVER
from users.store import samples as store_samples
from users.store.columns import SampleColumns
from users.store.packed.packing import pack_days_of_user
from users.store.pages import get_sample_page
from users.store.samples import get_sample_store
from users.wearables.timeseries import TIMESERIES

pytestmark = pytest.mark.django_db
START = datetime(2026, 3, 1, tzinfo=UTC)
END = START + timedelta(days=2)


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


@pytest.fixture
def full_reads(monkeypatch):
    """The reads that one statement did not do."""
    kind, made = type(get_sample_store()), []
    read = kind.read_range

    def count(self, **given):
        made.append(given["start"])
        return read(self, **given)

    monkeypatch.setattr(kind, "read_range", count)
    return made


def read_values(user, slug="heartrate", limit=3, **given):
    """Values by provider, read page by page."""
    values: dict[str, list[float]] = {}
    after = None
    while True:
        page = get_sample_page(
            user=user,
            resource=TIMESERIES[slug],
            start=given.get("start", START),
            end=given.get("end", END),
            after=after,
            limit=limit,
        )
        for provider, groups in page.groups.items():
            for group in groups:
                values.setdefault(provider, []).extend(
                    sample["value"] for sample in group["data"]
                )
        after = page.last
        if after is None:
            return values


def put_minutes(user, values, provider="oura", first=0):
    put_samples(
        user,
        "heartrate",
        *(
            (f"2026-03-01 10:{first + minute:02}", 0, value)
            for minute, value in enumerate(values)
        ),
        provider=provider,
    )


def test_the_only_source_is_read_by_one_statement_and_found_anew_when_it_is_not(
    user, full_reads
):
    put_minutes(user, range(60, 68))
    every = [60.0 + each for each in range(8)]

    assert read_values(user) == {"oura": every}  # its first page finds the source
    assert len(full_reads) == 1
    assert read_values(user) == {"oura": every}
    assert read_values(user, limit=8) == {"oura": every}
    assert read_values(user, end=START + timedelta(hours=10, minutes=3)) == {
        "oura": every[:3]
    }
    assert len(full_reads) == 1
    # A later sample and a changed one are there at once.
    put_minutes(user, [70, 71], first=7)
    every[7:] = [70.0, 71.0]
    assert read_values(user) == {"oura": every}
    assert len(full_reads) == 1
    # Another source, before or behind it, within the month or the range.
    put_samples(user, "heartrate", ("2026-03-20 10:00", 0, 99), provider="fitbit")
    assert read_values(user) == {"oura": every}
    put_samples(user, "heartrate", ("2026-03-01 10:01:30", 0, 55), provider="fitbit")
    assert read_values(user) == {"oura": every, "fitbit": [55.0]}
    assert len(full_reads) > 1
    # Where nothing is, nothing is found, whatever was known.
    assert read_values(user, start=END, end=END + timedelta(days=1)) == {}


def test_extras_are_read_in_full(user, full_reads):
    put_minutes(user, range(60, 62))
    for _ in range(2):
        assert read_values(user) == {"oura": [60.0, 61.0]}
    [series] = TIMESERIES["heartrate"].series
    with transaction.atomic():
        get_sample_store().write_batch(
            user_id=user.pk,
            feed=1,
            columns=SampleColumns(
                series=[series],
                ts=[START + timedelta(hours=10, minutes=1)],
                value=[61.0],
                tz_offset=[0],
                duration=[0],
                origin=[0],
                extra={0: {"type": "resting"}},
            ),
        )
    del full_reads[:]

    page = get_sample_page(
        user=user, resource=TIMESERIES["heartrate"], start=START, end=END, limit=9
    )

    [group] = page.groups["oura"]
    assert [sample["type"] for sample in group["data"]] == [None, "resting"]
    assert len(full_reads) == 1


def test_packed_days_are_read_in_full(user, full_reads):
    put_minutes(user, range(60, 65))
    every = [60.0 + each for each in range(5)]
    assert read_values(user) == {"oura": every}
    pack_days_of_user(user_id=user.pk, before=EVER)
    assert read_values(user) == {"oura": every}
    put_minutes(user, [65], first=5)  # as a row beside the packed day
    assert read_values(user) == {"oura": [*every, 65.0]}
    del full_reads[:]
    assert read_values(user, limit=9) == {"oura": [*every, 65.0]}
    assert len(full_reads) == 1


def test_intervals_keep_their_durations_and_origins_their_groups(user, full_reads):
    resource = TIMESERIES["steps"]
    put_samples(user, "steps", ("2026-03-01 10:00", 5, 12), ("2026-03-01 11:00", 60, 7))

    def read():
        return get_sample_page(
            user=user, resource=resource, start=START, end=END, limit=9
        )

    first, second = read(), read()

    assert len(full_reads) == 1
    assert second == first
    [group] = second.groups["oura"]
    assert [(s["end"] - s["start"]).seconds for s in group["data"]] == [300, 3600]


@pytest.mark.django_db(transaction=True)
def test_outside_a_transaction_it_is_read_along_indexes_and_nothing_stays_set(
    alice_tenant, full_reads
):
    user = make_user(tenant=alice_tenant)
    put_minutes(user, range(60, 66))
    every = [60.0 + each for each in range(6)]
    for _ in range(3):
        assert read_values(user) == {"oura": every}
    assert len(full_reads) == 1
    shown = store_samples.rows.fetch_rows(
        "SELECT current_setting('plan_cache_mode'), current_setting('enable_sort')"
    )
    assert shown == [("auto", "on")]
    with transaction.atomic():
        assert read_values(user) == {"oura": every}
