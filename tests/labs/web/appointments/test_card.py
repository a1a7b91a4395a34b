from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Tenant
from accounts.states import Role
from labs.gateways.booking_sandbox import SLOW
from labs.models import Appointment, ServiceCenter
from labs.operations.appointments.booking import request_home_appointment
from labs.queries.orders.requisition_watches import is_subscribed_to_requisition
from labs.states.catalogue import CollectionMethod
from tests.audit import audited
from tests.factories.accounts import ACTOR, make_member
from tests.factories.appointments import (
    HOME,
    make_appointment,
    make_bookable_order,
    make_center,
)
from tests.factories.labs import make_lab_test, make_order
from tests.labs.printed import pages_of

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 2, 16, tzinfo=UTC)  # a Monday, nine in Phoenix


@pytest.fixture(autouse=True)
def _ground(db, time_machine):
    time_machine.move_to(NOW, tick=False)
    ServiceCenter.objects.all().delete()


@pytest.fixture
def order(alice_tenant):
    return make_bookable_order(tenant=alice_tenant)


def url(order, name):
    place = {
        "team_slug": order.tenant.team.slug,
        "environment": order.tenant.environment,
        "order_id": order.pk,
    }
    return reverse(f"labs:{name}", kwargs=place)


def signed_in(team, *roles):
    client = Client()
    client.force_login(make_member(team=team, roles=roles))
    return client


def card(client, order):
    return client.get(url(order, "order")).context["visit"]


def test_an_order_to_book_offers_it_and_one_that_is_booked_shows_where_and_when(
    alice_web, order
):
    before = card(alice_web, order)
    make_appointment(order=order, center=make_center(name="Harborview"))

    after = card(alice_web, order)

    assert (before.row, before.can_book, before.closed) == (None, True, "")
    row = after.row
    assert (row.weekday, row.day, row.month) == ("Mon", "2", "Mar")
    assert row.time == "10:00 to 10:20 MST"
    assert (row.place, row.address) == (
        "Harborview",
        "1 Sample Street, Phoenix, AZ 85004",
    )
    assert row.is_elsewhere
    assert "Your lab visit is on Mon 2 Mar, 10:00 to 10:20 MST" in row.patient_message
    assert (after.may_move, after.may_cancel, after.may_book) == (True, True, False)
    assert [step.label for group in after.history for step in group.steps] == ["Booked"]


def test_an_order_that_needs_fasting_says_from_when(alice_web, alice_tenant):
    order = make_bookable_order(tenant=alice_tenant)
    order.lab_test.fasting = True
    order.lab_test.save(update_fields=["fasting"])
    make_appointment(order=order)

    assert card(alice_web, order).row.fasting == "Sun 1 Mar, 22:00"


def test_a_visit_that_waits_for_its_provider_has_no_message_for_the_patient(
    alice_web, order
):
    make_appointment(order=order, notes=SLOW, waits_on=True)

    row = card(alice_web, order).row

    assert (row.is_confirmed, row.status_label, row.patient_message) == (
        False,
        "Not confirmed yet",
        "",
    )


def test_orders_without_visits_show_no_card(alice_web, alice_tenant):
    panel = make_lab_test(tenant=alice_tenant, method=CollectionMethod.TESTKIT)

    order = make_order(tenant=alice_tenant, lab_test=panel)

    assert card(alice_web, order) is None


def test_who_waits_for_the_requisition_asks_to_be_told(alice, alice_web, alice_tenant):
    Tenant.objects.filter(pk=alice_tenant.pk).update(early_psc_booking_enabled=False)
    order = make_order(tenant=alice_tenant)
    before = card(alice_web, order)

    reply = alice_web.post(url(order, "watch_requisition"), follow=True)

    assert (before.can_book, before.may_watch, before.is_watched) == (
        *(False, True, False),
    )
    assert before.closed == "The requisition has not been created yet."
    assert is_subscribed_to_requisition(order=order, member=alice)
    assert reply.context["visit"].is_watched


def test_a_requisition_that_is_made_is_not_waited_for(alice, alice_web, order):
    reply = alice_web.post(url(order, "watch_requisition"), follow=True)

    assert "requisition is already created" in reply.content.decode()
    assert not is_subscribed_to_requisition(order=order, member=alice)


