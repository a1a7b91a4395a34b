from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from accounts.states import Role
from labs.models import Appointment, Order, OrderEvent, ShipmentEvent
from labs.operations.appointments.booking import BookingRequest, book_appointment
from labs.operations.appointments.slots import list_home_slots
from labs.operations.order_status.status import advance_order
from labs.operations.orders.placing import cancel_order
from labs.queries.orders.orders import get_order_with_details
from labs.states.catalogue import CollectionMethod
from tests.audit import changes_of
from tests.factories.accounts import ACTOR
from tests.factories.appointments import HOME, make_bookable_order
from tests.factories.labs import (
    PHYSICIAN,
    make_lab,
    make_lab_account,
    make_lab_test,
    make_order,
)
from tests.factories.shipments import make_kit, report_shipment
from tests.jobs import queued
from tests.labs.holdings import holdings
from tests.labs.web.orders.test_order_page import signed_in, url
from tests.outbox import emitted_types

pytestmark = pytest.mark.django_db


@pytest.fixture
def web(alice_production):
    return signed_in(alice_production, Role.LAB_STAFF)


@pytest.fixture
def kit(alice_production):
    return make_kit(tenant=alice_production)


def step(name, at=None, **fields):
    at = timezone.localtime(at or timezone.now())
    return {"step": name, "day": f"{at:%Y-%m-%d}", "time": f"{at:%H:%M}", **fields}


def lows(order):
    kept = get_order_with_details(tenant=order.tenant, order_id=order.pk)
    return [event.status.split(".")[2] for event in kept.events.all()]


def steps_offered(page):
    groups = page.context["form"].fields["step"].choices[1:]
    return [value for _name, group in groups for value, _label in group]


def test_the_page_offers_a_step_in_production_and_not_in_the_sandbox(
    web, kit, alice_web, alice_tenant
):
    sandbox_kit = make_kit(tenant=alice_tenant)

    assert url(kit, "record_step") in web.get(url(kit)).text
    assert url(sandbox_kit, "record_step") not in alice_web.get(url(sandbox_kit)).text


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31", "1026-11-23"])
@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/Los_Angeles"])
def test_a_day_at_an_end_of_the_calendar_is_refused(web, kit, day, zone):
    before = lows(kit)
    timed = {"step": "transit_customer", "day": day, "time": "23:59"}

    with timezone.override(zone):
        reply = web.post(url(kit, "record_step"), timed)

    assert reply.status_code == 422
    assert lows(kit) == before


def test_a_member_records_that_a_kit_was_sent(web, kit, alice_production):
    sent = timezone.now() - timedelta(hours=5)
    asked = web.get(url(kit, "record_step"))
    reply = web.post(
        url(kit, "record_step"),
        step("transit_customer", sent, tracking_number="OUT-1", note="By post"),
    )

    assert steps_offered(asked) == [
        *("transit_customer", "delivered_to_lab", "do_not_process")
    ]
    assert (reply.status_code, reply["Location"]) == (302, url(kit))
    row = ShipmentEvent.objects.for_tenant(alice_production).get()
    assert row.occurred_at == sent.replace(second=0, microsecond=0)
    assert (row.reporter, row.tracking_number) == ("member", "OUT-1")
    page = web.get(url(kit))
    group = page.context["history"][0]
    latest = group.last
    assert latest.label == "Kit sent" or "transit_customer" in latest.raw
    assert "Occurred" in latest.detail
    assert "By post" in latest.detail
    assert (latest.actor_label, group.kind) == (row.actor_label, "")


@pytest.mark.parametrize(
    ("before", "ending"),
    [
        (["transit_customer"], "lost"),
        (["transit_customer"], "failure_to_deliver_to_customer"),
        (["transit_customer", "with_customer", "transit_lab"], "lost"),
        (["delivered_to_lab"], "sample_error"),
        ([], "do_not_process"),
    ],
)
def test_a_step_that_ends_the_order_is_confirmed(web, kit, before, ending):
    report_shipment(kit, *before, at=timezone.now() - timedelta(hours=1))
    held = holdings(kit.tenant)

    unsure = web.post(url(kit, "record_step"), step(ending))

    assert unsure.status_code == 422
    assert "Confirm that this step ends the order." in unsure.text
    assert holdings(kit.tenant) == held
    assert web.post(url(kit, "record_step"), step(ending, ends="on")).status_code == 302
    assert lows(kit)[-1] == ending


def test_a_sample_that_is_not_usable_has_its_reason(web, kit):
    report_shipment(kit, "delivered_to_lab", at=timezone.now() - timedelta(hours=1))

    web.post(
        url(kit, "record_step"),
        step("sample_error", detail="sample_hemolyzed", ends="on"),
    )

    event = OrderEvent.objects.for_tenant(kit.tenant).last()
    assert (event.status, event.status_detail) == (
        "failed.testkit.sample_error",
        "sample_hemolyzed",
    )
    assert changes_of(kit.tenant, "record_lab_step") == {
        "status": [
            "sample_with_lab.testkit.delivered_to_lab",
            "failed.testkit.sample_error",
        ]
    }


