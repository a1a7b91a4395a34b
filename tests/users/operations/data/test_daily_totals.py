"""Totals of days, worked out of samples."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from users.models import Summary
from users.operations.data.daily_totals import (
    enqueue_daily_totals,
    update_daily_totals_of_tenant,
)
from users.operations.data.samples import SampleBatch, record_samples
from users.operations.data.summaries import SummaryBatch, record_summaries
from users.wearables.summaries import ACTIVITY
from users.wearables.timeseries import TIMESERIES

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 9, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _now(time_machine):
    time_machine.move_to(NOW, tick=False)


def push(user, provider, source_type, start, minutes, value, slug="steps"):
    begins = datetime.fromisoformat(start)
    element = {"value": value, "start": begins.isoformat()}
    element["end"] = (begins + timedelta(minutes=minutes)).isoformat()
    batch = SampleBatch(provider, [element], source_type)
    record_samples(user=user, actor=ACTOR, resource=TIMESERIES[slug], batch=batch)


def activity(api, user):
    reply = api.get(
        f"/v2/summary/activity/{user.uuid}?start_date=2026-01-01&end_date=2026-03-10"
    )
    return {
        (each["calendar_date"], each["source"]["provider"]): (
            each["steps"],
            each["distance"],
        )
        for each in reply.json()["activity"]
    }


def test_days_of_a_source_that_sends_samples_alone_have_activity(
    alice_api, alice_tenant, time_machine
):
    user = make_user(tenant=alice_tenant, fallback_time_zone="America/New_York")
    push(user, "health_connect", "watch", "2026-03-08T15:00:00+00:00", 60, 600)
    # The same hour on the phone counts once, the next hour does.
    push(user, "health_connect", "phone", "2026-03-08T15:00:00+00:00", 120, 800)
    # Before midnight in New York.
    push(user, "health_connect", "watch", "2026-03-09T03:00:00+00:00", 30, 50)
    push(user, "health_connect", "watch", "2026-01-05T15:00:00+00:00", 10, 7)
    push(
        user, "health_connect", "watch", "2026-03-08T15:00:00+00:00", 60, 420.5,
        "distance",
    )  # fmt: skip
    push(user, "oura", "ring", "2026-03-08T15:00:00+00:00", 60, 600)
    assert activity(alice_api, user) == {}

    assert enqueue_daily_totals() == 1
    assert update_daily_totals_of_tenant(tenant=alice_tenant) == 1

    assert activity(alice_api, user) == {
        ("2026-01-05", "health_connect"): (7, None),
        ("2026-03-08", "health_connect"): (1050, 420.5),
    }
    before = list(Summary.objects.for_tenant(alice_tenant).values())
    assert update_daily_totals_of_tenant(tenant=alice_tenant) == 1
    assert list(Summary.objects.for_tenant(alice_tenant).values()) == before

    push(user, "health_connect", "watch", "2026-03-08T20:00:00+00:00", 10, 100)
    update_daily_totals_of_tenant(tenant=alice_tenant)
    assert activity(alice_api, user)["2026-03-08", "health_connect"][0] == 1150
    time_machine.shift(timedelta(hours=1))
    assert enqueue_daily_totals() == 0
    assert update_daily_totals_of_tenant(tenant=alice_tenant) == 0


def test_a_total_that_a_source_sent_stays(alice_api, alice_tenant):
    user = make_user(tenant=alice_tenant)
    element = {"calendar_date": "2026-03-08", "steps": 9000}
    record_summaries(
        user=user,
        actor=ACTOR,
        resource=ACTIVITY,
        batch=SummaryBatch("health_connect", [element]),
    )
    push(user, "health_connect", "watch", "2026-03-08T15:00:00+00:00", 60, 600)
    push(
        user, "health_connect", "watch", "2026-03-08T15:00:00+00:00", 60, 400,
        "distance",
    )  # fmt: skip

    update_daily_totals_of_tenant(tenant=alice_tenant)

    assert activity(alice_api, user) == {("2026-03-08", "health_connect"): (9000, 400)}