def test_a_visit_is_called_off_with_its_reason(alice_web, alice_tenant, order):
    visit = make_appointment(order=order)
    address = url(order, "cancel_visit")

    unsaid = alice_web.post(address, {"note": "No reason"})
    reply = alice_web.post(address, {"reason": "not_prepared", "note": "Ate"})

    assert (unsaid.status_code, set(unsaid.context["form"].errors)) == (422, {"reason"})
    assert reply["Location"] == url(order, "order")
    visit.refresh_from_db()
    assert (visit.status, visit.cancellation_reason, visit.cancellation_note) == (
        *("cancelled", "not_prepared", "Ate"),
    )
    after = card(alice_web, order)
    assert (after.row, after.can_book) == (None, True)
    steps = [step for group in after.history for step in group.steps]
    assert [step.label for step in steps] == ["Cancelled", "Booked"]
    assert steps[0].detail.startswith("Patient not prepared. Ate")


def test_without_a_visit_there_is_nothing_to_call_off(alice_web, order):
    reply = alice_web.post(url(order, "cancel_visit"), {"reason": "other"}, follow=True)

    assert "This order has no visit to cancel." in reply.content.decode()


def test_the_patients_sheet_has_the_requisition_behind_it(
    alice_web, alice_tenant, order
):
    make_appointment(order=order, center=make_center(name="Harborview"))

    reply = alice_web.get(url(order, "visit_sheet"))

    assert reply["Content-Disposition"] == (
        f'inline; filename="visit-{str(order.pk)[:8]}.pdf"'
    )
    visit, requisition = pages_of(reply.content)
    assert "For Ada Example" in visit
    assert "Monday 2 March 2026, 10:00 MST" in visit
    assert "Monday to Sunday 07:00 to 19:00" in visit
    assert "Laboratory requisition" in requisition
    assert audited(alice_tenant)[-1] == ("read", "visit_sheet", str(order.pk))


def test_the_calendar_file_counts_how_often_a_visit_changed(
    alice_web, alice_tenant, order
):
    visit = make_appointment(order=order)

    reply = alice_web.get(url(order, "visit_calendar"))

    assert reply["Content-Type"] == "text/calendar; charset=utf-8"
    lines = reply.content.decode().split("\r\n")
    assert "DTSTART:20260302T170000Z" in lines
    assert "SEQUENCE:0" in lines
    assert any(line.startswith(f"UID:{visit.pk}@") for line in lines)
    assert "Ada" not in reply.content.decode()
    assert audited(alice_tenant)[-1] == ("read", "visit_calendar", str(order.pk))


@pytest.mark.parametrize("name", ["visit_sheet", "visit_calendar"])
def test_without_a_time_there_is_no_paper(alice_web, alice_tenant, name):
    order = make_bookable_order(
        tenant=alice_tenant, method=CollectionMethod.AT_HOME_PHLEBOTOMY
    )
    request_home_appointment(
        order=order,
        actor=ACTOR,
        provider="phlebfinders",
        address={**HOME, "zip_code": "54650"},
    )

    reply = alice_web.get(url(order, name), follow=True)

    assert reply.redirect_chain == [(url(order, "order"), 302)]
    assert "This visit has no time yet." in reply.content.decode()


def test_a_viewer_sees_the_visit_and_changes_nothing(alice_team, order):
    make_appointment(order=order)
    client = signed_in(alice_team, Role.VIEWER)

    shown = card(client, order)

    assert (shown.may_move, shown.may_cancel, shown.may_see_patient) == (
        *(False, False, False),
    )
    assert client.get(url(order, "visit_sheet")).status_code == 403
    assert client.post(url(order, "cancel_visit")).status_code == 403
    assert client.post(url(order, "watch_requisition")).status_code == 403
    assert Appointment.objects.for_tenant(order.tenant).get().status == "confirmed"


def test_a_home_visit_in_less_than_a_day_is_called_off_with_a_warning(
    alice_web, alice_tenant
):
    order = make_bookable_order(
        tenant=alice_tenant, method=CollectionMethod.AT_HOME_PHLEBOTOMY
    )
    page = alice_web.get(url(order, "book_visit"))
    key = page.context["grid"].groups[0].slots[0].key
    alice_web.post(url(order, "book_visit"), {"go": "book", "slot": key, "when": "any"})

    asked = alice_web.get(url(order, "cancel_visit"))

    assert asked.context["is_late"]
    visit = Appointment.objects.for_tenant(alice_tenant).get()
    assert visit.start_at - NOW < timedelta(hours=24)


@pytest.mark.parametrize("with_visit", [True, False])
def test_who_cancels_an_order_says_whether_its_visit_goes_too(
    alice_web, alice_tenant, order, with_visit
):
    visit = make_appointment(order=order, center=make_center(name="Harborview"))
    address = url(order, "cancel_order")

    asked = alice_web.get(address)
    alice_web.post(address, {"with_visit": "on"} if with_visit else {})

    assert asked.context["visit"].place == "Harborview"
    assert "It stays booked unless you cancel it too" in asked.content.decode()
    visit.refresh_from_db()
    order.refresh_from_db()
    assert order.status == "cancelled.walk_in_test.cancelled"
    assert visit.status == ("cancelled" if with_visit else "confirmed")


