from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from labs.models import Appointment
from labs.operations.appointments.changes import cancel_appointment
from labs.operations.appointments.entered_visits import (
    EnteredVisit,
    enter_agreed_visit,
)
from tests.factories.accounts import ACTOR
from tests.factories.appointments import make_bookable_order
from tests.factories.labs import make_order
from tests.labs.holdings import refused
from tests.labs.operations.appointments.test_site_confirmation import SCHEDULED, states
from tests.outbox import emitted

pytestmark = pytest.mark.django_db
START = datetime(2026, 12, 1, 16, 5, tzinfo=UTC)
VISIT = EnteredVisit(
    site_name="Corner Clinic",
    first_line="9 Example Road",
    city="Phoenix",
    state="AZ",
    zip_code="85004",
    start_at=START,
    end_at=START + timedelta(minutes=15),
    agreed_with="Front desk, R. Example",
    agreed_by="phone",
    external_id="C-77",
)


@pytest.fixture(autouse=True)
def now():
    with time_machine.travel("2026-11-24T15:00:00Z", tick=False):
        yield


def enter(order, **changes):
    return enter_agreed_visit(order=order, actor=ACTOR, visit=replace(VISIT, **changes))


def test_a_visit_that_no_directory_offers_is_confirmed_by_who_agreed(alice_production):
    order = make_bookable_order(tenant=alice_production)

    visit = enter(order)

    assert states(visit) == ("confirmed", SCHEDULED)
    [event] = visit.events.all()
    assert (event.status, event.actor_label) == ("scheduled", ACTOR.label)
    assert event.data == {
        "origin": "booking",
        "confirmed_by": "staff",
        "confirmed_with": "Front desk, R. Example",
        "agreed_by": "phone",
    }
    assert (visit.time_zone, visit.external_id) == ("America/Phoenix", "C-77")
    [sent] = [
        one["data"]
        for one in emitted(alice_production)
        if one["event_type"] == "labtest.appointment.created"
    ]
    assert (sent["status"], sent["provider"]) == ("confirmed", "quest")
    assert sent["address"]["first_line"] == "9 Example Road"

    cancel_appointment(order=order, actor=ACTOR, reason_id="other")
    again = enter(order, start_at=START + timedelta(minutes=5))
    assert again.status == "confirmed"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"agreed_with": "  "}, "agreed_with_missing"),
        ({"agreed_by": "hope"}, "agreed_by_unknown"),
        ({"zip_code": "00000"}, "zip_code_unknown"),
        ({"zip_code": "10001"}, "zip_code_elsewhere"),
        ({"start_at": datetime(2026, 11, 24, 15, tzinfo=UTC)}, "visit_time_invalid"),
        ({"end_at": START}, "visit_time_invalid"),
    ],
)
def test_what_was_not_agreed_is_no_visit(alice_production, changes, code):
    order = make_bookable_order(tenant=alice_production)

    with refused(alice_production, code):
        enter(order, **changes)

    assert not Appointment.objects.for_tenant(alice_production).exists()


def test_an_order_has_one_visit_and_only_once_it_can_be_booked(alice_tenant):
    order = make_bookable_order(tenant=alice_tenant)
    enter(order)
    early = make_order(tenant=alice_tenant)
    home = make_bookable_order(tenant=alice_tenant, method="at_home_phlebotomy")

    for one, code in (
        (order, "appointment_exists"),
        (early, "requisition_missing"),
        (home, "kind_of_visit_wrong"),
    ):
        with refused(alice_tenant, code):
            enter(one)
    assert Appointment.objects.for_tenant(alice_tenant).count() == 1
