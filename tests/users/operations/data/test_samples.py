from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from uuid import UUID

import pytest
from django.db import connection
from jsonschema import validate

from accounts.webhooks.catalogue import load_event_types
from portal.lib.database.transitions import move_status
from portal.lib.errors import DomainError, NotFound
from tests.audit import changes_of
from tests.factories.accounts import ACTOR
from tests.factories.timeseries import MOST, WORKOUT, minute, push_samples, sample
from tests.factories.users import make_user
from tests.outbox import emitted, emitted_types
from tests.packed import EVER, list_samples
from tests.statements import count_statements
from tests.users.holdings import ALWAYS_WRITTEN, stored_rows
from users.models import Arrival, Connection, Origin
from users.operations.data.samples import (
    EVENT_SAMPLES_MAX,
    RecordedSamples,
    SampleBatch,
    record_samples,
)
from users.operations.sources.sources import connect_source
from users.operations.users.users import delete_user
from users.states import CONNECTION_MOVES, ConnectionStatus
from users.store.packed.packing import pack_days_of_user
from users.wearables.readings import ElementsInvalid
from users.wearables.timeseries import TIMESERIES

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("both_ways")]
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TEN = datetime(2026, 2, 28, 10, tzinfo=UTC)
DEVICE = UUID("0b8ed3d5-7a0c-4f5e-8a52-6f3ff3c0a111")
CREATED, UPDATED = "daily.data.heartrate.created", "daily.data.heartrate.updated"


@pytest.fixture(autouse=True)
def _noon(time_machine):
    time_machine.move_to(NOON, tick=False)


@pytest.fixture
def user(alice_tenant):
    user = make_user(tenant=alice_tenant, client_user_id="u-1")
    connect_source(user=user, actor=ACTOR, provider="oura")
    return user


def beats(*values, first=0):
    """One heart rate a minute."""
    return [
        sample("heartrate", timestamp=minute(first + place), value=value)
        for place, value in enumerate(values)
    ]


def stored(user):
    """The values that are kept, by time."""
    return [each.value for each in list_samples(user.pk)]


def arrivals(tenant):
    return list(
        Arrival.objects.for_tenant(tenant)
        .order_by("id")
        .values_list(
            "provider", "resource", "received", "created", "updated", "dropped"
        )
    )


def test_samples_are_kept_with_what_came(user, alice_tenant):
    recorded = push_samples(
        user,
        "body_temperature",
        sample("body_temperature", value=36.5, **MOST["body_temperature"]),
        source_type="ring",
        app_id="com.example.ring",
        device_id=DEVICE,
    )

    assert recorded == RecordedSamples(created=1, updated=0, dropped=0)
    (kept,) = list_samples(user.pk)
    assert (kept.ts, kept.value, kept.series) == (TEN, 36.5, 700)
    assert (kept.duration, kept.tz_offset) == (600, 0)
    assert kept.extra == MOST["body_temperature"]
    (origin,) = Origin.objects.for_tenant(alice_tenant)
    assert (origin.number, origin.app_id, origin.device_id) == (
        kept.origin,
        "com.example.ring",
        DEVICE,
    )
    assert arrivals(alice_tenant) == [("oura", "body_temperature", 1, 1, 0, 0)]
    assert changes_of(alice_tenant, "record_samples") == {"created": 1, "updated": 0}


def test_an_event_is_as_the_contract_says(user, alice_tenant, settings):
    settings.PUBLIC_URL = "https://assay.example"

    push_samples(user, "steps", source_type="ring", device_id=DEVICE)

    envelope = emitted(alice_tenant)[-1]
    assert envelope["event_type"] == "daily.data.steps.created"
    assert envelope["data"] == {
        "data": [
            {
                "timestamp": "2026-02-28T10:00:00+00:00",
                "timezone_offset": 0,
                "type": None,
                "unit": "count",
                "value": 12.5,
                "start": "2026-02-28T10:00:00+00:00",
                "end": "2026-02-28T10:10:00+00:00",
            }
        ],
        "source_id": 1,
        "source": {
            "name": "Oura",
            "slug": "oura",
            "logo": "https://assay.example/logos/oura.svg",
            "provider": "oura",
            "type": "ring",
            "app_id": None,
            "device_id": str(DEVICE),
        },
        "user_id": str(user.uuid),
    }


