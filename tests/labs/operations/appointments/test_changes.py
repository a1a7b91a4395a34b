from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from unittest.mock import patch

import pytest
from django.db import connection, transaction

from accounts.models import AuditEntry
from labs.gateways.booking_sandbox import SandboxBooking
from labs.models import Appointment, SandboxVisit, SlotPlace
from labs.operations.appointments.booking import (
    BookingRequest,
    book_appointment,
    request_home_appointment,
)
from labs.operations.appointments.changes import (
    cancel_appointment,
    complete_appointment,
    reschedule_appointment,
    schedule_requested_appointment,
)
from labs.operations.appointments.slots import SlotTaken, list_home_slots
from labs.operations.orders.placing import cancel_order
from labs.queries.appointments.appointments import (
    find_active_appointment,
    list_appointments_of_order,
)
from labs.states.catalogue import CollectionMethod
from portal.lib.errors import DomainError, NotFound, Unavailable
from tests.factories.accounts import ACTOR
from tests.factories.appointments import (
    HOME,
    free_slots,
    make_appointment,
    make_bookable_order,
    make_center,
)
from tests.jobs import queued
from tests.locks import wait_until_blocked
from tests.outbox import emitted, emitted_types
from users.operations.users.users import delete_user, undo_delete_user

NOW = datetime(2026, 3, 2, 16, tzinfo=UTC)  # a Monday, nine in Phoenix
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _clock(time_machine):
    time_machine.move_to(NOW, tick=False)


@pytest.fixture
def center():
    return make_center()


@pytest.fixture
def order(alice_tenant):
    return make_bookable_order(tenant=alice_tenant)


@pytest.fixture
def at_home(alice_tenant):
    return make_bookable_order(
        tenant=alice_tenant, method=CollectionMethod.AT_HOME_PHLEBOTOMY
    )


def home_visit(order):
    days = list_home_slots(tenant=order.tenant, address=HOME).days
    slot = days[1].slots[0]
    return book_appointment(
        order=order, actor=ACTOR, request=BookingRequest(booking_key=slot.booking_key)
    )


def asked_for(order):
    return request_home_appointment(
        order=order,
        actor=ACTOR,
        provider="phlebfinders",
        address={**HOME, "zip_code": "54650"},
    )


def lows(order):
    return [event.status.split(".")[-1] for event in order.events.order_by("pk")]


def released():
    return [job.inputs["reference"] for job in queued() if "release" in job.name]


def test_a_visit_is_moved_and_its_old_place_is_freed(alice_tenant, center, order):
    visit = make_appointment(order=order, center=center)
    old_start, old_reference = visit.start_at, visit.reference
    slot = free_slots(alice_tenant, center)[0]

    moved = reschedule_appointment(
        order=order, actor=ACTOR, booking_key=slot.booking_key, notes="Bring card"
    )

    assert (moved.pk, moved.start_at, moved.notes) == (
        *(visit.pk, slot.start, "Bring card"),
    )
    assert SlotPlace.objects.get().start_at == slot.start
    assert old_start in [slot.start for slot in free_slots(alice_tenant, center)]
    assert released() == [str(old_reference)]
    assert lows(order)[-2:] == ["appointment_scheduled"] * 2
    assert emitted_types(alice_tenant)[-1] == "labtest.appointment.updated"
    assert AuditEntry.objects.for_tenant(alice_tenant).filter(
        verb="reschedule_appointment"
    )


def test_a_move_to_where_it_is_changes_nothing(alice_tenant, center, order):
    slot = free_slots(alice_tenant, center)[0]
    visit = make_appointment(order=order, center=center)
    told = emitted_types(alice_tenant)

    same = reschedule_appointment(
        order=order, actor=ACTOR, booking_key=slot.booking_key
    )

    assert (same.pk, same.reference) == (visit.pk, visit.reference)
    assert emitted_types(alice_tenant) == told
    assert SlotPlace.objects.count() == 1


