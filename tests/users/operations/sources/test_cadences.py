from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.factories.accounts import ACTOR
from tests.factories.users import make_new_nights, make_user
from users.models import Cadence
from users.operations.sources.cadences import (
    GAPS_KEPT,
    enqueue_learning_of_data_intervals,
    update_usual_data_intervals,
)
from users.operations.sources.sources import connect_source, disconnect_source
from users.operations.users.users import delete_user, erase_user

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


@pytest.fixture
def user(alice_tenant, time_machine):
    time_machine.move_to(NOON, tick=False)
    return make_user(tenant=alice_tenant)


def learn_cadence(user):
    kept = Cadence.objects.for_tenant(user.tenant).filter(user=user)
    return {
        (each.provider, each.resource): (each.last_at, each.usual_gap, each.due_at)
        for each in kept
    }


def test_the_usual_gap_is_the_median_of_pauses_and_patience_a_multiple_of_it(user):
    for ago in (20, 17, 13, 10, 7):  # pauses of 3, 4, 3 and 3 days
        make_new_nights(user, "withings", NOON - ago * DAY)

    moved = update_usual_data_intervals(tenant=user.tenant)

    last = NOON - 7 * DAY
    assert moved == 1
    assert learn_cadence(user) == {
        ("withings", "sleep_cycle"): (last, 3 * DAY, last + 9 * DAY)
    }


def test_what_comes_by_the_hour_may_rest_for_a_day_and_a_half(user):
    for ago in range(8):
        make_new_nights(user, "oura", NOON - ago * HOUR)

    update_usual_data_intervals(tenant=user.tenant)

    assert learn_cadence(user)["oura", "sleep_cycle"] == (NOON, HOUR, NOON + 36 * HOUR)


def test_nothing_is_expected_before_a_pace_is_known(user):
    for ago in (3, 2, 1):
        make_new_nights(user, "oura", NOON - ago * DAY)

    update_usual_data_intervals(tenant=user.tenant)

    assert learn_cadence(user)["oura", "sleep_cycle"] == (NOON - DAY, None, None)


def test_batches_of_one_hour_are_one_arrival(user):
    for minute in range(0, 60, 5):
        make_new_nights(user, "oura", NOON + minute * timedelta(minutes=1))

    update_usual_data_intervals(tenant=user.tenant)

    (kept,) = Cadence.objects.for_tenant(user.tenant)
    assert kept.recent_gaps == []
    assert kept.last_at == NOON + timedelta(minutes=55)


def test_a_source_that_sends_the_same_again_brings_nothing_new(user):
    make_new_nights(user, "oura", NOON - 2 * DAY)
    make_new_nights(user, "oura", NOON, created=0)

    update_usual_data_intervals(tenant=user.tenant)

    assert learn_cadence(user)["oura", "sleep_cycle"][0] == NOON - 2 * DAY


def test_learning_again_adds_what_came_since_and_counts_nothing_twice(user):
    for ago in (4, 3, 2, 1):
        make_new_nights(user, "oura", NOON - ago * DAY)
    update_usual_data_intervals(tenant=user.tenant)
    before = learn_cadence(user)

    assert update_usual_data_intervals(tenant=user.tenant) == 0
    assert learn_cadence(user) == before

    make_new_nights(user, "oura", NOON + 3 * HOUR)
    assert update_usual_data_intervals(tenant=user.tenant) == 1
    (kept,) = Cadence.objects.for_tenant(user.tenant)
    assert kept.recent_gaps == [24, 24, 24, 27]
    assert kept.last_at == NOON + 3 * HOUR


def test_only_the_latest_pauses_count(user):
    slow = [NOON - 40 * DAY + 2 * DAY * number for number in range(5)]
    fast = [slow[-1] + 6 * HOUR * number for number in range(1, GAPS_KEPT + 1)]
    for at in (*slow, *fast):
        make_new_nights(user, "oura", at)

    update_usual_data_intervals(tenant=user.tenant)

    (kept,) = Cadence.objects.for_tenant(user.tenant)
    assert kept.recent_gaps == [6] * GAPS_KEPT
    assert kept.usual_gap == 6 * HOUR


def test_past_arrivals_of_one_user_are_learnt_after_those_of_others(user):
    make_new_nights(user, "oura", NOON)
    update_usual_data_intervals(tenant=user.tenant)
    other = make_user(tenant=user.tenant)
    make_new_nights(other, "oura", NOON - 5 * DAY)

    update_usual_data_intervals(tenant=user.tenant, user_key=other.pk)

    assert learn_cadence(other)["oura", "sleep_cycle"][0] == NOON - 5 * DAY


def test_strangers_and_deleted_users_are_left_out(user, charlie_tenant):
    make_new_nights(make_user(tenant=charlie_tenant), "oura", NOON)
    make_new_nights(user, "oura", NOON)
    delete_user(user=user, actor=ACTOR)

    assert update_usual_data_intervals(tenant=user.tenant) == 0
    assert not Cadence.objects.for_tenant(charlie_tenant).exists()


def test_erasing_a_user_forgets_what_was_learnt(user):
    make_new_nights(user, "oura", NOON)
    update_usual_data_intervals(tenant=user.tenant)
    delete_user(user=user, actor=ACTOR)

    erase_user(tenant=user.tenant, actor=ACTOR, user_uuid=user.uuid, grace=timedelta(0))

    assert not Cadence.objects.for_tenant(user.tenant).exists()


def test_tenants_without_a_live_connection_are_not_asked(user, charlie_tenant):
    connect_source(user=user, actor=ACTOR, provider="oura")
    stranger = make_user(tenant=charlie_tenant)
    connect_source(user=stranger, actor=ACTOR, provider="oura")
    disconnect_source(user=stranger, actor=ACTOR, provider="oura")

    assert enqueue_learning_of_data_intervals() == 1