def test_new_and_changed_samples_make_an_event_each(user, alice_tenant):
    push_samples(user, "heartrate", *beats(60, 61, 62))

    recorded = push_samples(user, "heartrate", *beats(70, 71, 72, 73, first=1))

    assert recorded == RecordedSamples(created=2, updated=2, dropped=0)
    assert stored(user) == [60, 70, 71, 72, 73]
    _, _, created, updated = emitted(alice_tenant)
    assert (created["event_type"], updated["event_type"]) == (CREATED, UPDATED)
    assert [each["value"] for each in created["data"]["data"]] == [72, 73]
    assert [each["value"] for each in updated["data"]["data"]] == [70, 71]


def test_what_is_stored_already_changes_and_tells_nothing(user, alice_tenant):
    push_samples(user, "note", sample("note", tags=["food"]))
    before = stored_rows(alice_tenant)

    recorded = push_samples(user, "note", sample("note", tags=["food"]))

    after = stored_rows(alice_tenant)
    assert recorded == RecordedSamples(created=0, updated=0, dropped=0)
    assert arrivals(alice_tenant)[-1] == ("oura", "note", 1, 0, 0, 0)
    assert after | ALWAYS_WRITTEN == before | ALWAYS_WRITTEN


@pytest.mark.parametrize(
    ("slug", "other"),
    [
        ("note", {"tags": ["exercise"]}),
        ("note", {"value": "Porridge"}),
        ("blood_pressure", {"diastolic": 80}),
        ("heartrate", {"timezone_offset": 3600}),
        ("steps", {"end": "2026-02-28T10:09:00Z"}),
    ],
    ids=["tags", "text", "diastolic", "offset", "end"],
)
def test_a_change_of_any_part_is_an_update(user, alice_tenant, slug, other):
    push_samples(user, slug)

    recorded = push_samples(user, slug, sample(slug, **other))

    assert recorded == RecordedSamples(created=0, updated=1, dropped=0)
    assert emitted_types(alice_tenant)[-1] == f"daily.data.{slug}.updated"


def test_of_one_moment_in_a_batch_the_last_value_counts_once(user, alice_tenant):
    recorded = push_samples(user, "heartrate", *beats(60, 61), *beats(62), *beats(63))

    assert recorded == RecordedSamples(created=2, updated=0, dropped=0)
    assert stored(user) == [63, 61]
    assert arrivals(alice_tenant) == [("oura", "heartrate", 4, 2, 0, 0)]
    (event,) = emitted(alice_tenant)[1:]
    assert [each["value"] for each in event["data"]["data"]] == [63, 61]


def test_types_and_source_types_tell_samples_of_a_moment_apart(user):
    kinds = [sample("cholesterol", type=kind) for kind in ("ldl", "hdl", "hdl")]
    leads = [sample("electrocardiogram_voltage", type=lead) for lead in ("I", "II")]

    mixed = push_samples(user, "cholesterol", *kinds)
    other = push_samples(user, "cholesterol", kinds[0], source_type="lab")
    traced = push_samples(user, "electrocardiogram_voltage", *leads)

    assert (mixed.created, other.created, traced.created) == (2, 1, 2)


def test_an_optional_type_is_no_part_of_the_identity(user):
    slug = "sleep_breathing_disturbance"
    push_samples(user, slug, sample(slug, type="elevated"))

    recorded = push_samples(user, slug, sample(slug, type="not_elevated"))

    assert recorded == RecordedSamples(created=0, updated=1, dropped=0)


def test_devices_of_one_source_type_share_their_moments(user):
    push_samples(user, "heartrate", device_id=DEVICE)

    recorded = push_samples(user, "heartrate")

    assert recorded == RecordedSamples(created=0, updated=1, dropped=0)


