from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime

import pytest
from django.db import connection
from jsonschema import validate

from accounts.webhooks.catalogue import load_event_types
from portal.lib.errors import NotFound
from tests.audit import changes_of
from tests.factories.accounts import ACTOR
from tests.factories.streams import make_stream, make_workout, stream_body
from tests.factories.summaries import record
from tests.factories.users import make_user
from tests.outbox import emitted, emitted_types
from tests.users.holdings import ALWAYS_WRITTEN, stored_rows
from users.models import Arrival, Summary, WorkoutStream
from users.operations.data.streams import record_workout_stream
from users.operations.sources.sources import disconnect_source
from users.operations.users.users import (
    UserChanges,
    delete_user,
    erase_user,
    update_user,
)
from users.wearables.streams import StreamInvalid

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LATER = datetime(2026, 3, 2, 12, tzinfo=UTC)
CREATED = "daily.data.workout_stream.created"
UPDATED = "daily.data.workout_stream.updated"


@pytest.fixture(autouse=True)
def _noon(time_machine):
    time_machine.move_to(NOON, tick=False)


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant, client_user_id="u-1")


@pytest.fixture
def workout(user):
    return make_workout(user)


def arrivals(tenant):
    mine = Arrival.objects.for_tenant(tenant).filter(resource="workout_stream")
    return list(
        mine.order_by("id").values_list("received", "created", "updated", "dropped")
    )


def test_a_first_stream_emits_one_shallow_event(alice_tenant, user, settings):
    settings.PUBLIC_URL = "https://assay.example"
    workout = make_workout(
        user,
        provider_id="run-7",
        sport={"id": 3, "name": "Running", "slug": "running"},
        source={"source_type": "watch", "app_id": "com.example.run"},
    )

    make_stream(workout)

    event = emitted(alice_tenant)[-1]
    assert event["event_type"] == CREATED
    assert event["data"] == {
        "message": "The stream of this workout is available at"
        f" /v2/timeseries/workouts/{workout.id}/stream.",
        "provider_id": "run-7",
        "sport": {"id": 3, "name": "Running", "slug": "running"},
        "workout_id": str(workout.id),
        "source": {
            "name": "Oura",
            "slug": "oura",
            "logo": "https://assay.example/logos/oura.svg",
            "provider": "oura",
            "type": "watch",
            "app_id": "com.example.run",
            "device_id": None,
        },
        "user_id": str(user.uuid),
    }
    validate(event["data"], load_event_types()[CREATED].schema)
    assert emitted_types(alice_tenant).count(CREATED) == 1
    assert arrivals(alice_tenant) == [(1, 1, 0, 0)]
    assert changes_of(alice_tenant, "record_workout_stream") == {
        "created": 1,
        "updated": 0,
    }


def test_a_sport_nobody_named_is_other(alice_tenant, workout):
    make_stream(workout)

    data = emitted(alice_tenant)[-1]["data"]
    assert data["sport"] == {"id": 0, "name": "Other", "slug": "other"}


def test_a_later_stream_replaces_the_first(alice_tenant, workout, time_machine):
    make_stream(workout)
    before = WorkoutStream.objects.for_tenant(alice_tenant).get()
    time_machine.move_to(LATER, tick=False)

    make_stream(workout, power=[200, 210, 220])

    kept = WorkoutStream.objects.for_tenant(alice_tenant).get()
    assert (kept.version, kept.points) == (2, 3)
    assert (kept.created_at, kept.updated_at) == (NOON, LATER)
    assert kept.digest != before.digest
    event = emitted(alice_tenant)[-1]
    assert event["event_type"] == UPDATED
    validate(event["data"], load_event_types()[UPDATED].schema)
    assert arrivals(alice_tenant) == [(1, 1, 0, 0), (1, 0, 1, 0)]


def test_an_equal_stream_writes_and_emits_nothing(alice_tenant, workout):
    make_stream(workout)
    before = stored_rows(alice_tenant)

    record_workout_stream(
        workout=workout,
        actor=ACTOR,
        body=dict(reversed(stream_body(extra=1).items())),
    )

    after = stored_rows(alice_tenant)
    assert arrivals(alice_tenant)[1:] == [(1, 0, 0, 0)]
    assert after | ALWAYS_WRITTEN == before | ALWAYS_WRITTEN


def test_a_stream_that_cannot_be_read_stores_nothing(alice_tenant, workout):
    before = stored_rows(alice_tenant)

    with pytest.raises(StreamInvalid):
        make_stream(workout, power=[1])

    assert stored_rows(alice_tenant) == before


def test_a_stream_outside_of_the_bounds_of_now_is_dropped(alice_tenant, workout, user):
    update_user(
        user=user, actor=ACTOR, changes=UserChanges(ingestion_start=date(2026, 3, 1))
    )
    types = emitted_types(alice_tenant)

    make_stream(workout)

    assert not WorkoutStream.objects.for_tenant(alice_tenant).exists()
    assert arrivals(alice_tenant) == [(1, 0, 0, 1)]
    assert emitted_types(alice_tenant) == types


