from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.factories.samples import put_samples
from tests.factories.streams import make_stream, make_workout
from tests.factories.users import make_user
from tests.packed import list_samples
from users.models import Summary, WorkoutStream
from users.operations import retention
from users.operations.retention import (
    count_expired_samples,
    count_expired_summaries,
    delete_expired_samples,
    delete_expired_summaries,
)

pytestmark = pytest.mark.django_db
BEFORE = datetime(2026, 3, 15, 12, tzinfo=UTC)


@pytest.mark.usefixtures("both_ways")
def test_samples_of_whole_months_go_in_steps(alice_tenant, charlie_tenant, monkeypatch):
    monkeypatch.setattr(retention, "_SAMPLES", 2)
    users = [make_user(tenant=alice_tenant), make_user(tenant=charlie_tenant)]
    moments = ("2024-05-01", "2026-01-31", "2026-02-28", "2026-03-01", "2026-03-20")
    for user in users:
        put_samples(user, "heartrate", *((at, 0, 60) for at in moments))

    aged = count_expired_samples(alice_tenant, BEFORE)
    removed = list(delete_expired_samples(alice_tenant, BEFORE))

    assert (aged.number, aged.oldest) == (3, datetime(2024, 5, 1, tzinfo=UTC))
    assert removed == [2, 1]
    left = [f"{row[0]:%Y-%m-%d}" for row in list_samples(users[0].pk)]
    assert left == ["2026-03-01", "2026-03-20"]
    assert len(list_samples(users[1].pk)) == len(moments)


def test_old_summaries_go_with_their_streams(alice_tenant, charlie_tenant):
    days = {"time_start": "2026-03-15T08:00:00+00:00"}
    days["time_end"] = "2026-03-15T09:00:00+00:00"
    user, other = make_user(tenant=alice_tenant), make_user(tenant=charlie_tenant)
    for each in (user, other):
        make_stream(make_workout(each))
    make_workout(user, **days, id="later")

    aged = count_expired_summaries(alice_tenant, BEFORE)
    removed = list(delete_expired_summaries(alice_tenant, BEFORE))

    assert (aged.number, removed) == (1, [1])
    (kept,) = Summary.objects.for_tenant(alice_tenant)
    assert f"{kept.calendar_date}" == "2026-03-15"
    assert not WorkoutStream.objects.for_tenant(alice_tenant).exists()
    assert WorkoutStream.objects.for_tenant(charlie_tenant).count() == 1
