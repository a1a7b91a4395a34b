from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from labs.models import Appointment, ServiceCenter, SlotPlace
from labs.states.catalogue import CollectionMethod
from tests.clients import error_lines
from tests.contract.document import check_answer
from tests.factories.appointments import HOME, make_bookable_order, make_center

NOW = datetime(2026, 3, 2, 16, tzinfo=UTC)  # a Monday, nine in Phoenix
pytestmark = pytest.mark.django_db

CENTERS = "/v3/order/psc/appointment/availability"
HOMES = "/v3/order/phlebotomy/appointment/availability"


@pytest.fixture(autouse=True)
def _clock(time_machine):
    time_machine.move_to(NOW, tick=False)


@pytest.fixture
def center():
    ServiceCenter.objects.all().delete()
    return make_center()


@pytest.fixture
def order(alice_tenant):
    return make_bookable_order(tenant=alice_tenant)


def path(order, rest="", kind="psc"):
    return f"/v3/order/{order.pk}/{kind}/appointment{rest}"


def keys_of(api, query="lab=quest&zip_code=85004"):
    reply = api.post(f"{CENTERS}?{query}")
    assert reply.status_code == 200, reply.content
    return [
        slot["booking_key"] for day in reply.json()["slots"] for slot in day["slots"]
    ]


def test_centers_answer_fourteen_days_each_without_a_body(alice_api, center):
    far = make_center(latitude=33.6)

    reply = alice_api.generic("POST", f"{CENTERS}?lab=quest&zip_code=85004&radius=50")

    check_answer(reply, "post", CENTERS)
    found = reply.json()
    assert found["timezone"] == "America/Phoenix"
    assert [day["location"]["code"] for day in found["slots"]] == (
        [center.site_code] * 14 + [far.site_code] * 14
    )
    dates = [date(2026, 3, 2) + timedelta(days=step) for step in range(14)]
    assert [day["date"] for day in found["slots"][:14]] == [str(d) for d in dates]
    first = found["slots"][0]["slots"][0]
    assert first == {
        "booking_key": first["booking_key"],
        "start": "2026-03-02T17:00:00+00:00",
        "end": "2026-03-02T17:20:00+00:00",
        "expires_at": "2026-03-02T16:15:00+00:00",
        "price": 0,
        "is_priority": False,
        "num_appointments_available": 1,
    }


# The second is no zip code in use.
@pytest.mark.parametrize("zip_code", ["10001", "99999"])
def test_where_no_site_is_in_reach_there_are_fourteen_empty_days(
    alice_api, center, zip_code
):
    query = f"lab=quest&zip_code={zip_code}&start_date=2026-03-05"

    reply = alice_api.post(f"{CENTERS}?{query}")

    days = reply.json()["slots"]
    assert [day["location"] for day in days] == [None] * 14
    assert [day["slots"] for day in days] == [[]] * 14
    assert (days[0]["date"], days[-1]["date"]) == ("2026-03-05", "2026-03-18")


@pytest.mark.parametrize(
    ("query", "line"),
    [
        ("zip_code=85004", (["query", "lab"], "missing")),
        ("lab=labcorp&zip_code=85004", (["query", "lab"], "enum")),
        ("lab=getlabs&zip_code=85004", (["query", "lab"], "enum")),
        ("lab=quest", (["query", "zip_code"], "missing")),
        (
            "lab=quest&zip_code=85004&radius=30",
            (["query", "radius"], "string_pattern_mismatch"),
        ),
        (
            "lab=quest&zip_code=85004&start_date=soon",
            (["query", "start_date"], "date_from_datetime_parsing"),
        ),
        (
            "lab=quest&site_codes=a&site_codes=b&site_codes=c&site_codes=d",
            (["query", "site_codes"], "string_too_long"),
        ),
    ],
)
def test_a_query_that_can_not_be_read_is_told_where(alice_api, query, line):
    assert error_lines(alice_api.post(f"{CENTERS}?{query}")) == [line]


