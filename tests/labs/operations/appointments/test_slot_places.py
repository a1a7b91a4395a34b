from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from django.db import connection

from labs.models import Appointment, Order, SlotPlace
from labs.operations.appointments.booking import BookingRequest, book_appointment
from labs.operations.appointments.changes import reschedule_appointment
from labs.operations.appointments.slot_places import (
    hold_slot_for_order,
    release_order_holds,
)
from labs.operations.appointments.slots import SlotTaken
from labs.states.appointments import HOLD_TTL
from portal.lib.errors import DomainError
from tests.factories.accounts import ACTOR
from tests.factories.appointments import (
    free_slots,
    make_appointment,
    make_bookable_order,
    make_center,
)

NOW = datetime(2026, 3, 2, 16, tzinfo=UTC)  # a Monday, nine in Phoenix
_PLACES, _CALLERS = 10, 50


@pytest.fixture(autouse=True)
def _clock(time_machine):
    time_machine.move_to(NOW, tick=False)


def race(work, orders):
    """Do `work` for all orders at once; what became of each."""

    def outcome(order):
        try:
            work(order)
        except SlotTaken as refused:
            return bool(refused.alternatives) and "lost"
        finally:
            connection.close()
        return "booked"

    with ThreadPoolExecutor(len(orders)) as pool:
        return list(pool.map(outcome, orders))


def copies(order, number):
    """Orders like this one: placing each would take longer than the race."""
    return Order.unscoped.bulk_create(
        Order(
            **{
                field.attname: getattr(order, field.attname)
                for field in Order._meta.concrete_fields
                if field.name not in ("id", "sample_id")
            }
        )
        for _ in range(number)
    )


def taken(start):
    rows = SlotPlace.objects.filter(start_at=start, appointment__isnull=False)
    return sorted(rows.values_list("place", flat=True))


@pytest.mark.django_db(transaction=True)
def test_fifty_who_race_for_ten_places_get_ten(alice_tenant):
    center = make_center(places=_PLACES)
    slot = free_slots(alice_tenant, center)[0]
    orders = copies(make_bookable_order(tenant=alice_tenant), _CALLERS)
    request = BookingRequest(booking_key=slot.booking_key)

    booked = race(
        lambda order: book_appointment(order=order, actor=ACTOR, request=request),
        orders,
    )

    assert (booked.count("booked"), booked.count("lost")) == (
        *(_PLACES, _CALLERS - _PLACES),
    )
    assert Appointment.unscoped.filter(status="confirmed").count() == _PLACES
    assert SlotPlace.objects.count() == _PLACES
    assert taken(slot.start) == list(range(1, _PLACES + 1))


@pytest.mark.django_db(transaction=True)
def test_those_who_race_to_move_to_one_place_leave_nobody_without(alice_tenant):
    center = make_center(places=2)
    first, second, last = free_slots(alice_tenant, center)[:3]
    orders = [make_bookable_order(tenant=alice_tenant) for _ in range(4)]
    for order, slot in zip(orders, (first, first, second, second), strict=True):
        book_appointment(
            order=order,
            actor=ACTOR,
            request=BookingRequest(booking_key=slot.booking_key),
        )

    moved = race(
        lambda order: reschedule_appointment(
            order=order, actor=ACTOR, booking_key=last.booking_key
        ),
        orders,
    )

    assert (moved.count("booked"), moved.count("lost")) == (2, 2)
    assert taken(last.start) == [1, 2]
    assert SlotPlace.objects.count() == len(orders)
    starts = Appointment.unscoped.filter(status="confirmed").values_list("start_at")
    assert len(starts) == len(orders)


@pytest.mark.django_db
def test_an_order_holds_one_slot_and_others_see_it_taken(alice_tenant):
    center = make_center()
    first, second = free_slots(alice_tenant, center)[:2]
    order = make_bookable_order(tenant=alice_tenant)
    hold_slot_for_order(order=order, booking_key=first.booking_key)

    held = hold_slot_for_order(order=order, booking_key=second.booking_key)

    assert held.expires_at == NOW + HOLD_TTL
    assert SlotPlace.objects.get().start_at == second.start
    starts = [slot.start for slot in free_slots(alice_tenant, center)]
    assert (first.start in starts, second.start in starts) == (True, False)
    mine = free_slots(alice_tenant, center, order_id=order.pk)
    assert second.start in [slot.start for slot in mine]


@pytest.mark.django_db
def test_a_hold_that_ended_is_taken_over_by_whoever_books(alice_tenant, time_machine):
    center = make_center()
    slot = free_slots(alice_tenant, center)[0]
    hold_slot_for_order(
        order=make_bookable_order(tenant=alice_tenant), booking_key=slot.booking_key
    )
    time_machine.shift(HOLD_TTL)

    booked = make_appointment(
        order=make_bookable_order(tenant=alice_tenant), center=center
    )

    assert booked.start_at == slot.start
    assert SlotPlace.objects.get().appointment_id == booked.pk


@pytest.mark.django_db
def test_a_hold_is_let_go(alice_tenant):
    center = make_center()
    slot = free_slots(alice_tenant, center)[0]
    order = make_bookable_order(tenant=alice_tenant)
    hold_slot_for_order(order=order, booking_key=slot.booking_key)

    release_order_holds(order=order)

    assert SlotPlace.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_one_order_that_is_booked_from_several_pages_has_one_visit(alice_tenant):
    center = make_center(places=2)
    slots = free_slots(alice_tenant, center)[:2]
    order = make_bookable_order(tenant=alice_tenant)

    def book(slot):
        request = BookingRequest(booking_key=slot.booking_key)
        try:
            return book_appointment(order=order, actor=ACTOR, request=request).pk
        except DomainError as refused:
            return refused.code
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        outcomes = set(pool.map(book, slots * 3))

    visit = Appointment.unscoped.get()
    assert visit.pk in outcomes
    assert outcomes <= {visit.pk, "appointment_exists"}
    assert SlotPlace.objects.get().appointment_id == visit.pk
    lows = [event.status.split(".")[-1] for event in order.events.order_by("pk")]
    assert lows.count("appointment_scheduled") == 1
