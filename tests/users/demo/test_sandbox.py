from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from accounts.declarations.demo_data import DemoPerson, DemoScene
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from tests.jobs import queued
from tests.outbox import emitted_types
from tests.users.holdings import stored_rows
from users import jobs
from users.demo.sandbox import LOAD_JOB, load_demo_source, load_demo_sources
from users.models import Arrival, Connection, Summary, Supply
from users.operations import demo_sources
from users.operations.sources.sources import disconnect_source
from users.operations.users.users import delete_user
from users.queries import list_sources_gone_silent, list_usual_data_intervals

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def few_days(monkeypatch):
    monkeypatch.setattr(demo_sources, "DEMO_DAYS", 5)


@pytest.fixture
def scene(alice_tenant, time_machine):
    """One who has an app of cycles beside a sensor, one whose bed went silent."""
    time_machine.move_to(NOON, tick=False)
    people = []
    for name, sources, quiet_days in (
        ("a", ("health_connect", "dexcom_v3"), 0),
        ("b", ("eight_sleep", "accuchek_ble"), 5),
    ):
        user = make_user(
            tenant=alice_tenant, client_user_id=name, fallback_time_zone="Europe/Lisbon"
        )
        person = DemoPerson(user.uuid, name, sources, "Europe/Lisbon", None, quiet_days)
        people.append(person)
    return DemoScene(alice_tenant, ACTOR, tuple(people))


def load(scene, person, provider):
    return load_demo_source(
        tenant=scene.tenant,
        actor=ACTOR,
        user_uuid=person.user_uuid,
        provider=provider,
        quiet_days=person.quiet_days,
        earlier_days=person.earlier_days,
    )


def asked(scene):
    return [
        (each.inputs["user_id"], each.inputs["provider"], each.inputs["quiet_days"])
        for each in queued()
        if each.name == LOAD_JOB
    ]


def test_sources_are_connected_at_once_and_their_data_follows(scene):
    load_demo_sources(scene)

    a, b = scene.people
    connected = Connection.objects.for_tenant(scene.tenant).live()
    assert set(
        connected.values_list("user__client_user_id", "provider", "is_demo")
    ) == {
        ("a", "health_connect", True),
        ("a", "dexcom_v3", True),
        ("b", "eight_sleep", True),
        ("b", "accuchek_ble", True),
    }
    assert asked(scene) == [
        (str(a.user_uuid), "health_connect", 0),
        (str(a.user_uuid), "dexcom_v3", 0),
        (str(b.user_uuid), "eight_sleep", 5),
        (str(b.user_uuid), "accuchek_ble", 5),
    ]


def test_loading_again_connects_nothing_twice_and_leaves_what_was_disconnected(scene):
    load_demo_sources(scene)
    user = Connection.objects.for_tenant(scene.tenant).first().user
    user.tenant = scene.tenant
    disconnect_source(user=user, actor=ACTOR, provider="dexcom_v3")
    before = Connection.objects.for_tenant(scene.tenant).count()
    jobs_before = len(asked(scene))

    load_demo_sources(scene)

    assert Connection.objects.for_tenant(scene.tenant).count() == before
    assert [each[1] for each in asked(scene)[jobs_before:]] == [
        "health_connect",
        "eight_sleep",
        "accuchek_ble",
    ]
    assert load(scene, scene.people[0], "dexcom_v3") is False


def test_a_permission_taken_back_breaks_a_source_once(scene):
    person = replace(scene.people[0], sources=("strava",))
    load_demo_sources(replace(scene, people=(person,)))

    load(scene, person, "strava")

    kept = Connection.objects.for_tenant(scene.tenant).get()
    assert (kept.status, kept.error_type) == ("error", "deregistered_per_provider")
    told = emitted_types(scene.tenant)
    assert told.count("provider.connection.error") == 1
    assert load(scene, person, "strava") is False
    assert emitted_types(scene.tenant) == told


def test_the_past_is_told_of_once_and_the_last_day_as_news(scene):
    load_demo_sources(scene)
    told = len(emitted_types(scene.tenant))

    jobs.store_demo_source_data(
        tenant_pk=scene.tenant.pk,
        user_id=str(scene.people[0].user_uuid),
        provider="dexcom_v3",
        quiet_days=0,
    )

    assert emitted_types(scene.tenant)[told:] == [
        "historical.data.glucose.created",
        "daily.data.glucose.created",
    ]


