from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from itertools import permutations
from uuid import UUID

import pytest
from django.db import connection
from jsonschema import validate

from accounts.webhooks.catalogue import load_event_types
from portal.lib.database.transitions import move_status
from portal.lib.errors import NotFound
from tests.audit import changes_of
from tests.factories.accounts import ACTOR
from tests.factories.summaries import LEAST, cycle_element, night_element, record
from tests.factories.users import make_user
from tests.outbox import emitted, emitted_types
from tests.statements import count_statements
from tests.users.holdings import ALWAYS_WRITTEN, stored_rows
from users.models import Arrival, Connection, Summary
from users.models.sources.arrival import ARRIVAL_RETENTION
from users.operations.data.summaries import (
    SummaryBatch,
    delete_old_arrivals,
    record_summaries,
)
from users.operations.sources.sources import connect_source, disconnect_source
from users.operations.users.users import (
    UserChanges,
    delete_user,
    erase_user,
    update_user,
)
from users.states import CONNECTION_MOVES, ConnectionStatus
from users.wearables.readings import ElementsInvalid
from users.wearables.resources import derive_summary_id
from users.wearables.summaries import SUMMARIES

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LATER = datetime(2026, 3, 2, 12, tzinfo=UTC)
DEVICE = UUID("0b8ed3d5-7a0c-4f5e-8a52-6f3ff3c0a111")


@pytest.fixture(autouse=True)
def _noon(time_machine):
    time_machine.move_to(NOON, tick=False)


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant, client_user_id="u-1")


@pytest.fixture
def connected(user):
    connect_source(user=user, actor=ACTOR, provider="oura")
    return user


def stored(tenant):
    return list(Summary.objects.for_tenant(tenant).order_by("starts_at", "id"))


def arrivals(tenant):
    return list(
        Arrival.objects.for_tenant(tenant)
        .order_by("id")
        .values_list(
            "provider", "resource", "received", "created", "updated", "dropped"
        )
    )


def test_a_summary_is_kept_with_what_came(connected, alice_tenant):
    element = night_element(vendor_score=81)

    recorded = record(
        connected,
        "sleep_cycle",
        element,
        source_type="ring",
        app_id="com.example.ring",
        device_id=DEVICE,
    )

    (summary,) = stored(alice_tenant)
    assert recorded.ids == (summary.id,)
    assert (recorded.created, recorded.updated, recorded.dropped) == (1, 0, 0)
    assert summary.user == connected
    assert summary.kind == "sleep_cycle"
    assert summary.provider == "oura"
    assert summary.source_type == "ring"
    assert summary.app_id == "com.example.ring"
    assert summary.device_id == DEVICE
    assert summary.calendar_date == summary.last_date == date(2026, 3, 1)
    assert summary.starts_at == datetime(2026, 2, 28, 22, tzinfo=UTC)
    assert summary.ends_at == datetime(2026, 3, 1, tzinfo=UTC)
    assert summary.raw == element
    assert summary.version == 1
    assert summary.created_at == summary.updated_at == NOON
    assert arrivals(alice_tenant) == [("oura", "sleep_cycle", 1, 1, 0, 0)]
    assert changes_of(alice_tenant, "record_summaries") == {"created": 1, "updated": 0}


@pytest.mark.parametrize("slug", sorted(LEAST))
def test_each_summary_emits_one_event_as_the_catalogue_says(
    connected, alice_tenant, slug
):
    record(connected, slug)
    record(connected, slug, source_type="ring")

    _, created, updated = emitted(alice_tenant)
    assert created["event_type"] == f"daily.data.{slug}.created"
    assert updated["event_type"] == f"daily.data.{slug}.updated"
    for envelope in (created, updated):
        validate(envelope["data"], load_event_types()[envelope["event_type"]].schema)
        assert envelope["user_id"] == envelope["data"]["user_id"] == str(connected.uuid)
    assert created["data"]["id"] == updated["data"]["id"]


def test_an_event_names_its_source_as_events_do(connected, alice_tenant, settings):
    settings.PUBLIC_URL = "https://assay.example"

    record(connected, "sleep_cycle", source_type="ring", device_id=DEVICE)

    data = emitted(alice_tenant)[-1]["data"]
    assert data["source"] == {
        "name": "Oura",
        "slug": "oura",
        "logo": "https://assay.example/logos/oura.svg",
        "provider": "oura",
        "type": "ring",
        "app_id": None,
        "device_id": str(DEVICE),
    }
    assert data["session_start"] == "2026-02-28T22:00:00"
    assert data["created_at"] == data["updated_at"] == "2026-03-01T12:00:00+00:00"