@pytest.mark.parametrize(
    ("word", "refusal", "places"), [("gone", SlotTaken, 1), ("down", Unavailable, 2)]
)
def test_a_move_that_comes_to_nothing_leaves_the_visit(
    alice_tenant, center, order, word, refusal, places
):
    visit = make_appointment(order=order, center=center)
    slot = free_slots(alice_tenant, center)[0]
    told = emitted_types(alice_tenant)

    with pytest.raises(refusal):
        reschedule_appointment(
            order=order,
            actor=ACTOR,
            booking_key=slot.booking_key,
            notes=f"sandbox:{word}",
        )

    kept = find_active_appointment(order=order)
    assert (kept.start_at, kept.notes) == (visit.start_at, "")
    assert SlotPlace.objects.count() == places
    assert emitted_types(alice_tenant) == told
    assert released() == []


def test_a_visit_that_has_begun_is_not_moved(alice_tenant, center, order, time_machine):
    visit = make_appointment(order=order, center=center)
    time_machine.move_to(visit.start_at, tick=False)
    slot = free_slots(alice_tenant, center)[0]

    with pytest.raises(DomainError) as refused:
        reschedule_appointment(order=order, actor=ACTOR, booking_key=slot.booking_key)

    assert refused.value.code == "appointment_not_reschedulable"
    assert SlotPlace.objects.get().start_at == visit.start_at


def test_an_order_without_a_visit_has_none_to_move(alice_tenant, center, order):
    slot = free_slots(alice_tenant, center)[0]

    with pytest.raises(NotFound):
        reschedule_appointment(order=order, actor=ACTOR, booking_key=slot.booking_key)

    assert SlotPlace.objects.count() == 0


def test_a_visit_is_called_off_and_another_booked(alice_tenant, center, order):
    visit = make_appointment(order=order, center=center)

    ended = cancel_appointment(
        order=order, actor=ACTOR, reason_id="not_prepared", note="Ate"
    )
    make_appointment(order=order, center=center)

    assert ended.event_data == {
        "cancellation_reason": "not_prepared",
        "is_refundable": True,
        "note": "Ate",
    }
    assert released() == [str(visit.reference)]
    assert lows(order)[-4:] == [
        "appointment_scheduled",
        "appointment_cancelled",
        "appointment_pending",
        "appointment_scheduled",
    ]
    assert [one.status for one in list_appointments_of_order(order=order)] == [
        *("confirmed", "cancelled"),
    ]


@pytest.mark.parametrize(("hours", "refunded"), [(24, True), (23, False)])
def test_a_home_visit_is_refunded_until_a_day_before(
    at_home, time_machine, hours, refunded
):
    visit = home_visit(at_home)
    time_machine.move_to(visit.start_at - timedelta(hours=hours), tick=False)

    ended = cancel_appointment(order=at_home, actor=ACTOR, reason_id="other")

    assert ended.event_data["is_refundable"] is refunded


def test_an_order_that_is_called_off_takes_its_home_visit_along(at_home):
    home_visit(at_home)

    cancel_order(order=at_home, actor=ACTOR)

    assert find_active_appointment(order=at_home) is None
    assert SlotPlace.objects.count() == 0
    assert lows(at_home)[-2:] == ["appointment_cancelled", "cancelled"]


def test_an_order_that_is_called_off_leaves_its_visit_to_a_center(order, center):
    visit = make_appointment(order=order, center=center)

    cancel_order(order=order, actor=ACTOR)

    assert find_active_appointment(order=order).pk == visit.pk
    assert lows(order)[-1] == "cancelled"


def test_who_is_deleted_is_visited_by_nobody(
    alice_tenant, center, order, at_home, time_machine
):
    user = order.user
    type(at_home).objects.for_tenant(alice_tenant).update(user=user)
    begun = make_appointment(order=order, center=center)
    time_machine.move_to(begun.start_at, tick=False)
    visit = home_visit(at_home)
    another = make_bookable_order(tenant=alice_tenant)
    kept = make_appointment(order=another, center=center)

    delete_user(user=user, actor=ACTOR)

    assert released() == [str(visit.reference)]
    assert emitted(alice_tenant)[-1]["data"]["status"] == "cancelled"
    undo_delete_user(tenant=alice_tenant, actor=ACTOR, user_uuid=user.uuid)
    (ended,) = list_appointments_of_order(order=at_home)
    assert (ended.status, ended.event_data["cancellation_reason"]) == (
        *("cancelled", "user_deleted"),
    )
    assert lows(at_home)[-1] == "appointment_cancelled"
    for each, booked in ((order, begun), (another, kept)):
        assert find_active_appointment(order=each).pk == booked.pk


