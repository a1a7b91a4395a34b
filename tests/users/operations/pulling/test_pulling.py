from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.factories.accounts import ACTOR
from tests.factories.grants import make_granted
from tests.factories.oura import (
    daily_activity_document,
    daily_readiness_document,
    daily_sleep_document,
    daily_spo2_document,
    heart_rate_row,
    ring_document,
    session_document,
    sleep_document,
    tag_document,
    vo2_max_document,
    workout_document,
)
from tests.factories.users import make_user
from tests.jobs import queued
from tests.outbox import emitted, emitted_types
from tests.packed import list_samples
from tests.users.gateways.oura_server import cut, garbage, status
from users import jobs
from users.gateways.base import PulledBatch, PulledPage
from users.gateways.oura.gateway import OuraGateway
from users.gateways.sources import find_source_gateway
from users.models import Connection, Device, Pull, SourceGrant, Summary, Supply
from users.operations.pulling.pulling import (
    enqueue_due_source_pulls,
    fail_connection_pulls,
    run_connection_pulls,
)
from users.operations.sources.pausing import pause_source
from users.operations.sources.pulls import schedule_source_pulls
from users.operations.sources.sources import connect_source, disconnect_source
from users.operations.users.users import delete_user

pytestmark = pytest.mark.django_db
SINCE = datetime(2026, 3, 1, tzinfo=UTC)
UNTIL = datetime(2026, 3, 11, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant, fallback_time_zone="Europe/Oslo")


@pytest.fixture
def connection(user):
    return make_granted(user)


def ask(connection, *resources, since=SINCE, is_history=True):
    return schedule_source_pulls(
        connection=connection,
        resources=resources,
        is_history=is_history,
        range_start=since,
        range_end=UNTIL,
    )


def run(connection):
    return run_connection_pulls(
        tenant=connection.tenant, actor=ACTOR, connection_pk=connection.pk
    )


def ended(connection):
    """How each pull stands, by resource: its status, and what went wrong."""
    pulls = Pull.objects.for_tenant(connection.tenant).order_by("id")
    return {pull.resource: (pull.status, pull.error_type) for pull in pulls}


def fill(oura):
    """One document of each collection."""
    oura.collections |= {
        "sleep": [sleep_document()],
        "daily_sleep": [daily_sleep_document()],
        "daily_readiness": [daily_readiness_document()],
        "daily_activity": [daily_activity_document()],
        "daily_spo2": [daily_spo2_document()],
        "workout": [workout_document(), workout_document(id="2", source="manual")],
        "session": [session_document()],
        "vO2_max": [vo2_max_document()],
        "enhanced_tag": [tag_document()],
        "heartrate": [heart_rate_row("2026-03-10T08:00:00+00:00")],
        "ring_configuration": [ring_document()],
    }


def sent_counts(tenant):
    rows = Supply.objects.for_tenant(tenant).order_by("resource")
    return dict(rows.values_list("resource", "sent_count"))


def test_the_past_of_every_resource_is_stored_and_told_once(
    connection, user, alice_tenant, oura
):
    fill(oura)
    resources = find_source_gateway("oura").resources
    ask(connection, *resources)

    assert run(connection) is None

    assert ended(connection) == dict.fromkeys(resources, ("success", ""))
    assert sent_counts(alice_tenant) == {
        "activity": 1,
        "blood_oxygen": 1,
        "body_temperature_delta": 1,
        "heartrate": 1,
        "hrv": 3,
        "mindfulness_minutes": 1,
        "note": 1,
        "profile": 1,
        "sleep": 1,
        "sleep_breathing_disturbance": 1,
        "sleep_cycle": 1,
        "vo2_max": 1,
        "workouts": 2,
    }
    items = [each for each in emitted_types(alice_tenant) if "data" in each]
    assert items == [f"historical.data.{name}.created" for name in resources]
    assert {pull.days_with_data for pull in Pull.objects.for_tenant(alice_tenant)} == {
        0,
        1,
    }  # a profile is of no day