def test_events_come_by_start(connected, alice_tenant):
    record(
        connected,
        "menstrual_cycle",
        cycle_element(period_start="2026-02-04"),
        cycle_element(period_start="2026-02-02"),
        cycle_element(period_start="2026-02-03"),
    )

    starts = [each["data"]["period_start"] for each in emitted(alice_tenant)[1:]]
    assert starts == ["2026-02-02", "2026-02-03", "2026-02-04"]


def test_a_later_version_replaces_the_one_before(connected, alice_tenant, time_machine):
    record(connected, "menstrual_cycle")
    time_machine.move_to(LATER, tick=False)

    recorded = record(
        connected, "menstrual_cycle", cycle_element(cycle_end="2026-03-03")
    )

    (summary,) = stored(alice_tenant)
    assert (recorded.created, recorded.updated) == (0, 1)
    assert recorded.ids == (summary.id,)
    assert summary.body["cycle_end"] == "2026-03-03"
    assert summary.raw["cycle_end"] == "2026-03-03"
    assert summary.last_date == date(2026, 3, 3)
    assert summary.version == 2
    assert (summary.created_at, summary.updated_at) == (NOON, LATER)
    assert emitted_types(alice_tenant)[1:] == [
        "daily.data.menstrual_cycle.created",
        "daily.data.menstrual_cycle.updated",
    ]


def test_a_file_fills_what_is_empty_and_keeps_what_its_cloud_gave(
    connected, alice_tenant
):
    resource = SUMMARIES["sleep"]

    def given(element, **options):
        batch = SummaryBatch(provider="oura", elements=[element])
        counts = record_summaries(
            user=connected, actor=ACTOR, resource=resource, batch=batch, **options
        )
        return counts.created, counts.updated

    stages = {"light": 9000, "deep": 5400, "type": "long_sleep"}
    cloud = {**LEAST["sleep"], **stages, "hr_lowest": 48}
    poorer = LEAST["sleep"]
    fuller = {**LEAST["sleep"], "average_hrv": 61}
    of_file = {"is_history": True, "is_file": True}

    assert given(cloud) == (1, 0)
    assert given(poorer, **of_file) == (0, 0)
    assert given(fuller, **of_file) == (0, 1)
    assert given(fuller, **of_file) == (0, 0)
    (row,) = stored(alice_tenant)
    assert (row.body["hr_lowest"], row.body["average_hrv"]) == (48, 61)
    assert {name: row.body[name] for name in stages} == stages
    assert row.body["total"] == 14400
    assert emitted_types(alice_tenant).count("daily.data.sleep.updated") == 0


def test_a_night_of_a_file_without_id_is_the_one_of_its_cloud(connected, alice_tenant):
    cloud = {
        "external_id": "n-1",
        "bedtime_start": "2026-02-28T22:00:00.774+00:00",
        "bedtime_stop": "2026-03-01T06:00:00.512+00:00",
        "type": "long_sleep",
        "light": 9000,
        "deep": 5400,
        "hr_lowest": 48,
    }
    record(connected, "sleep", cloud)
    before = stored(alice_tenant)[0]

    def imported(element):
        batch = SummaryBatch(provider="oura", elements=[element])
        counts = record_summaries(
            user=connected,
            actor=ACTOR,
            resource=SUMMARIES["sleep"],
            batch=batch,
            is_history=True,
            is_file=True,
        )
        return counts.created, counts.updated, counts.ids

    assert imported(LEAST["sleep"]) == (0, 0, (before.pk,))
    assert imported({**LEAST["sleep"], "hr_lowest": 47}) == (0, 0, (before.pk,))
    assert imported({**LEAST["sleep"], "average_hrv": 61}) == (0, 1, (before.pk,))
    assert imported({**LEAST["sleep"], "average_hrv": 61}) == (0, 0, (before.pk,))
    (row,) = stored(alice_tenant)
    assert row.body == {**before.body, "average_hrv": 61}
    assert emitted_types(alice_tenant).count("daily.data.sleep.updated") == 0
    later = {**LEAST["sleep"], "bedtime_start": "2026-02-28T22:00:01+00:00"}
    assert imported(later)[:2] == (1, 0)


