from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from accounts.models import Notice
from portal.lib.tenancy import across_tenants
from tests.factories.accounts import ACTOR
from tests.factories.users import make_regular_arrivals, make_user
from users.operations.sources.silence_notices import post_silent_source_notices
from users.operations.sources.sources import connect_source

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
# Of a source heard daily: three days later, data is overdue.
PATIENCE = 3 * DAY


def send_data_daily(tenant, *, until, provider="oura"):
    user = make_user(tenant=tenant)
    connect_source(user=user, actor=ACTOR, provider=provider)
    make_regular_arrivals(user, provider, until)


def notify_silences(time_machine, at):
    time_machine.move_to(at, tick=False)
    with across_tenants(why="a test"):
        return post_silent_source_notices(at=at)


def test_each_silence_is_told_once_and_a_source_once_a_day(
    alice_tenant, charlie_tenant, time_machine
):
    time_machine.move_to(NOON, tick=False)
    for early in (DAY, 2 * DAY):
        send_data_daily(alice_tenant, until=NOON - PATIENCE - early)
    send_data_daily(alice_tenant, until=NOON - PATIENCE - 9 * DAY, provider="fitbit")
    send_data_daily(alice_tenant, until=NOON - PATIENCE + timedelta(hours=1))
    send_data_daily(charlie_tenant, until=NOON)

    first = [notify_silences(time_machine, NOON) for _ in range(2)]
    # The third user's silence begins in between; a day passes without another.
    later = [
        notify_silences(time_machine, NOON + hours * DAY / 24) for hours in (2, 24, 48)
    ]

    assert (first, later) == ([1, 0], [0, 1, 0])
    rows = Notice.objects.for_tenant(alice_tenant).order_by("at")
    assert [(each.at, each.words) for each in rows] == [
        (NOON, "Oura is silent for 2 users."),
        (NOON + DAY, "Oura is silent for 1 user."),
    ]
    assert rows[0].path == ("/t/alice-health/sandbox/users/?source=oura&silence=week")
    assert not Notice.objects.for_tenant(charlie_tenant).exists()