def test_a_sleep_cycle_names_its_sleep_and_both_their_ring(
    connection, alice_tenant, oura
):
    fill(oura)
    ask(connection, "sleep", "sleep_cycle")

    run(connection)

    summaries = Summary.objects.for_tenant(alice_tenant)
    sleep, cycle = summaries.get(kind="sleep"), summaries.get(kind="sleep_cycle")
    ring = Device.objects.for_tenant(alice_tenant).get()
    assert cycle.body["sleep_id"] == str(sleep.id)
    assert (sleep.source_type, cycle.source_type) == ("ring", "ring")
    assert sleep.device_id == cycle.device_id == ring.uuid
    assert ring.device_model == "Oura Ring 4"


def test_heart_rates_have_the_offset_of_the_fallback_zone(connection, user, oura):
    fill(oura)
    ask(connection, "heartrate")

    run(connection)

    (sample,) = list_samples(user.pk)
    assert sample.ts == datetime(2026, 3, 10, 8, tzinfo=UTC)
    assert sample.tz_offset == 3600


def test_what_is_pulled_again_is_stored_once_and_what_changed_is_told(
    connection, alice_tenant, oura
):
    fill(oura)
    ask(connection, "activity", "hrv")
    run(connection)
    oura.collections["daily_activity"] = [daily_activity_document(steps=9000)]

    ask(connection, "activity", "hrv", is_history=False)
    run(connection)

    items = [each for each in emitted_types(alice_tenant) if each.startswith("daily")]
    assert items == ["daily.data.activity.updated"]
    assert sent_counts(alice_tenant) == {"activity": 2, "hrv": 3}
    stored = Summary.objects.for_tenant(alice_tenant).get(kind="activity")
    assert (stored.body["steps"], stored.version) == (9000, 2)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [(cut, "no_answer"), (garbage, "not_json"), (status(502), "http_502")],
    ids=["cut", "garbage", "502"],
)
def test_a_pull_that_is_cut_off_goes_on_where_it_stood(
    connection, alice_tenant, oura, fault, reason
):
    days = ["2026-02-02", "2026-03-10"]
    oura.collections["daily_activity"] = [daily_activity_document(day) for day in days]
    (pull,) = ask(connection, "activity", since=datetime(2026, 2, 1, tzinfo=UTC))
    # The newest window first; a position is the last day that is still to be read.
    first_window, second_window = "2026-02-13", "2026-01-31"
    oura.faults["daily_activity"] = [
        lambda handler: handler.answer(
            *oura.read("daily_activity", oura.asked_for("daily_activity")[-1])
        ),
        fault,
    ]

    wait = run(connection)

    pull.refresh_from_db()
    assert wait == MINUTE
    assert (pull.status, pull.error_type) == ("scheduled", reason)
    assert pull.position == "2026-02-12"
    assert sent_counts(alice_tenant) == {"activity": 1}
    assert run(connection) is None
    assert [each["start_date"] for each in oura.asked_for("daily_activity")] == [
        first_window,
        second_window,
        second_window,
    ]
    pull.refresh_from_db()
    assert (pull.status, pull.days_with_data, pull.attempts) == ("success", 2, 2)
    assert sent_counts(alice_tenant) == {"activity": 2}


def test_a_page_that_can_t_be_stored_whole_is_not_stored_at_all(
    connection, alice_tenant, oura, monkeypatch
):
    oura.collections["workout"] = [
        workout_document(),
        workout_document(id="2", source="manual"),
    ]
    ask(connection, "workouts")

    def fail(**_given):
        raise RuntimeError

    monkeypatch.setattr("users.operations.pulling.storing.store_pull_position", fail)

    with pytest.raises(RuntimeError):
        run(connection)

    assert not Summary.objects.for_tenant(alice_tenant).exists()
    assert sent_counts(alice_tenant) == {}


def test_a_token_that_ends_in_the_middle_is_traded_and_the_pull_goes_on(
    connection, alice_tenant, oura
):
    fill(oura)
    oura.trades = 4
    oura.faults["daily_activity"] = [status(401)]
    ask(connection, "sleep", "activity")

    assert run(connection) is None

    assert set(ended(connection).values()) == {("success", "")}
    assert oura.trades == 5
    assert SourceGrant.objects.for_tenant(alice_tenant).get().rotation == 2