def test_a_detail_of_another_step_is_refused(web, kit):
    report_shipment(kit, "delivered_to_lab", at=timezone.now() - timedelta(hours=1))
    held = holdings(kit.tenant)

    reply = web.post(
        url(kit, "record_step"),
        step("lab_processing_blocked", detail="sample_hemolyzed"),
    )

    assert reply.status_code == 422
    assert "has no detail" in reply.text
    assert holdings(kit.tenant) == held


def test_an_order_not_to_be_processed_is_called_off_at_its_lab(web, kit):
    web.post(url(kit, "record_step"), step("do_not_process", ends="on"))

    assert lows(kit)[-1] == "do_not_process"
    assert "labs.call_off" in [job.name for job in queued()]


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        (step("with_customer"), "take this step now"),
        (step("completed"), "take this step now"),
        (
            step("transit_customer", timezone.now() + timedelta(days=1)),
            "not in the future",
        ),
        ({"step": "transit_customer", "day": "", "time": "10:00"}, "required"),
        (step(""), "Choose a step."),
    ],
    ids=range(5),
)
def test_a_step_that_cannot_be_changes_nothing(web, kit, fields, says):
    held = holdings(kit.tenant)

    reply = web.post(url(kit, "record_step"), fields)

    assert reply.status_code == 422
    assert says in reply.text
    assert holdings(kit.tenant) == held


def test_an_ended_order_has_no_step(web, kit):
    cancel_order(order=kit, actor=ACTOR)

    reply = web.post(url(kit, "record_step"), step("transit_customer"))

    assert (reply.status_code, reply["Location"]) == (302, url(kit))
    assert lows(kit)[-1] == "cancelled"
    assert url(kit, "record_step") not in web.get(url(kit)).text


@pytest.mark.parametrize("role", [Role.VIEWER, Role.DEVELOPER, Role.CLINICIAN])
def test_who_only_reads_records_nothing(kit, role):
    client = signed_in(kit.tenant, role)
    held = holdings(kit.tenant)

    for name in ("record_step", "replace_kit"):
        assert client.post(url(kit, name), step("transit_customer")).status_code == 403
    assert holdings(kit.tenant) == held
    assert url(kit, "record_step") not in client.get(url(kit)).text


def test_a_walk_in_sample_is_drawn_again(web, alice_production):
    lab = make_lab()
    make_lab_account(tenant=alice_production, lab=lab)
    panel = make_lab_test(tenant=alice_production, lab=lab)
    order = make_order(tenant=alice_production, lab_test=panel, physician=PHYSICIAN)
    advance_order(order=order, actor=ACTOR, to="requisition_created")

    web.post(
        url(order, "record_step"), step("redraw_available", ends="on", note="Clot")
    )

    assert lows(order)[-1] == "redraw_available"
    assert (
        Order.objects.for_tenant(alice_production).get(origin="redraw").parent == order
    )
    assert OrderEvent.objects.for_tenant(alice_production).get(why="Clot").occurred_at


def test_a_visit_starts_and_completes(alice_web, alice_tenant):
    order = make_bookable_order(
        tenant=alice_tenant, method=CollectionMethod.AT_HOME_PHLEBOTOMY
    )
    slot = list_home_slots(tenant=alice_tenant, address=HOME).days[1].slots[0]
    visit = book_appointment(
        order=order, actor=ACTOR, request=BookingRequest(booking_key=slot.booking_key)
    )
    early = alice_web.get(url(order, "record_step"))

    assert visit.start_at is not None
    with time_machine.travel(visit.start_at + timedelta(minutes=1), tick=False):
        alice_web.post(
            url(order, "record_step"), step("visit_in_progress", note="At the door")
        )
        started = Appointment.objects.for_tenant(alice_tenant).get()
        alice_web.post(url(order, "record_step"), step("visit_completed"))

    done = Appointment.objects.for_tenant(alice_tenant).get()
    assert (early.status_code, early["Location"]) == (302, url(order))
    assert started.status == "in_progress"
    assert started.event_data["note"] == "At the door"
    assert started.event_data["occurred_at"]
    assert done.status == "completed"
    assert lows(order)[-1] == "draw_completed"
    assert emitted_types(alice_tenant).count("labtest.appointment.updated") == 2


def test_another_kit_is_sent_for_a_lost_one(web, kit, alice_production):
    report_shipment(kit, "transit_customer", "lost")
    page = web.get(url(kit))
    asked = web.get(url(kit, "replace_kit"))
    reply = web.post(url(kit, "replace_kit"))

    new = Order.objects.for_tenant(alice_production).get(parent=kit)
    assert url(kit, "replace_kit") in page.text
    assert "Send another kit?" in asked.text
    assert (reply.status_code, reply["Location"]) == (302, url(new))
    assert url(kit, "replace_kit") not in web.get(url(kit)).text