@pytest.fixture
def requested(alice_tenant):
    """An order whose provider was asked for a visit in Wisconsin."""
    order = make_bookable_order(
        tenant=alice_tenant, method=CollectionMethod.AT_HOME_PHLEBOTOMY
    )
    request_home_appointment(
        order=order,
        actor=ACTOR,
        provider="phlebfinders",
        address={**HOME, "zip_code": "54650"},
    )
    return order


def test_a_requested_visit_gets_its_time_on_the_clock_of_the_place(
    alice_web, alice_tenant, requested
):
    waiting = card(alice_web, requested)
    fields = {"day": "2026-03-09", "time": "08:15", "minutes": "30"}

    reply = alice_web.post(
        url(requested, "set_visit_time"), {**fields, "external_id": "PF-9"}
    )

    assert waiting.may_set_time
    assert reply["Location"] == url(requested, "order")
    visit = Appointment.objects.for_tenant(alice_tenant).get()
    # Daylight saving time has begun in Chicago the day before.
    assert visit.start_at == datetime(2026, 3, 9, 13, 15, tzinfo=UTC)
    assert visit.end_at == datetime(2026, 3, 9, 13, 45, tzinfo=UTC)
    assert (visit.status, visit.external_id) == ("confirmed", "PF-9")


@pytest.mark.parametrize(
    ("day", "time", "field"),
    [("2026-03-08", "02:30", "time"), ("2026-03-01", "08:00", "day")],
)
def test_a_time_that_is_skipped_or_past_is_said_at_its_field(
    alice_web, alice_tenant, requested, day, time, field
):
    fields = {"day": day, "time": time, "minutes": "30"}

    reply = alice_web.post(url(requested, "set_visit_time"), fields)

    assert reply.status_code == 422
    assert set(reply.context["form"].errors) == {field}
    assert Appointment.objects.for_tenant(alice_tenant).get().status == "pending"


def test_a_home_visit_that_has_begun_is_noted_as_done(
    alice_web, alice_tenant, requested, time_machine
):
    alice_web.post(
        url(requested, "set_visit_time"),
        {"day": "2026-03-09", "time": "08:15", "minutes": "30"},
    )
    alice_web.post(url(requested, "complete_visit"))
    too_early = Appointment.objects.for_tenant(alice_tenant).get().status
    time_machine.move_to(datetime(2026, 3, 9, 14, tzinfo=UTC), tick=False)
    alice_web.get(url(requested, "order"))

    alice_web.post(url(requested, "complete_visit"))

    assert too_early == "confirmed"
    assert Appointment.objects.for_tenant(alice_tenant).get().status == "completed"
    requested.refresh_from_db()
    assert requested.status.endswith(".draw_completed")


def test_a_visit_agreed_elsewhere_is_entered_on_the_clock_of_its_center(
    alice_web, alice_tenant
):
    order = make_bookable_order(tenant=alice_tenant)
    fields = {
        "site_name": "Corner Clinic",
        "first_line": "9 Example Road",
        "city": "Phoenix",
        "state": "AZ",
        "zip_code": "10001",
        "day": "2026-03-09",
        "time": "08:15",
        "minutes": "30",
        "agreed_with": "Front desk",
        "agreed_by": "phone",
    }
    offered = card(alice_web, order)

    elsewhere = alice_web.post(url(order, "enter_visit"), fields)
    unsaid = alice_web.post(
        url(order, "enter_visit"), {**fields, "agreed_with": "", "agreed_by": ""}
    )
    before = Appointment.objects.for_tenant(alice_tenant).count()
    done = alice_web.post(url(order, "enter_visit"), {**fields, "zip_code": "85004"})
    again = alice_web.post(url(order, "enter_visit"), {**fields, "zip_code": "85004"})

    assert offered.can_enter
    assert (elsewhere.status_code, unsaid.status_code, before) == (422, 422, 0)
    assert "This ZIP code is in NY." in elsewhere.text
    assert "Enter who at the center agreed to the visit." in unsaid.text
    assert done["Location"] == url(order, "order")
    visit = Appointment.objects.for_tenant(alice_tenant).get()
    assert visit.start_at == datetime(2026, 3, 9, 15, 15, tzinfo=UTC)
    assert (visit.status, visit.confirmed_by) == ("confirmed", "staff")
    assert "This order already has a visit." in again.text
    assert not card(alice_web, order).can_enter