def test_samples_come_out_by_time_however_they_came(user, alice_tenant):
    push_samples(user, "heartrate", *reversed(beats(60, 61, 62)))

    (event,) = emitted(alice_tenant)[1:]
    assert [each["value"] for each in event["data"]["data"]] == [60, 61, 62]


def test_many_samples_make_several_events(user, alice_tenant):
    many = [
        sample("heartrate", timestamp=f"2026-02-2{day}T{hour:02}:{minute:02}:00Z")
        for day in range(3)
        for hour in range(24)
        for minute in range(60)
    ][: 2 * EVENT_SAMPLES_MAX + 1]

    recorded = push_samples(user, "heartrate", *many)

    parts = [each["data"]["data"] for each in emitted(alice_tenant)[1:]]
    assert recorded.created == 2 * EVENT_SAMPLES_MAX + 1
    assert [len(part) for part in parts] == [EVENT_SAMPLES_MAX, EVENT_SAMPLES_MAX, 1]
    assert parts[1][0]["timestamp"] == "2026-02-20T16:40:00+00:00"


@pytest.mark.parametrize("number", [1, 500])
def test_a_batch_costs_the_same_statements_however_long(
    user, number, both_ways, monkeypatch
):
    monkeypatch.undo()  # packing at once takes statements of its own
    push_samples(user, "heartrate", *beats(60))
    if both_ways == "packed":
        assert pack_days_of_user(user_id=user.pk, before=EVER)
    batch = beats(*range(40, 40 + number), first=1)

    with count_statements() as sent:
        push_samples(user, "heartrate", *batch)

    assert len(sent) == {"rows": 11, "packed": 13}[both_ways]


@pytest.mark.parametrize(
    ("stamp", "offset", "is_kept"),
    [
        ("2026-02-10T00:00:00Z", None, True),
        ("2026-02-09T23:59:59Z", None, False),
        ("2026-02-09T23:30:00Z", 3600, True),
        ("2026-02-20T23:59:59Z", None, True),
        ("2026-02-21T00:00:00Z", None, False),
        ("2026-02-21T00:00:00-05:00", None, False),
        ("2026-02-21T00:00:00Z", -3600, True),
    ],
)
def test_what_is_dated_outside_of_the_bounds_is_dropped(
    alice_tenant, stamp, offset, is_kept
):
    user = make_user(
        tenant=alice_tenant,
        ingestion_start=date(2026, 2, 10),
        ingestion_end=date(2026, 2, 20),
    )

    recorded = push_samples(
        user, "heartrate", sample("heartrate", timestamp=stamp, timezone_offset=offset)
    )

    assert (recorded.created, recorded.dropped) == (int(is_kept), int(not is_kept))
    assert len(stored(user)) == int(is_kept)
    assert Connection.objects.for_tenant(alice_tenant).exists() is is_kept
    assert arrivals(alice_tenant)[0][2:] == (1, int(is_kept), 0, int(not is_kept))


def test_first_data_connects_a_source_and_mends_a_broken_one(alice_tenant):
    user = make_user(tenant=alice_tenant)
    push_samples(user, "heartrate")
    connection = Connection.objects.for_tenant(alice_tenant).get()
    move_status(connection, moves=CONNECTION_MOVES, to=ConnectionStatus.ERROR)

    push_samples(user, "heartrate", *beats(61, first=1))

    connection.refresh_from_db()
    assert connection.status == ConnectionStatus.CONNECTED
    assert emitted_types(alice_tenant) == [
        "provider.connection.created",
        CREATED,
        CREATED,
    ]


def test_a_batch_is_stored_whole_or_not_at_all(alice_tenant):
    user = make_user(tenant=alice_tenant)
    before = stored_rows(alice_tenant)

    with pytest.raises(ElementsInvalid) as refused:
        push_samples(user, "heartrate", *beats(60, -1, 61))

    assert [fault.loc for fault in refused.value.faults] == [(1, "value")]
    assert stored_rows(alice_tenant) == before