NIGHT_OF_FILE = {**LEAST["sleep"], "average_hrv": 61, "hr_lowest": 47}
NIGHT_OF_CLOUD = {
    "bedtime_start": "2026-02-28T22:00:00.774+00:00",
    "bedtime_stop": "2026-03-01T06:00:00.512+00:00",
    "type": "long_sleep",
    "light": 9000,
    "hr_lowest": 48,
}


@pytest.mark.parametrize("is_file_first", [True, False], ids=["file", "cloud"])
@pytest.mark.parametrize(
    ("of_file", "of_cloud"),
    [({}, {"external_id": "n-1"}), ({"external_id": "n-1"},) * 2, ({}, {})],
    ids=["id of the cloud", "one id", "no id"],
)
def test_file_and_cloud_make_one_night_in_any_order(
    connected, alice_tenant, is_file_first, of_file, of_cloud
):
    def given(element, *, is_file=False):
        batch = SummaryBatch(provider="oura", elements=[element])
        counts = record_summaries(
            user=connected,
            actor=ACTOR,
            resource=SUMMARIES["sleep"],
            batch=batch,
            is_history=is_file,
            is_file=is_file,
        )
        return counts.created, counts.updated, counts.ids

    of_file, of_cloud = NIGHT_OF_FILE | of_file, NIGHT_OF_CLOUD | of_cloud
    orders = [(of_file, True), (of_cloud, False)]
    for number, (element, is_file) in enumerate(
        orders if is_file_first else orders[::-1]
    ):
        found = given(element, is_file=is_file)
        assert found[:2] == ((1, 0) if number == 0 else (0, 1))

    (row,) = stored(alice_tenant)
    joined = {"average_hrv": 61, "hr_lowest": 48, "light": 9000, "type": "long_sleep"}
    assert {name: row.body[name] for name in joined} == joined
    assert row.starts_at.microsecond == 774_000
    assert row.raw.get("external_id") == of_cloud.get("external_id")
    for _ in range(2):
        assert given(of_file, is_file=True) == (0, 0, (row.pk,))
        assert given(of_cloud) == (0, 0, (row.pk,))
    # Moved by its source: the record is told by its id, its values of the file stay.
    if of_cloud.get("external_id"):
        later = of_cloud | {
            "bedtime_stop": "2026-03-01T06:10:00+00:00",
            "hr_lowest": None,
        }
        assert given(later) == (0, 1, (row.pk,))
        (row,) = stored(alice_tenant)
        assert (row.body["hr_lowest"], row.body["average_hrv"]) == (47, 61)
    assert len(stored(alice_tenant)) == 1


def test_two_nights_of_a_cloud_share_no_night_of_a_file(connected, alice_tenant):
    for is_file, element in [
        (True, NIGHT_OF_FILE),
        (False, NIGHT_OF_CLOUD | {"external_id": "n-1"}),
        (False, NIGHT_OF_CLOUD | {"external_id": "n-2"}),
    ]:
        record_summaries(
            user=connected,
            actor=ACTOR,
            resource=SUMMARIES["sleep"],
            batch=SummaryBatch(provider="oura", elements=[element]),
            is_file=is_file,
        )

    rows = {row.raw["external_id"]: row for row in stored(alice_tenant)}
    assert {name: row.body["average_hrv"] for name, row in rows.items()} == {
        "n-1": 61,
        "n-2": None,
    }


def test_a_cycle_names_the_night_that_a_file_stored_first(connected, alice_tenant):
    night = {"bedtime_start": "session_start", "bedtime_stop": "session_end"}
    cycle = {name: NIGHT_OF_CLOUD[old] for old, name in night.items()}
    for kind, is_file, element in [
        ("sleep", True, NIGHT_OF_FILE),
        ("sleep", False, NIGHT_OF_CLOUD | {"external_id": "n-1"}),
        ("sleep_cycle", False, night_element(**cycle, external_id="n-1")),
    ]:
        record_summaries(
            user=connected,
            actor=ACTOR,
            resource=SUMMARIES[kind],
            batch=SummaryBatch(provider="oura", elements=[element]),
            is_file=is_file,
        )

    rows = {row.kind: row for row in stored(alice_tenant)}
    assert rows["sleep_cycle"].body["sleep_id"] == str(rows["sleep"].pk)


