from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from portal.lib.registry import DemoPerson, DemoScene
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from tests.outbox import emitted_types
from users.models import Arrival, Summary
from users.operations.demo import load_demo_summaries

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def scene(alice_tenant, time_machine):
    """One who wears a ring beside a phone, one with a watch, one with a scale."""
    time_machine.move_to(NOON, tick=False)
    people = []
    for name, sources in (
        ("a", ("oura", "apple_health_kit")),
        ("b", ("apple_health_kit",)),
        ("c", ("withings",)),
    ):
        user = make_user(tenant=alice_tenant, client_user_id=name)
        people.append(DemoPerson(user.uuid, name, sources, "Europe/Lisbon", None))
    return DemoScene(alice_tenant, ACTOR, tuple(people))


def stored(scene):
    rows = Summary.objects.for_tenant(scene.tenant).select_related("user")
    return list(rows.order_by("starts_at", "id"))


def versions(scene):
    return [(each.id, each.version, each.updated_at) for each in stored(scene)]


def test_people_get_what_their_sources_give(scene):
    load_demo_summaries(scene)

    found = {
        (each.user.client_user_id, each.kind, each.provider) for each in stored(scene)
    }
    assert found == {
        ("a", "sleep_cycle", "oura"),
        ("a", "sleep_cycle", "apple_health_kit"),
        ("a", "menstrual_cycle", "apple_health_kit"),
        ("b", "sleep_cycle", "apple_health_kit"),
    }


def test_no_one_sleeps_twice_in_a_night(scene):
    load_demo_summaries(scene)

    nights = [
        (each.user_id, each.calendar_date)
        for each in stored(scene)
        if each.kind == "sleep_cycle"
    ]
    assert len(nights) == len(set(nights)) > 120


def test_loading_again_the_same_day_changes_nothing(scene):
    load_demo_summaries(scene)
    before = versions(scene)
    told = len(emitted_types(scene.tenant))

    load_demo_summaries(scene)

    assert versions(scene) == before
    assert len(emitted_types(scene.tenant)) == told


def test_loading_again_later_keeps_what_was_and_adds_what_came(scene, time_machine):
    load_demo_summaries(scene)
    before = {each.id: each for each in stored(scene)}
    time_machine.move_to(NOON + timedelta(days=40), tick=False)

    load_demo_summaries(scene)

    after = {each.id: each for each in stored(scene)}
    changed = [
        each
        for each in after.values()
        if each.id in before and each.body != before[each.id].body
    ]
    predicted = [each for each in after.values() if each.body.get("is_predicted")]
    assert before.keys() < after.keys()
    # The cycle that was running, and the prediction.
    assert {each.kind for each in changed} == {"menstrual_cycle"}
    assert len(changed) == 2
    assert [each.calendar_date > NOON.date() for each in predicted] == [True]


def arrivals(scene):
    rows = Arrival.objects.for_tenant(scene.tenant).order_by("at", "id")
    return list(rows.values_list("provider", "resource", "at", "received"))


def test_data_arrives_over_the_days_and_not_while_loading(scene):
    load_demo_summaries(scene)

    hours = {at.replace(minute=0, second=0) for _, _, at, _ in arrivals(scene)}
    today = [at for _, _, at, _ in arrivals(scene) if at > NOON - timedelta(days=1)]
    assert len(hours) > 60
    assert len(today) > 20
    assert max(today) <= NOON
    assert max(received for *_, received in arrivals(scene)[6:]) <= 4


def test_loading_again_adds_the_arrivals_since_and_none_twice(scene, time_machine):
    load_demo_summaries(scene)
    before = arrivals(scene)
    load_demo_summaries(scene)
    assert arrivals(scene) == before

    time_machine.move_to(NOON + timedelta(hours=6), tick=False)
    load_demo_summaries(scene)

    later = arrivals(scene)
    assert later[: len(before)] == before
    assert 5 < len(later) - len(before) < 60
    assert max(received for *_, received in later[len(before) :]) <= 10