def test_a_source_nobody_can_connect_is_refused_and_so_is_a_deleted_user(alice_tenant):
    user = make_user(tenant=alice_tenant)
    before = stored_rows(alice_tenant)
    with pytest.raises(DomainError) as refused:
        push_samples(user, "heartrate", provider="nobody")
    unchanged = stored_rows(alice_tenant) == before
    delete_user(user=user, actor=ACTOR)
    before = stored_rows(alice_tenant)

    with pytest.raises(NotFound):
        push_samples(user, "heartrate")

    assert refused.value.code == "provider_unknown"
    assert unchanged
    assert stored_rows(alice_tenant) == before


def test_workouts_of_a_batch_are_kept_apart(user, alice_tenant):
    slug = "workout_distance"

    push_samples(
        user,
        slug,
        sample(slug),
        sample(slug, start=minute(20), end=minute(30), workout_id=str(DEVICE)),
        app_id="com.example.run",
    )

    found = Origin.objects.for_tenant(alice_tenant).order_by("workout_id")
    assert list(found.values_list("app_id", "workout_id", "sport")) == [
        ("com.example.run", DEVICE, "running"),
        ("com.example.run", UUID(WORKOUT), "running"),
    ]


def test_events_of_every_resource_are_in_the_catalogue():
    historical = load_event_types()["historical.data.fat.created"]

    validate(
        {
            "user_id": str(DEVICE),
            "start_date": "2026-02-01T00:00:00+00:00",
            "end_date": "2026-02-28T00:00:00+00:00",
            "provider": "oura",
        },
        historical.schema,
    )
    names = {each.event_resource for each in TIMESERIES.values()}
    assert len(names) == 50
    assert load_event_types().keys() >= {
        event
        for name in names
        for event in (
            f"daily.data.{name}.created",
            f"daily.data.{name}.updated",
            f"historical.data.{name}.created",
        )
    }


@pytest.mark.django_db(transaction=True)
def test_first_uploads_at_once_lose_and_repeat_nothing(alice_tenant):
    user = make_user(tenant=alice_tenant)
    # Each shares one moment with the next.
    batches = [beats(60, 61, 62, first=2 * place) for place in range(6)]

    def upload(batch):
        try:
            return push_samples(user, "heartrate", *batch)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(batches)) as pool:
        recorded = list(pool.map(upload, batches))

    assert sum(each.created for each in recorded) == len(stored(user)) == 13
    told = emitted(alice_tenant)
    assert [each["event_type"] for each in told].count(
        "provider.connection.created"
    ) == 1
    moments = [
        each["timestamp"]
        for event in told
        if event["event_type"] == CREATED
        for each in event["data"]["data"]
    ]
    assert sorted(moments) == [minute(place) for place in range(13)]


def test_history_is_stored_without_events_of_its_samples(user, alice_tenant):
    before = emitted_types(alice_tenant)

    recorded = record_samples(
        user=user,
        actor=ACTOR,
        resource=TIMESERIES["heartrate"],
        batch=SampleBatch(provider="oura", elements=beats(60, 61)),
        is_history=True,
    )

    assert recorded == RecordedSamples(created=2, updated=0, dropped=0)
    assert stored(user) == [60.0, 61.0]
    assert emitted_types(alice_tenant) == before


def test_movement_of_a_phone_names_its_device_where_the_team_wants_that(alice_tenant):
    user = make_user(tenant=alice_tenant)

    def devices(**batch):
        Origin.unscoped.all().delete()
        record_samples(
            user=user,
            actor=ACTOR,
            resource=TIMESERIES[batch.pop("resource", "steps")],
            batch=SampleBatch(elements=[sample("steps")], device_id=DEVICE, **batch),
        )
        return set(Origin.unscoped.values_list("device_id", flat=True))

    phone = {"provider": "apple_health_kit", "source_type": "phone"}
    merged = devices(**phone)
    ring = devices(provider="oura")
    alice_tenant.sdk_per_device_activity_timeseries = True
    alice_tenant.save()
    apart = devices(**{**phone, "source_type": "watch"})

    assert (merged, ring, apart) == (set(), {DEVICE}, {DEVICE})