def test_what_is_unchanged_leaves_the_row_and_emits_nothing(
    connected, alice_tenant, time_machine
):
    record(connected, "sleep_cycle")
    before = stored_rows(alice_tenant)
    time_machine.move_to(LATER, tick=False)

    recorded = record(connected, "sleep_cycle", night_element(vendor_note="again"))

    after = stored_rows(alice_tenant)
    assert (recorded.created, recorded.updated, recorded.dropped) == (0, 0, 0)
    assert recorded.ids == (before["Summary"][0]["id"],)
    assert arrivals(alice_tenant)[1:] == [("oura", "sleep_cycle", 1, 0, 0, 0)]
    assert after | ALWAYS_WRITTEN == before | ALWAYS_WRITTEN


def test_of_one_batch_the_last_with_an_id_counts_once(connected, alice_tenant):
    recorded = record(
        connected,
        "menstrual_cycle",
        cycle_element(cycle_end="2026-03-01"),
        cycle_element(cycle_end="2026-03-02"),
    )

    (summary,) = stored(alice_tenant)
    assert recorded.created == 1
    assert recorded.ids == (summary.id,)
    assert summary.body["cycle_end"] == "2026-03-02"
    assert len(emitted_types(alice_tenant)) == 2


@pytest.mark.parametrize("order", [*permutations(range(3))])
def test_any_order_of_different_summaries_gives_the_same_rows(
    connected, alice_tenant, order
):
    nights = [
        night_element(
            session_start=f"2026-02-2{n}T22:00:00",
            session_end=f"2026-02-2{n + 1}T00:00:00",
        )
        for n in range(3)
    ]

    for index in order:
        record(connected, "sleep_cycle", nights[index], nights[0])

    assert [each.raw for each in stored(alice_tenant)] == nights
    assert {each.version for each in stored(alice_tenant)} == {1}


def test_ids_are_the_same_wherever_they_are_made(user, alice_tenant, charlie_tenant):
    other = make_user(tenant=charlie_tenant)
    (mine,) = record(user, "sleep_cycle").ids

    assert record(user, "sleep_cycle").ids == (mine,)
    assert record(user, "sleep_cycle", provider="fitbit").ids != (mine,)
    assert record(other, "sleep_cycle").ids != (mine,)
    assert mine.version == 5


def test_an_external_id_tells_summaries_of_one_start_apart(user, alice_tenant):
    by_start, first, second = (
        record(user, "menstrual_cycle", cycle_element(**named)).ids[0]
        for named in ({}, {"external_id": "a"}, {"external_id": "b"})
    )

    moved = record(
        user,
        "menstrual_cycle",
        cycle_element(external_id="a", period_start="2026-02-01"),
    )

    assert len({by_start, first, second}) == 3
    assert moved.ids == (first,)
    assert moved.updated == 1


def test_a_session_names_the_sleep_that_covers_it(connected, alice_tenant):
    record(connected, "sleep_cycle")
    (cycle,) = stored(alice_tenant)
    expected = derive_summary_id(
        connected.uuid, "oura", "sleep", "key:2026-02-28T22:00:00+00:00"
    )
    assert cycle.body["sleep_id"] == str(expected)  # the sleep of these times to come

    # A nap beside it, another source's, then the night under an ID of its own.
    for start, stop, provider in [
        ("2026-02-28T20:00:00Z", "2026-02-28T22:30:00Z", "oura"),
        ("2026-02-28T22:00:00Z", "2026-03-01T00:00:00Z", "fitbit"),
    ]:
        times = {"bedtime_start": start, "bedtime_stop": stop}
        record(connected, "sleep", times, provider=provider)
    assert cycle.body in [each.body for each in stored(alice_tenant)]
    night = {
        "external_id": "n-1",
        "bedtime_start": "2026-02-28T21:45:00Z",
        "bedtime_stop": "2026-03-01T00:10:00Z",
    }
    (sleep_id,) = record(connected, "sleep", night).ids

    (row,) = [each for each in stored(alice_tenant) if each.kind == "sleep_cycle"]
    assert (row.body["sleep_id"], row.version) == (str(sleep_id), 2)
    types = emitted_types(alice_tenant)[-2:]
    assert types == ["daily.data.sleep.created", "daily.data.sleep_cycle.updated"]
    assert emitted(alice_tenant)[-1]["data"]["sleep_id"] == str(sleep_id)
    # Sent again, it is the same: nothing to tell.
    again = record(connected, "sleep_cycle")
    assert (again.created, again.updated) == (0, 0)
    assert record(connected, "sleep", night).updated == 0