@pytest.mark.parametrize(
    ("day", "code"),
    [
        ("2026-03-01", "start_date_past"),
        ("9999-12-31", "start_date_too_far"),
    ],
)
def test_a_first_day_out_of_reach_is_refused(alice_api, center, day, code):
    reply = alice_api.post(f"{CENTERS}?lab=quest&zip_code=85004&start_date={day}")

    assert (reply.status_code, reply.json()["code"]) == (400, code)


def test_homes_answer_where_somebody_comes_and_where_nobody_does(alice_api):
    reply = alice_api.post(HOMES, HOME)
    nobody = alice_api.post(HOMES, {**HOME, "zip_code": "59001"})

    check_answer(reply, "post", HOMES)
    days = reply.json()["slots"]
    assert (len(days), days[0]["location"]["address"]["first_line"]) == (
        *(14, HOME["first_line"]),
    )
    slot = days[1]["slots"][0]
    assert (slot["start"], slot["price"]) == ("2026-03-03T14:00:00+00:00", 7900)
    assert [day["location"] for day in nobody.json()["slots"]] == [None] * 14


def test_a_visit_is_booked_read_moved_and_called_off(alice_api, center, order):
    first, second = keys_of(alice_api)[:2]

    booked = alice_api.post(path(order, "/book"), {"booking_key": first})
    read = alice_api.get(path(order))
    moved = alice_api.patch(path(order, "/reschedule"), {"booking_key": second})
    reasons = alice_api.get("/v3/order/psc/appointment/cancellation-reasons")
    ended = alice_api.patch(
        path(order, "/cancel"),
        {"cancellationReasonId": reasons.json()[0]["id"], "note": "Rang"},
    )

    check_answer(booked, "post", "/v3/order/{order_id}/psc/appointment/book")
    check_answer(read, "get", "/v3/order/{order_id}/psc/appointment")
    check_answer(moved, "patch", "/v3/order/{order_id}/psc/appointment/reschedule")
    check_answer(reasons, "get", "/v3/order/psc/appointment/cancellation-reasons")
    check_answer(ended, "patch", "/v3/order/{order_id}/psc/appointment/cancel")
    assert read.json() == booked.json()
    told = booked.json()
    assert (
        told["status"],
        told["event_status"],
        told["type"],
        told["provider_id"],
    ) == (*("confirmed", "scheduled", "patient_service_center", center.site_code),)
    assert moved.json()["id"] == told["id"]
    assert moved.json()["start_at"] == "2026-03-02T17:20:00+00:00"
    assert moved.json()["event_data"] == {
        "is_reschedule": True,
        "previous_start_at": "2026-03-02T17:00:00+00:00",
    }
    assert [event["status"] for event in ended.json()["events"]] == [
        *("scheduled", "scheduled", "cancelled"),
    ]
    assert alice_api.get(path(order)).status_code == 404
    assert SlotPlace.objects.count() == 0
    order_now = alice_api.get(f"/v3/order/{order.pk}").json()
    assert order_now["details"]["data"]["appointment_id"] is None


def test_an_order_names_its_appointment(alice_api, center, order):
    booked = alice_api.post(
        path(order, "/book"), {"booking_key": keys_of(alice_api)[0]}
    )

    told = alice_api.get(f"/v3/order/{order.pk}").json()

    assert told["details"]["data"]["appointment_id"] == booked.json()["id"]


def test_a_taken_slot_is_answered_with_alternatives(alice_api, center, alice_tenant):
    key = keys_of(alice_api)[0]
    alice_api.post(
        path(make_bookable_order(tenant=alice_tenant), "/book"), {"booking_key": key}
    )

    reply = alice_api.post(
        path(make_bookable_order(tenant=alice_tenant), "/book"), {"booking_key": key}
    )

    check_answer(reply, "post", "/v3/order/{order_id}/psc/appointment/book")
    refused = reply.json()
    assert (reply.status_code, refused["code"]) == (400, "slot_taken")
    assert [one["start"] for one in refused["alternatives"]] == [
        "2026-03-02T17:20:00+00:00",
        "2026-03-03T17:00:00+00:00",
        "2026-03-02T17:40:00+00:00",
    ]