def test_who_is_deleted_while_the_provider_is_asked_has_no_visit(order, center):
    (slot, *_) = free_slots(order.tenant, center)
    confirm = SandboxBooking.confirm_booking

    def confirm_late(gateway, request, **more):
        found = confirm(gateway, request, **more)
        delete_user(user=order.user, actor=ACTOR)
        return found

    told = len(emitted(order.tenant))
    with (
        patch.object(SandboxBooking, "confirm_booking", confirm_late),
        pytest.raises(NotFound) as refused,
    ):
        book_appointment(
            order=order, actor=ACTOR, request=BookingRequest(slot.booking_key)
        )

    assert refused.value.code == "not_found"
    assert (Appointment.unscoped.count(), SlotPlace.objects.count()) == (0, 0)
    assert released() == [str(SandboxVisit.objects.get().reference)]
    assert len(emitted(order.tenant)) == told
    assert lows(order)[-1] == "requisition_created"


@pytest.mark.django_db(transaction=True)
def test_a_visit_booked_while_its_user_is_deleted_is_cancelled(order, at_home):
    """The deletion waits for the booking, then finds its visit."""
    type(at_home).objects.for_tenant(order.tenant).update(user=order.user)

    def delete():
        try:
            delete_user(user=order.user, actor=ACTOR)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            visit = asked_for(at_home)
            deleting = pool.submit(delete)
            wait_until_blocked()
        deleting.result(timeout=30)

    visit.refresh_from_db()
    assert (visit.status, visit.event_data["cancellation_reason"]) == (
        *("cancelled", "user_deleted"),
    )
    assert lows(at_home)[-1] == "appointment_cancelled"


@pytest.mark.django_db(transaction=True)
def test_a_visit_is_not_booked_once_the_deletion_of_its_user_has_begun(at_home):
    """The booking waits for the deletion, then finds its user gone."""

    def ask():
        try:
            asked_for(at_home)
        except NotFound as refusal:
            return refusal.code
        finally:
            connection.close()
        return "booked"

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            delete_user(user=at_home.user, actor=ACTOR)
            asking = pool.submit(ask)
            wait_until_blocked()
        outcome = asking.result(timeout=30)

    assert outcome == "not_found"
    assert Appointment.unscoped.count() == 0
    assert lows(at_home)[-1] == "requisition_created"


def test_a_requested_visit_gets_its_time(alice_tenant, at_home):
    asked_for(at_home)
    start = NOW + timedelta(days=2)
    hour = timedelta(hours=1)

    visit = schedule_requested_appointment(
        order=at_home, actor=ACTOR, start_at=start, end_at=start + hour
    )

    assert (visit.status, visit.start_at) == ("confirmed", start)
    assert lows(at_home)[-2:] == ["appointment_pending", "appointment_scheduled"]
    stored = find_active_appointment(order=at_home)
    assert stored.pk == visit.pk
    assert (stored.start_at, stored.end_at) == (start, start + hour)
    with pytest.raises(DomainError) as refused:
        schedule_requested_appointment(
            order=at_home, actor=ACTOR, start_at=start, end_at=start + hour
        )
    assert refused.value.code == "appointment_has_time"


def test_a_time_that_has_passed_is_refused(at_home):
    asked_for(at_home)

    with pytest.raises(DomainError) as refused:
        schedule_requested_appointment(
            order=at_home, actor=ACTOR, start_at=NOW, end_at=NOW + timedelta(hours=1)
        )

    assert refused.value.code == "visit_time_invalid"
    assert find_active_appointment(order=at_home).start_at is None


def test_a_home_visit_that_took_place_completes_the_draw(at_home):
    home_visit(at_home)

    visit = complete_appointment(order=at_home, actor=ACTOR)

    assert visit.status == "completed"
    assert lows(at_home)[-1] == "draw_completed"