@pytest.mark.parametrize("code", [401, 403, 426])
def test_a_resource_that_is_refused_keeps_no_other(
    connection, alice_tenant, oura, code
):
    fill(oura)
    oura.faults["vO2_max"] = [status(code)] * 2
    ask(connection, "vo2_max", "activity")

    assert run(connection) is None

    assert ended(connection) == {
        "vo2_max": ("failure", f"http_{code}"),
        "activity": ("success", ""),
    }
    stored = Connection.objects.for_tenant(alice_tenant).get()
    assert stored.status == "connected"
    assert stored.resource_availability["vo2_max"]["status"] == "unavailable"
    assert stored.resource_availability["activity"]["status"] == "available"
    failed = Supply.objects.for_tenant(alice_tenant).get(resource="vo2_max")
    assert failed.attempt_failed


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        (401, "provider_credential_error"),
        (403, "required_scopes_not_granted"),
        (426, "unknown"),
    ],
)
def test_a_source_that_gives_nothing_at_all_is_broken(
    connection, alice_tenant, oura, code, fault
):
    fill(oura)
    connection.resource_availability = {
        name: {"status": "available"} for name in ("activity", "workouts")
    }
    connection.save(update_fields=["resource_availability"])
    for name in ("daily_activity", "workout"):
        oura.faults[name] = [status(code)] * 2
    ask(connection, "activity", "workouts")

    assert run(connection) is None

    stored = Connection.objects.for_tenant(alice_tenant).get()
    assert (stored.status, stored.error_type) == ("error", fault)
    assert emitted(alice_tenant)[-1]["event_type"] == "provider.connection.error"
    assert emitted(alice_tenant)[-1]["data"]["error_type"] == fault


def test_a_source_that_gives_others_is_not_broken(connection, alice_tenant, oura):
    oura.faults["vO2_max"] = [status(403)]
    ask(connection, "vo2_max")

    run(connection)

    assert Connection.objects.for_tenant(alice_tenant).get().status == "connected"


def test_a_dead_refresh_token_breaks_the_connection(connection, alice_tenant, oura):
    oura.access_token, oura.refresh_token = "none of ours", "none either"
    ask(connection, "activity", "workouts")

    assert run(connection) is None

    stored = Connection.objects.for_tenant(alice_tenant).get()
    assert (stored.status, stored.error_type) == ("error", "token_refresh_failed")
    assert set(ended(connection).values()) == {("failure", "token_refresh_failed")}
    assert not [each for each in emitted_types(alice_tenant) if "historical" in each]
    assert "access-1" not in str(emitted(alice_tenant))


def test_a_source_that_wants_to_be_left_alone_is(connection, alice_tenant, oura):
    fill(oura)
    oura.faults["daily_activity"] = [status(429, Retry_After="300")]
    ask(connection, "activity", "workouts")

    assert run(connection) == timedelta(seconds=300)

    assert ended(connection) == {
        "activity": ("scheduled", "rate_limited"),
        "workouts": ("scheduled", ""),
    }
    assert Connection.objects.for_tenant(alice_tenant).get().status == "connected"
    assert oura.asked_for("workout") == []


def test_waits_grow_and_end(connection, oura):
    ask(connection, "activity")
    oura.faults["daily_activity"] = [status(503)] * 6

    waits = [run(connection) for _ in range(6)]

    assert waits == [MINUTE * each for each in (1, 5, 20, 60, 180)] + [None]
    assert ended(connection) == {"activity": ("failure", "http_503")}


def test_patience_with_a_source_has_an_end(connection, alice_tenant, oura):
    ask(connection, "activity")
    Pull.objects.for_tenant(alice_tenant).update(
        scheduled_at=datetime(2026, 1, 1, tzinfo=UTC)
    )
    oura.faults["daily_activity"] = [status(429, Retry_After="300")]

    assert run(connection) is None
    assert ended(connection) == {"activity": ("failure", "rate_limited")}