def test_a_session_cannot_name_a_sleep_that_is_not_there(
    connected, charlie_tenant, alice_tenant
):
    other = make_user(tenant=charlie_tenant)
    (foreign,) = record(other, "sleep").ids
    (mine,) = record(connected, "sleep").ids
    before = stored_rows(alice_tenant)

    for unknown in ("5b1f4c7e-54c8-4b36-9d2e-aa13c7b0f001", str(foreign)):
        elements = night_element(), night_element(sleep_id=unknown)
        with pytest.raises(ElementsInvalid) as refused:
            record(connected, "sleep_cycle", *elements)
        (fault,) = refused.value.faults
        assert (fault.loc, fault.type) == ((1, "sleep_id"), "value_error")
    assert stored_rows(alice_tenant) == before

    record(connected, "sleep_cycle", night_element(sleep_id=str(mine)))
    assert emitted(alice_tenant)[-1]["data"]["sleep_id"] == str(mine)


def test_a_profile_gives_the_fallback_birth_date_unless_the_team_did(
    connected, alice_tenant
):
    def pushed(birth_date, provider="oura"):
        record(connected, "profile", {"birth_date": birth_date}, provider=provider)
        connected.refresh_from_db()
        return (
            str(connected.fallback_birth_date),
            connected.fallback_birth_date_source,
        )

    assert pushed(None) == ("None", "")
    assert pushed("1990-05-17") == ("1990-05-17", "oura")
    assert connected.fallback_birth_date_updated_at == NOON
    assert changes_of(alice_tenant, "adopt_birth_date") == {
        "fields": ["fallback_birth_date"],
        "source": "oura",
    }
    assert pushed("1991-01-01", provider="fitbit") == ("1990-05-17", "oura")
    assert pushed("1990-05-18") == ("1990-05-18", "oura")
    mine = UserChanges(fallback_birth_date=date(1980, 1, 1))
    update_user(user=connected, actor=ACTOR, changes=mine)
    assert pushed("1990-05-17") == ("1980-01-01", "manual")


def test_the_first_data_of_a_source_connects_it(user, alice_tenant):
    record(user, "sleep_cycle")

    assert Connection.objects.for_tenant(alice_tenant).get().provider == "oura"
    assert emitted_types(alice_tenant) == [
        "provider.connection.created",
        "daily.data.sleep_cycle.created",
    ]


def test_data_of_a_source_that_was_disconnected_connects_it_again(
    connected, alice_tenant
):
    disconnect_source(user=connected, actor=ACTOR, provider="oura")

    record(connected, "sleep_cycle")

    live = Connection.objects.for_tenant(alice_tenant).live()
    assert [each.provider for each in live] == ["oura"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (ConnectionStatus.ERROR, ConnectionStatus.CONNECTED),
        (ConnectionStatus.PAUSED, ConnectionStatus.PAUSED),
    ],
)
def test_data_mends_a_broken_source_and_leaves_a_paused_one(
    user, alice_tenant, before, after
):
    source = connect_source(user=user, actor=ACTOR, provider="oura")
    move_status(source, moves=CONNECTION_MOVES, to=before)

    record(user, "sleep_cycle")

    assert Connection.objects.for_tenant(alice_tenant).get().status == after


@pytest.mark.parametrize(
    ("bounds", "dropped"),
    [
        ({"ingestion_start": date(2026, 3, 1)}, 0),
        ({"ingestion_start": date(2026, 3, 2)}, 1),
        ({"ingestion_end": date(2026, 3, 1)}, 0),
        ({"ingestion_end": date(2026, 2, 28)}, 1),
    ],
)
def test_data_outside_of_the_bounds_is_dropped(alice_tenant, bounds, dropped):
    user = make_user(tenant=alice_tenant, **bounds)

    recorded = record(user, "sleep_cycle")

    kept = 1 - dropped
    assert (recorded.created, recorded.dropped) == (kept, dropped)
    assert len(recorded.ids) == len(stored(alice_tenant)) == kept
    assert Connection.objects.for_tenant(alice_tenant).count() == kept
    assert len(emitted_types(alice_tenant)) == 2 * kept
    assert arrivals(alice_tenant) == [("oura", "sleep_cycle", 1, kept, 0, dropped)]


