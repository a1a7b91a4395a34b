"""Data that sources push: kept, stored once, and forgotten."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import orjson
import pytest
from django.test import Client

from accounts.webhooks.models import Event
from tests.factories.accounts import ACTOR
from tests.factories.fit import START, make_fit
from tests.factories.users import make_user
from tests.jobs import empty_queue, queued
from tests.users.operations.pulling.test_pushes import address_of, send_here
from tests.users.operations.pulling.test_worst_days import run, sent
from tests.users.operations.pulling.test_worst_weeks import sign_in
from users import jobs
from users.models import Pull, PushedContent, SourceGrant, Summary, WorkoutStream
from users.operations.pulling.pulling import enqueue_due_source_pulls
from users.operations.pulling.refresh import refresh_all_user_sources
from users.operations.sources.credentials import (
    build_push_address,
    find_connection_gateway,
)
from users.operations.sources.gaps import enqueue_due_gap_checks
from users.operations.sources.pausing import (
    pause_source,
    pause_sources_past_ingestion_end,
    resume_source,
)

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def _noon(time_machine, monkeypatch):
    time_machine.move_to(NOON, tick=False)
    monkeypatch.setattr(
        "users.operations.sources.budgets.pause", lambda some: time_machine.shift(some)
    )


@pytest.fixture
def watch(alice_tenant, garmin, time_machine):
    """A connected watch whose past was asked for: there was none."""
    connection = sign_in(alice_tenant, "garmin", garmin, make_user(tenant=alice_tenant))
    garmin.push_url, _token = build_push_address(
        tenant=alice_tenant,
        provider="garmin",
        gateway=find_connection_gateway(connection),
    )
    garmin.sender.send = send_here
    assert run(connection) == timedelta(minutes=30)
    time_machine.shift(timedelta(minutes=30))
    assert run(connection) is None
    return connection


def post(connection, said, *, client_id="twin-id"):
    path, _token = address_of(connection)
    return Client().post(
        path,
        said if isinstance(said, bytes) else orjson.dumps(said),
        content_type="application/json",
        headers={"garmin-client-id": client_id},
    )


def arrived(tenant):
    """How many of each resource arrived."""
    return {resource: number for resource, number in sent(tenant).items() if number}


def types_sent(tenant):
    found = Event.objects.for_tenant(tenant).order_by("pk")
    return [each.event_type for each in found]


def test_what_is_pushed_is_kept_encrypted_and_stored_once(alice_tenant, garmin, watch):
    day = garmin.add_day(NOON - DAY, steps=7000)
    before = len(garmin.log)
    for _twice in range(2):
        garmin.announce("dailies", day)
    garmin.sender.deliver()

    kept = PushedContent.objects.for_tenant(alice_tenant)
    assert [each.waiting for each in kept] == [["activity", "heartrate"]] * 2
    assert not any("7000" in each.content for each in kept)
    assert run(watch) is None

    assert not kept.all().exists()
    assert arrived(alice_tenant) == {"activity": 1, "heartrate": 2}
    (stored,) = Summary.objects.for_tenant(alice_tenant).filter(kind="activity")
    assert (stored.body["steps"], stored.source_type) == (7000, "watch")
    assert types_sent(alice_tenant).count("daily.data.activity.created") == 1
    assert len(garmin.log) == before  # nothing was asked


def test_a_ping_is_called_once_for_all_that_it_is_of(alice_tenant, garmin, watch):
    garmin.pinged.add("dailies")
    garmin.announce("dailies", garmin.add_day(NOON - DAY, steps=7000))
    garmin.sender.deliver()

    run(watch)

    assert arrived(alice_tenant) == {"activity": 1, "heartrate": 2}
    assert [path for *_, path, _ in garmin.log].count("/wellness-api/rest/dailies") == 1


def test_a_forged_ping_costs_a_call_and_writes_nothing(alice_tenant, garmin, watch):
    for url in (f"{garmin.url}/wellness-api/rest/dailies?token=x", "https://x.example"):
        said = {"dailies": [{"userId": garmin.user_id, "callbackURL": url}]}
        assert post(watch, said).status_code == 200

    run(watch)

    assert arrived(alice_tenant) == {}
    assert not PushedContent.objects.for_tenant(alice_tenant).exists()
    watch.refresh_from_db()
    assert watch.status == "connected"
    assert watch.resource_availability["activity"] == {"status": "available"}


def test_what_is_of_nobody_or_of_no_application_is_not_kept(
    alice_tenant, garmin, watch
):
    stranger = {"dailies": [{"userId": "somebody", "steps": 1}]}
    assert post(watch, stranger).status_code == 200
    own = {"dailies": [{"userId": garmin.user_id, "steps": 1}]}
    assert post(watch, own, client_id="another").status_code == 403
    assert not PushedContent.objects.for_tenant(alice_tenant).exists()


def test_a_message_may_have_ten_megabytes_and_no_more(alice_tenant, garmin, watch):
    room = {"dailies": [{"userId": garmin.user_id, "more": "x" * 9_900_000}]}
    assert post(watch, room).status_code == 200
    assert PushedContent.objects.for_tenant(alice_tenant).count() == 1
    assert post(watch, b"x" * (10 * 1024 * 1024 + 1)).status_code == 413
    assert PushedContent.objects.for_tenant(alice_tenant).count() == 1


def test_a_file_is_the_stream_of_its_workout_whichever_comes_first(
    alice_tenant, garmin, watch
):
    activity = garmin.add_activity(START, minutes=1, file=make_fit())
    garmin.announce_file(activity)
    garmin.sender.deliver()
    run(watch)
    garmin.announce("activities", activity)
    garmin.sender.deliver()
    run(watch)

    (workout,) = Summary.objects.for_tenant(alice_tenant).filter(kind="workouts")
    (stream,) = WorkoutStream.objects.for_tenant(alice_tenant)
    assert workout.body["title"] == "Morning run"
    assert (stream.workout_id, stream.points) == (workout.pk, 60)
    assert types_sent(alice_tenant).count("daily.data.workouts.created") == 1
    assert types_sent(alice_tenant).count("daily.data.workout_stream.created") == 1


def test_the_past_comes_as_pushes_and_is_told_once(alice_tenant, garmin, time_machine):
    for back in range(1, 21):
        garmin.add_day(NOON - back * DAY, steps=5000 + back)
    connection = sign_in(alice_tenant, "garmin", garmin, make_user(tenant=alice_tenant))
    garmin.push_url, _token = build_push_address(
        tenant=alice_tenant,
        provider="garmin",
        gateway=find_connection_gateway(connection),
    )
    garmin.sender.send = send_here

    run(connection)
    garmin.sender.deliver()
    run(connection)
    assert sent(alice_tenant)["activity"] == 20
    assert "historical.data.activity.created" not in types_sent(alice_tenant)
    time_machine.shift(timedelta(minutes=31))
    assert run(connection) is None

    assert types_sent(alice_tenant).count("historical.data.activity.created") == 1
    assert "daily.data.activity.created" not in types_sent(alice_tenant)
    ended = Pull.objects.for_tenant(alice_tenant).get(
        resource="activity", is_history=True
    )
    assert (ended.status, ended.days_with_data) == ("success", 20)


def test_it_is_never_polled_and_proves_no_gap(
    alice_tenant, garmin, watch, time_machine
):
    time_machine.shift(2 * DAY)
    before = (len(garmin.log), Pull.objects.for_tenant(alice_tenant).count())

    assert (enqueue_due_source_pulls(), enqueue_due_gap_checks()) == (0, 0)
    started = refresh_all_user_sources(user=watch.user, actor=ACTOR)

    assert started.refreshed == ("garmin",)
    assert (len(garmin.log), Pull.objects.for_tenant(alice_tenant).count()) == before


def test_a_deregistration_is_believed_once_garmin_says_so(alice_tenant, garmin, watch):
    said = {"deregistrations": [{"userId": garmin.user_id}]}
    assert post(watch, said).status_code == 200
    check(alice_tenant)
    watch.refresh_from_db()
    assert watch.status == "connected"  # a forged one

    garmin.revoke_consent()
    garmin.sender.deliver()
    check(alice_tenant)

    watch.refresh_from_db()
    assert (watch.status, watch.error_type) == ("error", "deregistered_per_provider")
    assert types_sent(alice_tenant).count("provider.connection.error") == 1


def test_changed_permissions_change_what_is_taken(alice_tenant, garmin, watch):
    garmin.change_permissions("ACTIVITY_EXPORT")
    garmin.sender.deliver()
    check(alice_tenant)
    garmin.announce("dailies", garmin.add_day(NOON - DAY, steps=7000))
    garmin.sender.deliver()

    watch.refresh_from_db()
    assert watch.resource_availability["activity"] == {"status": "unavailable"}
    assert SourceGrant.objects.for_tenant(alice_tenant).get().scopes == [
        "ACTIVITY_EXPORT"
    ]
    assert not PushedContent.objects.for_tenant(alice_tenant).exists()

    garmin.change_permissions()
    garmin.sender.deliver()
    check(alice_tenant)
    watch.refresh_from_db()
    assert watch.error_type == "required_scopes_not_granted"


def test_what_could_not_be_stored_in_a_week_goes(
    alice_tenant, garmin, watch, time_machine
):
    garmin.announce("dailies", garmin.add_day(NOON - DAY, steps=7000))
    garmin.sender.deliver()
    time_machine.shift(8 * DAY)
    jobs.delete_old_arrivals_pulls_and_refreshes()
    assert PushedContent.objects.for_tenant(alice_tenant).count() == 1
    time_machine.shift(DAY)
    jobs.delete_old_arrivals_pulls_and_refreshes()
    assert not PushedContent.objects.for_tenant(alice_tenant).exists()
    assert watch.pk


def check(tenant):
    """Run the checks of consents that wait."""
    waiting = [job for job in queued() if job.name == "users.check_consent"]
    assert waiting
    for job in waiting:
        assert job.inputs["tenant_pk"] == tenant.pk
        jobs.check_consent_at_source(**job.inputs)
    empty_queue()


def test_what_is_pushed_while_a_source_is_paused_is_stored_when_it_resumes(
    alice_tenant, garmin, watch, time_machine
):
    pause_source(user=watch.user, actor=ACTOR, provider="garmin")
    garmin.announce("dailies", garmin.add_day(NOON - DAY, steps=7000))
    garmin.sender.deliver()
    run(watch)
    time_machine.shift(9 * DAY)
    jobs.delete_old_arrivals_pulls_and_refreshes()

    kept = PushedContent.objects.for_tenant(alice_tenant)
    assert (garmin.sender.statuses, kept.count(), arrived(alice_tenant)) == (
        [200],
        1,
        {},
    )
    resume_source(user=watch.user, actor=ACTOR, provider="garmin")
    run(watch)

    assert arrived(alice_tenant) == {"activity": 1, "heartrate": 2}
    assert not kept.exists()


def test_after_the_last_day_of_ingestion_nothing_is_kept(alice_tenant, garmin, watch):
    watch.user.ingestion_end = (NOON - 30 * DAY).date()
    watch.user.save(update_fields=["ingestion_end"])
    pause_sources_past_ingestion_end(
        tenant=alice_tenant, actor=ACTOR, user_uuid=watch.user.uuid
    )
    garmin.announce("dailies", garmin.add_day(NOON - DAY, steps=7000))
    garmin.sender.deliver()

    assert garmin.sender.statuses == [200]
    assert not PushedContent.objects.for_tenant(alice_tenant).exists()
