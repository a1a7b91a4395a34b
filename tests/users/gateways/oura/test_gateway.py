from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.factories.oura import (
    daily_activity_document,
    heart_rate_row,
    ring_document,
    session_document,
    sleep_document,
    tag_document,
    workout_document,
)
from tests.users.gateways.oura_server import status
from users.gateways.base import (
    AccessExpired,
    Grant,
    PulledDevice,
    ResourceRefused,
    SourceUnavailable,
)
from users.gateways.oura.gateway import OuraGateway
from users.gateways.sources import find_source_gateway
from users.models import User

SINCE = datetime(2026, 3, 1, tzinfo=UTC)
UNTIL = datetime(2026, 3, 10, 12, tzinfo=UTC)
POSITIONS = ["2026-02-11", "2026-01-14", ""]


def pull(resource, *, since=SINCE, until=UNTIL, scopes=(), position=""):
    """Its pages; the fallback zone is Oslo's."""
    return list(
        find_source_gateway("oura").pull(
            User(fallback_time_zone="Europe/Oslo"),
            resource,
            since,
            until=until,
            grant=Grant("access-1", scopes=scopes),
            position=position,
        )
    )


def elements(pages):
    return [each for page in pages for batch in page.batches for each in batch.elements]


def test_the_last_day_is_asked_for_with_the_one_after_it(oura):
    oura.collections["daily_activity"] = [
        daily_activity_document("2026-03-10"),
        daily_activity_document("2026-03-11"),
    ]

    days = [each["calendar_date"] for each in elements(pull("activity"))]

    assert days == ["2026-03-10", "2026-03-11"]
    assert oura.asked_for("daily_activity") == [
        {"start_date": "2026-02-28", "end_date": "2026-03-12"}
    ]


def test_every_page_of_an_answer_is_read(oura):
    oura.page_size = 2
    oura.collections["daily_activity"] = [
        daily_activity_document(f"2026-03-0{day}") for day in range(1, 6)
    ]

    assert len(elements(pull("activity"))) == 5
    asked = oura.asked_for("daily_activity")
    assert [each.get("next_token") for each in asked] == [None, "2", "4"]


def test_a_long_time_is_read_in_windows_that_heart_rates_allow(oura):
    oura.collections["heartrate"] = [
        heart_rate_row("2026-01-15T08:00:00+00:00"),
        heart_rate_row("2026-03-05T08:00:00+00:00"),
    ]

    pages = pull("heartrate", since=datetime(2026, 1, 2, tzinfo=UTC))

    # The newest first.
    assert [len(page.batches) for page in pages] == [1, 1, 0]
    assert [page.position for page in pages] == POSITIONS
    days = [
        page.batches[0].elements[0]["timestamp"][:10] for page in pages if page.batches
    ]
    assert days == ["2026-03-05", "2026-01-15"]
    assert pages[0].batches[0].source_type == "ring"


def test_a_pull_goes_on_at_its_position(oura):
    pages = pull(
        "heartrate", since=datetime(2026, 1, 2, tzinfo=UTC), position="2026-01-20"
    )

    assert len(pages) == 1
    (asked,) = oura.asked_for("heartrate")
    assert asked["start_datetime"] == "2026-01-01T00:00:00Z"
    assert asked["end_datetime"] == "2026-01-21T00:00:00Z"


def test_nights_give_heart_rates_where_those_of_the_day_were_not_granted(oura):
    oura.collections["sleep"] = [sleep_document()]

    samples = elements(pull("heartrate", scopes=("extapi:daily",)))

    assert [each["value"] for each in samples] == [60.0, 61.0]
    assert oura.asked_for("heartrate") == []


def test_sessions_add_to_heart_rate_variability_where_they_were_granted(oura):
    oura.collections["sleep"] = [sleep_document()]
    oura.collections["session"] = [session_document()]

    alone = elements(pull("hrv", scopes=("daily",)))
    both = elements(pull("hrv", scopes=("daily", "session")))

    assert [each["value"] for each in alone] == [40.0, 42.0]
    assert [each["value"] for each in both] == [40.0, 42.0, 50.0]


def test_what_was_typed_in_is_of_the_app_and_has_no_device(oura):
    oura.collections["workout"] = [
        workout_document(),
        workout_document(id="typed", source="manual"),
    ]
    oura.collections["enhanced_tag"] = [tag_document()]
    oura.collections["ring_configuration"] = [ring_document()]
    ring = PulledDevice("ring-1", "Oura", "Oura Ring 4", "2.10.4")

    (workouts,) = pull("workouts")
    (notes,) = pull("note")

    assert [(each.source_type, each.device) for each in workouts.batches] == [
        ("ring", ring),
        ("app", None),
    ]
    assert [(each.source_type, each.device) for each in notes.batches] == [
        ("app", None)
    ]


def test_of_two_rings_none_is_named(oura):
    oura.collections["sleep"] = [sleep_document()]
    oura.collections["ring_configuration"] = [ring_document(), ring_document(id="2")]

    (page,) = pull("sleep")

    assert page.batches[0].device is None


def test_rings_that_may_not_be_read_keep_nothing_else(oura):
    oura.collections["sleep"] = [sleep_document()]
    oura.refused = {"ring_configuration"}

    assert len(elements(pull("sleep"))) == 1


@pytest.mark.parametrize("code", [400, 403, 404, 422, 426])
def test_a_collection_that_is_not_given_refuses_its_resource(oura, code):
    oura.faults["daily_activity"] = [status(code)]

    with pytest.raises(ResourceRefused) as refused:
        pull("activity")

    assert refused.value.reason == f"http_{code}"


def test_a_token_that_is_not_taken_has_expired(oura):
    oura.access_token = "another"

    with pytest.raises(AccessExpired):
        pull("activity")


@pytest.mark.parametrize(
    "body",
    [[], {"data": None}, {"data": {}}, {"data": [], "next_token": 5}],
    ids=["list", "null", "object", "token"],
)
def test_an_answer_of_another_shape_may_be_asked_for_again(oura, body):
    oura.faults["daily_activity"] = [status(200, body or [1])]

    with pytest.raises(SourceUnavailable) as away:
        pull("activity")

    assert away.value.reason == "not_documents"


def test_pages_that_never_end_are_given_up(oura):
    endless = status(200, {"data": [], "next_token": "again"})
    oura.faults["daily_activity"] = [endless] * 201

    with pytest.raises(SourceUnavailable) as away:
        pull("activity")

    assert away.value.reason == "too_many_pages"


@pytest.mark.parametrize(
    ("scopes", "missing"),
    [
        ((), set()),
        (
            ("extapi:daily", "extapi:personal"),
            {
                "workouts",
                "blood_oxygen",
                "sleep_breathing_disturbance",
                "mindfulness_minutes",
                "note",
            },
        ),
        (("spo2Daily", "daily", "workout", "session", "tag"), {"profile"}),
    ],
    ids=["not told", "two", "old portal"],
)
def test_scopes_say_what_can_be_read(scopes, missing):
    gateway = OuraGateway()

    granted = gateway.granted_resources(Grant("a", scopes=scopes))

    assert set(gateway.resources) - granted == missing


def test_no_scope_we_know_grants_nothing():
    assert OuraGateway().granted_resources(Grant("a", scopes=("email",))) == set()
