from __future__ import annotations

from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from portal.lib.tenancy import across_tenants
from tests.factories.samples import put_samples
from tests.factories.users import make_new_nights, make_user
from users.models import Sample
from users.operations.packing import pack_closed_days
from users.store.packed import packing
from users.store.packed.packing import Packed

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("arrived", "days"), [(timedelta(hours=1), 1), (timedelta(hours=49), 6)]
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
        packed = pack_closed_days(now=now)

    assert packed == Packed(days, days)


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
