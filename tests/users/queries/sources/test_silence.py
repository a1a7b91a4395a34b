from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.factories.accounts import ACTOR
from tests.factories.users import make_new_nights, make_regular_arrivals, make_user
from tests.statements import count_statements
from users.operations.sources.cadences import update_usual_data_intervals
from users.operations.sources.sources import connect_source, disconnect_source
from users.queries import (
    SilentSource,
    list_sources_gone_silent,
    list_usual_data_intervals,
    search_users,
)
from users.states import Silence

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
# Of a source heard daily: three days later, data is overdue.
PATIENCE = 3 * DAY


@pytest.fixture(autouse=True)
def now(time_machine):
    time_machine.move_to(NOON, tick=False)


def send_data_daily(tenant, *, until, provider="oura", connected=True):
    user = make_user(tenant=tenant)
    if connected:
        connect_source(user=user, actor=ACTOR, provider=provider)
    make_regular_arrivals(user, provider, until)
    return user


def silences(user):
    return {
        (each.provider, each.resource): each.is_silent
        for each in list_usual_data_intervals(user=user)
    }


def test_a_source_is_silent_once_its_data_is_overdue(alice_tenant):
    silent = send_data_daily(alice_tenant, until=NOON - PATIENCE - timedelta(seconds=1))
    in_time = send_data_daily(alice_tenant, until=NOON - PATIENCE)

    (told,) = list_usual_data_intervals(user=silent)
    assert told.is_silent is True
    assert told.usual_gap == DAY
    assert told.due_at == NOON - timedelta(seconds=1)
    assert silences(in_time) == {("oura", "sleep_cycle"): False}


def test_what_came_since_learning_counts(alice_tenant):
    user = send_data_daily(alice_tenant, until=NOON - 9 * DAY)
    make_new_nights(user, "oura", NOON - timedelta(minutes=5))

    (told,) = list_usual_data_intervals(user=user)

    assert told.is_silent is False
    assert told.last_at == NOON - timedelta(minutes=5)
    assert told.due_at == told.last_at + PATIENCE


def test_nothing_is_expected_of_a_source_that_is_gone(alice_tenant):
    user = send_data_daily(alice_tenant, until=NOON - 9 * DAY)
    disconnect_source(user=user, actor=ACTOR, provider="oura")

    assert silences(user) == {("oura", "sleep_cycle"): False}
    assert list_sources_gone_silent(tenant=alice_tenant) == []


def test_the_list_is_narrowed_to_who_is_silent(alice_tenant, charlie_tenant):
    lately = send_data_daily(alice_tenant, until=NOON - PATIENCE - DAY)
    long_ago = send_data_daily(alice_tenant, until=NOON - 30 * DAY, provider="fitbit")
    send_data_daily(alice_tenant, until=NOON)
    send_data_daily(charlie_tenant, until=NOON - PATIENCE - DAY)

    def found(**wanted):
        page = search_users(tenant=alice_tenant, **wanted)
        assert page.total == len(page.users)
        return {each.uuid for each in page.users}

    assert found(silence=Silence.WEEK) == {lately.uuid}
    assert found(silence=Silence.ANY) == {lately.uuid, long_ago.uuid}
    assert found(silence=Silence.ANY, provider="fitbit") == {long_ago.uuid}
    assert found(silence=Silence.WEEK, last_data="not_3_days") == {lately.uuid}


def test_a_silent_source_of_another_name_does_not_count(alice_tenant):
    user = send_data_daily(alice_tenant, until=NOON - 9 * DAY)
    connect_source(user=user, actor=ACTOR, provider="fitbit")

    page = search_users(tenant=alice_tenant, silence=Silence.ANY, provider="fitbit")

    assert page.users == []


def test_sources_that_went_silent_this_week_are_told(alice_tenant, charlie_tenant):
    for days in (4, 5):
        send_data_daily(alice_tenant, until=NOON - days * DAY)
    send_data_daily(alice_tenant, until=NOON - 6 * DAY, provider="fitbit")
    send_data_daily(alice_tenant, until=NOON - 40 * DAY, provider="whoop_v2")
    send_data_daily(charlie_tenant, until=NOON - 4 * DAY)

    assert list_sources_gone_silent(tenant=alice_tenant) == [
        SilentSource("oura", 2, NOON - 2 * DAY),
        SilentSource("fitbit", 1, NOON - 3 * DAY),
    ]


def test_a_user_of_many_series_takes_one_query(alice_tenant):
    user = send_data_daily(alice_tenant, until=NOON)
    for provider in ("fitbit", "garmin"):
        make_new_nights(user, provider, NOON)
    update_usual_data_intervals(tenant=alice_tenant, user_key=user.pk)

    with count_statements() as counted:
        assert len(list_usual_data_intervals(user=user)) == 3
    assert len(counted) == 1