def test_what_pages_compare_reaches_further_back_once(scene, time_machine):
    load_demo_sources(scene)
    person = replace(scene.people[0], earlier_days=20)
    load(scene, person, "health_connect")
    load(scene, person, "dexcom_v3")

    kept = Summary.objects.for_tenant(scene.tenant)
    first = {
        kind: str(kept.filter(kind=kind).earliest("calendar_date").calendar_date)
        for kind in ("activity", "sleep_cycle")
    }
    assert first["activity"] == "2026-02-04"  # 4 days, of the day before, and 20
    assert first["sleep_cycle"] >= "2026-02-24"
    supplies = Supply.objects.for_tenant(scene.tenant).filter(resource="glucose")
    assert set(supplies.values_list("provider", "oldest_data")) == {
        (provider, datetime(2026, 2, 4, tzinfo=UTC))
        for provider in ("dexcom_v3", "health_connect")
    }
    told = emitted_types(scene.tenant)
    assert told.count("historical.data.glucose.created") == 2
    time_machine.move_to(NOON + timedelta(days=2), tick=False)
    load(scene, person, "health_connect")
    assert (
        str(kept.filter(kind="activity").earliest("calendar_date").calendar_date)
        == first["activity"]
    )


def test_loading_again_the_same_moment_changes_nothing(scene):
    load_demo_sources(scene)
    person = scene.people[1]
    load(scene, person, "eight_sleep")
    before = stored_rows(scene.tenant)

    load(scene, person, "eight_sleep")

    after = stored_rows(scene.tenant)
    for table in ("Connection", "Summary", "Arrival", "Event"):
        assert after[table] == before[table]


def test_loading_again_later_keeps_what_was_and_adds_what_came(scene, time_machine):
    load_demo_sources(scene)
    person = scene.people[0]
    load(scene, person, "health_connect")
    kept = Summary.objects.for_tenant(scene.tenant)
    before = {each.id: each for each in kept}
    time_machine.move_to(NOON + timedelta(days=2), tick=False)

    load(scene, person, "health_connect")

    after = {each.id: each for each in kept.all()}
    changed = {
        (each.kind, str(each.calendar_date))
        for each in after.values()
        if each.id in before and each.body != before[each.id].body
    }
    new = {each.kind for each in after.values() if each.id not in before}
    assert before.keys() < after.keys()
    # The day that was not over, and the cycle that runs.
    assert {kind for kind, _ in changed} == {"activity", "menstrual_cycle"}
    assert ("activity", "2026-03-01") in changed
    assert {"sleep", "sleep_cycle", "activity"} <= new


def arrivals(scene):
    rows = Arrival.objects.for_tenant(scene.tenant).order_by("at", "id")
    return list(rows.values_list("resource", "at", "received"))


def test_data_arrives_over_the_days_and_not_while_loading(scene, time_machine):
    load_demo_sources(scene)
    load(scene, scene.people[0], "dexcom_v3")
    before = arrivals(scene)

    hours = {at.replace(minute=0, second=0) for _, at, _ in before}
    assert len(hours) > 60
    assert NOON - timedelta(hours=3) < max(at for _, at, _ in before) <= NOON

    time_machine.move_to(NOON + timedelta(hours=6), tick=False)
    load(scene, scene.people[0], "dexcom_v3")
    later = arrivals(scene)
    assert later[: len(before)] == before
    assert 3 < len(later) - len(before) < 12


def test_the_quiet_source_is_known_to_be_silent(scene):
    load_demo_sources(scene)
    a, b = scene.people
    load(scene, a, "dexcom_v3")
    load(scene, a, "health_connect")
    load(scene, b, "eight_sleep")

    (silent,) = list_sources_gone_silent(tenant=scene.tenant)
    assert (silent.provider, silent.users) == ("eight_sleep", 1)
    user = Connection.objects.for_tenant(scene.tenant).get(provider="dexcom_v3").user
    user.tenant = scene.tenant
    cadences = {each.resource: each for each in list_usual_data_intervals(user=user)}
    assert not any(each.is_silent for each in cadences.values())
    usual = cadences["glucose"].usual_gap
    assert usual is not None
    assert usual <= timedelta(hours=2)


def test_a_user_deleted_meanwhile_gets_nothing(scene):
    load_demo_sources(scene)
    user = Connection.objects.for_tenant(scene.tenant).first().user
    user.tenant = scene.tenant
    delete_user(user=user, actor=ACTOR)

    assert load(scene, scene.people[0], "dexcom_v3") is False