def test_the_stream_of_a_source_that_was_disconnected_connects_it_again(
    alice_tenant, workout, user
):
    disconnect_source(user=user, actor=ACTOR, provider="oura")

    make_stream(workout)

    assert emitted_types(alice_tenant)[-2:] == ["provider.connection.created", CREATED]


def test_a_deleted_user_takes_no_stream_and_an_erased_one_keeps_none(
    alice_tenant, workout, user, time_machine
):
    make_stream(workout)
    delete_user(user=user, actor=ACTOR)

    with pytest.raises(NotFound):
        make_stream(workout, power=[1, 2, 3])
    time_machine.move_to(datetime(2026, 3, 9, tzinfo=UTC), tick=False)
    erased = erase_user(tenant=alice_tenant, actor=ACTOR, user_uuid=user.uuid)

    assert erased
    assert not WorkoutStream.objects.for_tenant(alice_tenant).exists()


@pytest.mark.django_db(transaction=True)
def test_of_two_first_streams_at_once_one_is_first_and_none_is_lost(
    alice_tenant, workout
):
    def put(power):
        try:
            make_stream(workout, power=[power, power, power])
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(put, (100, 200)))

    assert WorkoutStream.objects.for_tenant(alice_tenant).get().version == 2
    assert emitted_types(alice_tenant)[-2:] == [CREATED, UPDATED]


# Born so that the maximum is 180 on the day of the workout.
FORTY = date(1986, 2, 28)
# Two seconds at 118 and 119: 65 and 66 per cent of 180.
ZONES_AT_FORTY = [0, 2, 0, 0, 0]


def born(user, day):
    return update_user(
        user=user, actor=ACTOR, changes=UserChanges(fallback_birth_date=day)
    )


def test_a_stream_that_tells_zones_updates_the_workout(
    alice_tenant, workout, user, time_machine
):
    born(user, FORTY)
    time_machine.move_to(LATER, tick=False)

    make_stream(workout)

    stream, updated = emitted(alice_tenant)[-2:]
    assert stream["event_type"] == CREATED
    assert updated["event_type"] == "daily.data.workouts.updated"
    assert updated["data"]["id"] == str(workout.id)
    assert updated["data"]["hr_zones"] == ZONES_AT_FORTY
    assert updated["data"]["updated_at"] == LATER.isoformat()
    validate(updated["data"], load_event_types()["daily.data.workouts.updated"].schema)
    kept = Summary.objects.for_tenant(alice_tenant).get(kind="workouts")
    assert (kept.version, kept.updated_at) == (2, LATER)
    assert kept.body["hr_zones"] is None


@pytest.mark.parametrize(
    ("birth_date", "stream", "element"),
    [
        (None, {}, {}),
        (date(2026, 3, 1), {}, {}),
        (FORTY, {"heartrate": None}, {}),
        (FORTY, {"time": None}, {}),
        (FORTY, {}, {"hr_zones": [1, 2, 3, 4, 5]}),
    ],
    ids=["no birth date", "unborn", "no heart rates", "no times", "own zones"],
)
def test_without_an_age_or_heart_rates_the_workout_stays_as_it_is(
    alice_tenant, user, birth_date, stream, element
):
    born(user, birth_date)
    workout = make_workout(user, **element)

    make_stream(workout, **stream)

    assert emitted_types(alice_tenant)[-1] == CREATED
    kept = Summary.objects.for_tenant(alice_tenant).get(kind="workouts")
    assert kept.version == 1


def test_a_workout_that_comes_again_keeps_the_zones_of_its_stream(alice_tenant, user):
    born(user, FORTY)
    make_stream(make_workout(user))

    make_workout(user, title="Morning run")

    data = emitted(alice_tenant)[-1]["data"]
    assert (data["title"], data["hr_zones"]) == ("Morning run", ZONES_AT_FORTY)


def test_the_birth_date_of_the_workouts_own_source_goes_before_the_fallback(
    alice_tenant, user
):
    born(user, date(1926, 1, 1))
    record(user, "profile", {"birth_date": FORTY.isoformat()}, provider="oura")
    record(user, "profile", {"birth_date": "1956-01-01"}, provider="fitbit")

    make_stream(make_workout(user))

    assert emitted(alice_tenant)[-1]["data"]["hr_zones"] == ZONES_AT_FORTY


def test_history_is_stored_without_events_of_its_stream(alice_tenant, workout):
    before = emitted_types(alice_tenant)

    is_new = record_workout_stream(
        workout=workout, actor=ACTOR, body=stream_body(), is_history=True
    )

    assert is_new is True
    assert arrivals(alice_tenant) == [(1, 1, 0, 0)]
    assert emitted_types(alice_tenant) == before