def test_one_key_books_once_and_finds_what_was_cut_off(alice_api, center, order):
    headers = {"x-idempotency-key": "k1"}
    body = {
        "booking_key": keys_of(alice_api)[0],
        "appointment_notes": "sandbox:cut",
    }

    cut, found, again = (
        alice_api.post(path(order, "/book"), body, headers=headers) for _ in range(3)
    )

    assert (cut.status_code, cut.json()["code"]) == (503, "provider_silent")
    assert found.json()["status"] == "confirmed"
    assert again.content == found.content
    assert Appointment.unscoped.count() == 1


def test_a_booking_that_may_wait_is_answered_pending(alice_api, center, order):
    reply = alice_api.post(
        path(order, "/book"),
        {
            "booking_key": keys_of(alice_api)[0],
            "appointment_notes": "sandbox:slow",
            "async_confirmation": True,
            "async_confirmation_timeout_millisecond": 60_000,
        },
    )

    assert reply.json()["status"] == "pending"
    kept = Appointment.unscoped.get()
    assert kept.confirm_by == NOW + timedelta(minutes=1)


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ({}, (["body", "booking_key"], "missing")),
        ({"booking_key": 5}, (["body", "booking_key"], "string_type")),
        (
            {"booking_key": "k", "sync_confirmation_timeout_millisecond": 999},
            (
                ["body", "sync_confirmation_timeout_millisecond"],
                "greater_than_equal",
            ),
        ),
    ],
)
def test_a_booking_that_can_not_be_read_is_told_where(alice_api, order, body, line):
    assert error_lines(alice_api.post(path(order, "/book"), body)) == [line]


def test_what_is_not_there_is_told_apart_from_what_was_called_off(
    alice_api, center, order
):
    cancel = {"cancellation_reason_id": "other"}

    missing = alice_api.patch(path(order, "/cancel"), cancel)
    nameless = alice_api.patch(path(order, "/cancel"), {})
    alice_api.post(path(order, "/book"), {"booking_key": keys_of(alice_api)[0]})
    unknown = alice_api.patch(path(order, "/cancel"), {"cancellation_reason_id": "?"})
    elsewhere = alice_api.patch(path(order, "/cancel", "phlebotomy"), cancel)
    alice_api.patch(path(order, "/cancel"), cancel)
    twice = alice_api.patch(path(order, "/cancel"), cancel)

    assert missing.status_code == 404
    assert error_lines(nameless) == [(["body", "cancellationReasonId"], "missing")]
    assert unknown.json()["code"] == "cancellation_reason_unknown"
    assert elsewhere.status_code == 404
    assert (twice.status_code, twice.json()["code"]) == (400, "appointment_cancelled")


def test_a_visit_to_a_home_is_asked_for(alice_api, alice_tenant):
    order = make_bookable_order(
        tenant=alice_tenant, method=CollectionMethod.AT_HOME_PHLEBOTOMY
    )

    reply = alice_api.post(
        path(order, "/request", "phlebotomy"),
        {"address": {**HOME, "zip_code": "54650"}, "provider": "phlebfinders"},
    )

    check_answer(reply, "post", "/v3/order/{order_id}/phlebotomy/appointment/request")
    told = reply.json()
    assert (told["status"], told["start_at"], told["external_id"]) == (
        *("pending", None, None),
    )


def test_a_visit_of_the_other_kind_is_refused(alice_api, center, order):
    reply = alice_api.post(
        path(order, "/book", "phlebotomy"), {"booking_key": keys_of(alice_api)[0]}
    )

    assert (reply.status_code, reply.json()["code"]) == (400, "kind_of_visit_wrong")
    assert Appointment.unscoped.count() == 0