def test_a_cycle_of_which_one_day_is_in_the_bounds_is_kept(alice_tenant):
    user = make_user(
        tenant=alice_tenant,
        ingestion_start=date(2026, 3, 1),
        ingestion_end=date(2026, 3, 1),
    )

    recorded = record(user, "menstrual_cycle")

    assert (recorded.created, recorded.dropped) == (1, 0)


def test_one_bad_element_refuses_the_batch(connected, alice_tenant):
    before = stored_rows(alice_tenant)

    with pytest.raises(ElementsInvalid) as refused:
        record(
            connected,
            "sleep_cycle",
            night_element(),
            night_element(stage_type=[2, 1]),
        )

    assert [(each.loc, each.type) for each in refused.value.faults] == [
        ((1, "stage_type"), "value_error")
    ]
    assert stored_rows(alice_tenant) == before


def test_a_deleted_user_takes_no_data(connected, alice_tenant):
    delete_user(user=connected, actor=ACTOR)
    before = stored_rows(alice_tenant)

    with pytest.raises(NotFound):
        record(connected, "sleep_cycle")

    assert stored_rows(alice_tenant) == before


@pytest.mark.parametrize("number", [1, 2, 50])
def test_a_batch_takes_the_same_statements_whatever_its_size(connected, number):
    elements = [
        night_element(
            session_start=f"2026-02-27T{n // 60:02}:{n % 60:02}:00",
            session_end=f"2026-02-27T{n // 60 + 2:02}:{n % 60:02}:00",
        )
        for n in range(number)
    ]

    with count_statements() as sent:
        recorded = record(connected, "sleep_cycle", *elements)

    assert recorded.created == number
    # A savepoint and its release; user, records of files, sleeps, connection,
    # summaries, arrival, audit, events.
    assert len(sent) == 10


def test_erasing_a_user_takes_summaries_and_arrivals_along(
    user, alice_tenant, time_machine
):
    other = make_user(tenant=alice_tenant)
    record(user, "sleep_cycle")
    record(other, "sleep_cycle")
    delete_user(user=user, actor=ACTOR)
    time_machine.move_to(NOON + timedelta(days=7), tick=False)

    erase_user(tenant=alice_tenant, actor=ACTOR, user_uuid=user.uuid)

    assert [each.user for each in stored(alice_tenant)] == [other]
    assert [each.user for each in Arrival.objects.for_tenant(alice_tenant)] == [other]
    assert {each["user_id"] for each in emitted(alice_tenant)} == {str(other.uuid)}


def test_old_arrivals_are_forgotten(user, alice_tenant, time_machine):
    record(user, "sleep_cycle")
    time_machine.move_to(NOON + ARRIVAL_RETENTION, tick=False)
    kept_still = delete_old_arrivals()
    time_machine.move_to(
        NOON + ARRIVAL_RETENTION + timedelta(microseconds=1), tick=False
    )

    removed = delete_old_arrivals()

    assert (kept_still, removed) == (0, 1)
    assert arrivals(alice_tenant) == []
    assert len(stored(alice_tenant)) == 1


@pytest.mark.django_db(transaction=True)
def test_concurrent_first_uploads_lose_nothing(alice_tenant):
    user = make_user(tenant=alice_tenant)
    nights = [
        night_element(
            session_start=f"2026-02-{n + 10}T22:00:00",
            session_end=f"2026-02-{n + 11}T00:00:00",
        )
        for n in range(8)
    ]

    def upload(night):
        try:
            return record(user, "sleep_cycle", night, nights[0]).created
        finally:
            connection.close()

    with ThreadPoolExecutor(len(nights)) as pool:
        created = sum(pool.map(upload, nights))

    assert created == len(nights)
    assert [each.raw for each in stored(alice_tenant)] == nights
    assert sorted(emitted_types(alice_tenant)) == [
        *["daily.data.sleep_cycle.created"] * len(nights),
        "provider.connection.created",
    ]


def test_history_is_stored_without_events_of_its_summaries(connected, alice_tenant):
    before = emitted_types(alice_tenant)

    recorded = record_summaries(
        user=connected,
        actor=ACTOR,
        resource=SUMMARIES["sleep_cycle"],
        batch=SummaryBatch(provider="oura", elements=[night_element()]),
        is_history=True,
    )

    assert recorded.created == 1
    assert len(stored(alice_tenant)) == 1
    assert emitted_types(alice_tenant) == before
