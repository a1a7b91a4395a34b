from __future__ import annotations

from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from portal.lib.tenancy import across_tenants
from tests.factories.samples import put_samples
from tests.factories.users import make_new_nights, make_user
from tests.outbox import emitted
from tests.packed import EVER, list_samples
from users.models import PackedDay, Sample
from users.operations.packing import pack_closed_days, pack_part_of_turn
from users.store.packed import packing
from users.store.packed.candidates import PARTS, TURNS
from users.store.packed.packing import Packed, pack_days_of_user

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("arrived", "days"), [(timedelta(hours=1), 2), (timedelta(hours=49), 6)]
)
def test_closed_days_of_quiet_users_are_packed_and_of_others_after_a_week(
    alice_tenant, arrived, days
):
    user = make_user(tenant=alice_tenant)
    now = datetime(2026, 3, 9, 20, tzinfo=UTC)
    make_new_nights(user, "oura", now - arrived)
    days_of_march = [(f"2026-03-{day:02}T12:00", 0, 60) for day in range(1, 10)]
    put_samples(user, "heartrate", *days_of_march)

    with across_tenants(why="as the job"):
        others = pack_closed_days(now=now, turn=(user.pk + 1) % 24)
        packed = pack_closed_days(now=now, turn=user.pk % 24)

    assert others == Packed()
    assert packed == Packed(days, days)


def test_each_user_is_packed_by_one_of_the_four_jobs_of_an_hour(alice_tenant):
    """Whichever part a job has on a day, the four together have every user once."""
    now = datetime(2026, 3, 20, 9, 7, tzinfo=UTC)
    users = [make_user(tenant=alice_tenant) for _ in range(2 * TURNS)]
    of_the_hour = [user for user in users if user.pk % TURNS == now.hour]
    for user in users:
        put_samples(user, "heartrate", ("2026-03-01T12:00", 0, 60))

    with across_tenants(why="as the jobs"):
        packed = [pack_part_of_turn(now=now, number=number) for number in range(PARTS)]
        again = [pack_part_of_turn(now=now, number=number) for number in range(PARTS)]

    assert sorted(each.samples for each in packed) == [0, 0, 1, 1]
    assert sum(each.days for each in again) == 0
    assert set(PackedDay.objects.values_list("user_id", flat=True)) == {
        user.pk for user in of_the_hour
    }


@pytest.mark.parametrize(("minute", "days"), [(51, 1), (53, 0)])
def test_packing_ends_before_the_hour_does(alice_tenant, minute, days):
    user = make_user(tenant=alice_tenant)
    put_samples(user, "heartrate", ("2026-03-01T12:00", 0, 60))
    now = datetime(2026, 3, 20, user.pk % TURNS, minute, tzinfo=UTC)

    with across_tenants(why="as the jobs"):
        packed = [pack_part_of_turn(now=now, number=number) for number in range(PARTS)]

    assert sum(each.days for each in packed) == days


def test_another_part_of_the_users_is_first_each_day(alice_tenant):
    """A single worker runs the four jobs in the same order each hour."""
    user = make_user(tenant=alice_tenant)
    first = set()
    for day in range(20, 20 + PARTS):
        put_samples(user, "heartrate", (f"2026-02-{day}T12:00", 0, 60))
        now = datetime(2026, 3, day, user.pk % TURNS, 7, tzinfo=UTC)
        with across_tenants(why="as the jobs"):
            first |= {
                number
                for number in range(PARTS)
                if pack_part_of_turn(now=now, number=number).samples
            }

    assert first == set(range(PARTS))


def test_steps_of_the_clock_lose_and_double_nothing(alice_tenant):
    """A clock a year ahead packs today; one a year behind finds nothing to pack."""
    user = make_user(tenant=alice_tenant)
    now, year = datetime(2026, 3, 9, 20, tzinfo=UTC), timedelta(days=365)
    put_samples(
        user, "heartrate", *[(f"2026-03-0{day}T12:00", 0, 60) for day in (1, 8, 9)]
    )
    stored = list_samples(user.pk)

    with across_tenants(why="as the job"):
        ahead = pack_closed_days(now=now + year)
        packed = list_samples(user.pk)
        put_samples(user, "heartrate", ("2026-03-09T21:00", 0, 61))  # today goes on
        behind = pack_closed_days(now=now - year)
        put_samples(
            user, "heartrate", ("2026-03-09T12:00", 0, 62), ("2026-03-09T21:00", 0, 61)
        )
        today = pack_closed_days(now=now)
        later = pack_closed_days(now=now + timedelta(days=8))

    assert ahead == Packed(3, 3)
    assert packed == stored
    assert behind == today == Packed()
    assert later == Packed(1, 1)
    assert not Sample.objects.exists()
    last = stored[-1]
    assert list_samples(user.pk) == [
        *stored[:-1],
        last._replace(value=62.0),
        last._replace(ts=datetime(2026, 3, 9, 21, tzinfo=UTC), value=61.0),
    ]


def test_a_full_disk_keeps_the_rows_and_stops_nobody_else(alice_tenant, monkeypatch):
    """The first user's packed days find no room; the second's are packed."""
    users = [make_user(tenant=alice_tenant) for _ in range(2)]
    for user in users:
        put_samples(user, "heartrate", ("2026-03-01T12:00", 0, 60))
    save = packing.save_packed_days

    def fill_disk(*, user_id, days):
        if user_id == users[0].pk:
            raise psycopg.errors.DiskFull
        save(user_id=user_id, days=days)

    monkeypatch.setattr(packing, "save_packed_days", fill_disk)

    with across_tenants(why="as the job"):
        packed = pack_closed_days(now=datetime(2026, 3, 20, tzinfo=UTC))

    assert packed == Packed(1, 1)
    assert Sample.objects.get().user_id == users[0].pk


def test_a_damaged_day_is_refused_by_name_and_never_left_out(
    alice_tenant, alice_api, alice_web, time_machine
):
    time_machine.move_to(datetime(2026, 3, 3, 12, tzinfo=UTC), tick=False)
    user = make_user(tenant=alice_tenant)
    put_samples(
        user, "heartrate", ("2026-03-01T12:00", 0, 60), ("2026-03-02T12:00", 0, 61)
    )
    pack_days_of_user(user_id=user.pk, before=EVER)
    PackedDay.objects.filter(day="2026-03-01").update(payload=b"d")
    place = f"/v2/timeseries/{user.uuid}/heartrate"
    late = {"value": 70, "timestamp": "2026-03-01T12:00:00+00:00"}
    slug = f"/t/{alice_tenant.team.slug}/{alice_tenant.environment}"

    refused = [
        alice_api.get(f"{place}/grouped", {"start_date": "2026-03-01"}),
        alice_api.post(place, {"provider": "oura", "data": [late]}),
    ]
    alice_web.raise_request_exception = False
    page = alice_web.get(f"{slug}/users/{user.uuid}/explorer/?series=heartrate")
    rest = alice_api.get(f"{place}/grouped", {"start_date": "2026-03-02"})

    assert [(each.status_code, each.json()["code"]) for each in refused] == [
        (503, "day_damaged")
    ] * 2
    assert {each.json()["day"] for each in refused} == {"2026-03-01"}
    assert not any(each.has_header("Retry-After") for each in refused)
    assert (page.status_code, "2026-03-01" in page.text) == (503, True)
    assert rest.json()["groups"]["oura"][0]["data"][0]["value"] == 61
    assert emitted(alice_tenant) == []
    assert not Sample.objects.exists()