def test_elements_that_can_t_be_read_are_left_out(connection, alice_tenant, oura):
    oura.collections["daily_activity"] = [
        daily_activity_document("2026-03-08", steps=-1),
        daily_activity_document("2026-03-09"),
    ]
    ask(connection, "activity")

    run(connection)

    assert ended(connection) == {"activity": ("success", "")}
    assert sent_counts(alice_tenant) == {"activity": 1}


@pytest.mark.parametrize("end", [disconnect_source, pause_source])
def test_a_source_that_is_ended_meanwhile_stores_nothing_more(
    connection, user, alice_tenant, oura, monkeypatch, end
):
    element = {"calendar_date": "2026-03-09", "steps": 1}

    def pull(*_given, **_asked):
        yield PulledPage((PulledBatch("activity", [element]),), "2026-03-10")
        end(user=user, actor=ACTOR, provider="oura")
        later = {**element, "calendar_date": "2026-03-10"}
        yield PulledPage((PulledBatch("activity", [later]),))

    monkeypatch.setattr(OuraGateway, "pull", pull)
    ask(connection, "activity", "workouts")

    assert run(connection) is None

    assert sent_counts(alice_tenant)["activity"] == 1
    assert Connection.objects.for_tenant(alice_tenant).count() == 1
    assert not Pull.objects.for_tenant(alice_tenant).open().exists()


def test_a_deleted_user_s_source_is_not_asked(connection, user, oura):
    ask(connection, "activity")
    delete_user(user=user, actor=ACTOR)

    assert run(connection) is None
    assert oura.asked == []


def test_a_stranger_s_worker_finds_no_connection(connection, charlie_tenant, oura):
    ask(connection, "activity")

    wait = run_connection_pulls(
        tenant=charlie_tenant, actor=ACTOR, connection_pk=connection.pk
    )

    assert wait is None
    assert oura.asked == []
    assert ended(connection) == {"activity": ("scheduled", "")}


def test_pulls_of_a_source_that_is_offered_no_more_end(connection, settings):
    ask(connection, "activity")
    settings.OURA_CLIENT_ID = ""

    assert run(connection) is None
    assert ended(connection) == {"activity": ("failure", "source_not_offered")}


def test_pulls_whose_work_failed_again_and_again_end(connection, alice_tenant):
    ask(connection, "activity", "workouts")

    fail_connection_pulls(tenant=alice_tenant, actor=ACTOR, connection_pk=connection.pk)

    assert set(ended(connection).values()) == {("failure", "unknown")}


def test_the_job_comes_again_when_the_source_may_be_asked(
    connection, alice_tenant, oura
):
    ask(connection, "activity")
    oura.faults["daily_activity"] = [status(429, Retry_After="300")]

    jobs.pull_connection_data(tenant_pk=alice_tenant.pk, connection_pk=connection.pk)

    assert [(job.name, job.lock) for job in queued()] == [
        ("users.pull", f"users.pull:{connection.pk}")
    ] * 2


def test_only_sources_whose_turn_it_is_are_asked(
    connection, user, alice_tenant, settings, time_machine
):
    settings.OURA_CLIENT_ID = settings.OURA_CLIENT_SECRET = "our"
    now = datetime(2026, 3, 9, 12, tzinfo=UTC)
    time_machine.move_to(now, tick=False)
    connect_source(user=user, actor=ACTOR, provider="apple_health_kit")
    paused = make_user(tenant=alice_tenant)
    make_granted(paused)
    pause_source(user=paused, actor=ACTOR, provider="oura")

    first = enqueue_due_source_pulls()
    while_open = enqueue_due_source_pulls()
    Pull.objects.for_tenant(alice_tenant).update(ended_at=now, status="success")
    too_early = enqueue_due_source_pulls()
    time_machine.move_to(now + timedelta(minutes=61), tick=False)
    an_hour_later = enqueue_due_source_pulls()

    assert (first, while_open, too_early, an_hour_later) == (1, 0, 0, 1)
    assert {pull.connection for pull in Pull.objects.for_tenant(alice_tenant)} == {
        connection
    }
