from __future__ import annotations

from datetime import UTC, datetime, timedelta
from unittest.mock import patch

import pytest

from labs.models import Appointment, AppointmentEvent, SandboxVisit, SlotPlace
from labs.operations.appointments.booking import (
    BookingRequest,
    book_appointment,
    make_repeatable_booking_reference,
    request_home_appointment,
)
from labs.operations.appointments.changes import reschedule_appointment
from labs.operations.appointments.slot_places import hold_slot_for_order
from labs.operations.appointments.slots import SlotTaken, list_home_slots
from labs.states.catalogue import CollectionMethod
from portal.lib.errors import DomainError, Unavailable
from tests.factories.accounts import ACTOR
from tests.factories.appointments import (
    HOME,
    free_slots,
    make_appointment,
    make_bookable_order,
    make_center,
)
from tests.factories.labs import make_lab_test, make_order
from tests.outbox import emitted, emitted_types

NOW = datetime(2026, 3, 2, 16, tzinfo=UTC)  # a Monday, nine in Phoenix
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _clock(time_machine):
    time_machine.move_to(NOW, tick=False)


def book(order, slot, **wanted):
    request = BookingRequest(booking_key=slot.booking_key, **wanted)
    return book_appointment(order=order, actor=ACTOR, request=request)


def lows(order):
    return [event.status.split(".")[-1] for event in order.events.order_by("pk")]


def written():
    return (
        Appointment.unscoped.count(),
        AppointmentEvent.unscoped.count(),
        SlotPlace.objects.count(),
    )


def test_a_booking_confirms_takes_its_place_and_moves_its_order(alice_tenant):
    center = make_center(places=2)
    order = make_bookable_order(tenant=alice_tenant)
    slot = free_slots(alice_tenant, center)[0]

    booked = book(order, slot, notes="Left arm")

    assert (booked.status, booked.start_at) == ("confirmed", slot.start)
    assert booked.external_id == booked.reference.hex[:8].upper()
    assert lows(order)[-2:] == ["appointment_pending", "appointment_scheduled"]
    assert [event.status for event in booked.events.all()] == ["scheduled"]
    place = SlotPlace.objects.get()
    assert (place.place, place.appointment_id, place.expires_at) == (
        *(1, booked.pk, None),
    )
    assert free_slots(alice_tenant, center)[0].available == 1
    told = emitted(alice_tenant)[-1]
    assert told["event_type"] == "labtest.appointment.created"
    assert told["data"]["appointment_notes"] == "Left arm"


def test_another_sandbox_has_places_of_its_own(alice_tenant, charlie_tenant):
    center = make_center()
    make_appointment(order=make_bookable_order(tenant=alice_tenant), center=center)

    slot = free_slots(charlie_tenant, center)[0]

    assert slot.start not in [s.start for s in free_slots(alice_tenant, center)]
    assert book(make_bookable_order(tenant=charlie_tenant), slot).status == "confirmed"


def test_production_environments_share_their_places(alice_production, charlie_team):
    from accounts.states import Environment
    from tests.factories.accounts import make_tenant

    charlie = make_tenant(team=charlie_team, environment=Environment.PRODUCTION)
    center = make_center(tenant=charlie)
    slot = free_slots(charlie, center)[0]
    make_appointment(order=make_bookable_order(tenant=alice_production), center=center)

    with pytest.raises(SlotTaken):
        book(make_bookable_order(tenant=charlie), slot)


def test_without_a_directory_production_books_nothing(alice_tenant, alice_production):
    center = make_center(tenant=alice_production)
    order = make_bookable_order(tenant=alice_production)
    make_appointment(order=order, center=center)
    other = make_bookable_order(tenant=alice_production)
    slot = free_slots(alice_production, center)[1]
    home = free_slots(alice_tenant, make_center())[0]
    center.is_active = False
    center.save(update_fields=["is_active"])
    before = written()

    for act in (
        lambda: free_slots(alice_production, center),
        lambda: book(other, slot),
        lambda: reschedule_appointment(
            order=order, actor=ACTOR, booking_key=slot.booking_key
        ),
        lambda: hold_slot_for_order(order=other, booking_key=slot.booking_key),
        lambda: list_home_slots(tenant=alice_production, address=HOME),
    ):
        with pytest.raises(DomainError) as refused:
            act()
        assert refused.value.code == "directory_required"
    with pytest.raises(DomainError) as refused:
        book(other, home)  # of the sandbox
    assert refused.value.code == "booking_key_invalid"
    assert written() == before


def test_a_full_slot_is_refused_with_the_three_nearest(alice_tenant):
    center, other = make_center(), make_center()
    slot = free_slots(alice_tenant, center)[5]
    book(make_bookable_order(tenant=alice_tenant), slot)
    late = make_bookable_order(tenant=alice_tenant)
    before, told = written(), emitted_types(alice_tenant)

    with pytest.raises(SlotTaken) as refused:
        book(late, slot)

    hour = timedelta(hours=1)
    near, elsewhere, tomorrow = refused.value.alternatives
    assert (near.site.code, abs(near.start - slot.start) <= hour) == (
        *(center.site_code, True),
    )
    assert (elsewhere.site.code, elsewhere.start) == (other.site_code, slot.start)
    assert (tomorrow.site.code, tomorrow.start) == (
        *(center.site_code, slot.start + timedelta(days=1)),
    )
    assert (written(), emitted_types(alice_tenant)) == (before, told)
    assert lows(late)[-1] == "requisition_created"


def test_an_expired_key_is_a_slot_that_is_taken(alice_tenant, time_machine):
    center = make_center()
    slot = free_slots(alice_tenant, center)[0]
    order = make_bookable_order(tenant=alice_tenant)
    time_machine.move_to(slot.expires_at, tick=False)

    with pytest.raises(SlotTaken) as refused:
        book(order, slot)

    assert len(refused.value.alternatives) == 3
    assert written() == (0, 0, 0)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda key: "nonsense", "booking_key_invalid"),
        (lambda key: key[:-4] + "AAAA", "booking_key_invalid"),
        (lambda key: "é", "booking_key_invalid"),
    ],
    ids=["nonsense", "forged", "not ascii"],
)
def test_a_key_that_is_not_ours_is_refused(alice_tenant, change, code):
    slot = free_slots(alice_tenant, make_center())[0]
    order = make_bookable_order(tenant=alice_tenant)

    with pytest.raises(DomainError) as refused:
        book_appointment(
            order=order,
            actor=ACTOR,
            request=BookingRequest(booking_key=change(slot.booking_key)),
        )

    assert refused.value.code == code
    assert written() == (0, 0, 0)


def test_a_key_of_another_team_is_refused(alice_tenant, charlie_tenant):
    slot = free_slots(charlie_tenant, make_center())[0]

    with pytest.raises(DomainError) as refused:
        book(make_bookable_order(tenant=alice_tenant), slot)

    assert refused.value.code == "booking_key_invalid"


def test_a_site_that_has_closed_is_told_as_such(alice_tenant):
    center = make_center()
    slot = free_slots(alice_tenant, center)[0]
    center.is_active = False
    center.save()

    with pytest.raises(DomainError) as refused:
        book(make_bookable_order(tenant=alice_tenant), slot)

    assert refused.value.code == "site_inactive"


def test_an_order_is_booked_at_its_own_lab_once_its_requisition_is_made(
    alice_production,
):
    center = make_center(tenant=alice_production)
    slot = free_slots(alice_production, center)[0]
    elsewhere = make_order(
        tenant=alice_production,
        lab_test=make_lab_test(tenant=alice_production),
    )
    waiting = make_order(
        tenant=alice_production,
        lab_test=make_lab_test(tenant=alice_production, lab=center.lab),
    )
    # As of a time with a provider of at-home visits, which production has not yet.
    with patch("labs.operations.production.offers_home_visits", return_value=True):
        at_home = make_bookable_order(
            tenant=alice_production, method=CollectionMethod.AT_HOME_PHLEBOTOMY
        )

    for order, code in (
        (elsewhere, "site_of_another_lab"),
        (waiting, "requisition_missing"),
        (at_home, "kind_of_visit_wrong"),
    ):
        with pytest.raises(DomainError) as refused:
            book(order, slot)
        assert refused.value.code == code
    assert written() == (0, 0, 0)


def test_an_order_has_one_active_appointment(alice_tenant):
    center = make_center()
    order = make_bookable_order(tenant=alice_tenant)
    make_appointment(order=order, center=center)
    before = written()

    with pytest.raises(DomainError) as refused:
        make_appointment(order=order, center=center)

    assert refused.value.code == "appointment_exists"
    assert written() == before


def test_an_early_booking_is_reserved_where_the_team_may(alice_tenant):
    alice_tenant.early_psc_booking_enabled = True
    alice_tenant.save()
    center = make_center()
    panel = make_lab_test(tenant=alice_tenant, lab=center.lab)
    order = make_order(tenant=alice_tenant, lab_test=panel)

    booked = make_appointment(order=order, center=center)

    assert (booked.status, booked.external_id) == ("reserved", "")
    assert lows(order) == ["ordered"]
    assert SandboxVisit.objects.count() == 0
    assert SlotPlace.objects.get().appointment_id == booked.pk


def test_a_hold_is_taken_over_by_the_booking_of_its_order_alone(alice_tenant):
    center = make_center()
    slot = free_slots(alice_tenant, center)[0]
    order, other = (make_bookable_order(tenant=alice_tenant) for _ in range(2))
    hold_slot_for_order(order=order, booking_key=slot.booking_key)

    with pytest.raises(SlotTaken):
        book(other, slot)
    booked = book(order, slot)

    assert booked.status == "confirmed"
    assert SlotPlace.objects.get().appointment_id == booked.pk


def test_a_provider_that_says_gone_leaves_no_trace(alice_tenant):
    order = make_bookable_order(tenant=alice_tenant)
    slot = free_slots(alice_tenant, make_center())[0]
    told = emitted_types(alice_tenant)

    with pytest.raises(SlotTaken):
        book(order, slot, notes="sandbox:gone")

    assert (written(), emitted_types(alice_tenant)) == ((0, 0, 0), told)
    assert lows(order)[-1] == "requisition_created"


@pytest.mark.parametrize("word", ["slow", "down", "cut"])
def test_a_silent_provider_keeps_the_place_until_it_is_asked_again(alice_tenant, word):
    order = make_bookable_order(tenant=alice_tenant)
    slot = free_slots(alice_tenant, make_center())[0]

    with pytest.raises(Unavailable) as refused:
        book(order, slot, notes=f"sandbox:{word}")

    assert refused.value.code == "provider_silent"
    assert written() == (0, 0, 1)
    assert lows(order)[-1] == "requisition_created"


def test_a_yes_that_was_cut_off_is_found_by_the_next_try(alice_tenant):
    order = make_bookable_order(tenant=alice_tenant)
    slot = free_slots(alice_tenant, make_center())[0]
    reference = make_repeatable_booking_reference(order=order, key="k1")
    tries = {"notes": "sandbox:cut", "reference": reference}
    with pytest.raises(Unavailable):
        book(order, slot, **tries)

    booked = book(order, slot, **tries)
    again = book(order, slot, **tries)

    assert (booked.status, booked.reference) == ("confirmed", reference)
    assert again.pk == booked.pk
    assert SandboxVisit.objects.count() == 1
    assert written() == (1, 1, 1)


def test_a_slow_provider_leaves_a_booking_pending_that_may_wait(alice_tenant):
    order = make_bookable_order(tenant=alice_tenant)
    slot = free_slots(alice_tenant, make_center())[0]
    limit = timedelta(minutes=20)

    booked = book(order, slot, notes="sandbox:slow", waits_on=True, async_timeout=limit)

    assert (booked.status, booked.confirm_by) == ("pending", NOW + limit)
    assert lows(order)[-1] == "appointment_pending"
    assert SlotPlace.objects.get().appointment_id == booked.pk


def test_a_request_waits_for_the_provider_to_set_a_time(alice_tenant):
    order = make_bookable_order(
        tenant=alice_tenant, method=CollectionMethod.AT_HOME_PHLEBOTOMY
    )

    asked = request_home_appointment(
        order=order,
        actor=ACTOR,
        provider="phlebfinders",
        address={**HOME, "zip_code": "54650"},
    )

    assert (asked.status, asked.start_at, asked.site_code) == ("pending", None, "54650")
    assert lows(order)[-1] == "appointment_pending"
    assert emitted_types(alice_tenant)[-1] == "labtest.appointment.created"


def test_a_request_is_refused_where_nobody_comes(alice_tenant):
    order = make_bookable_order(
        tenant=alice_tenant, method=CollectionMethod.AT_HOME_PHLEBOTOMY
    )

    with pytest.raises(DomainError) as refused:
        request_home_appointment(
            order=order, actor=ACTOR, provider="getlabs", address=HOME
        )

    assert refused.value.code == "area_not_served"
    assert written() == (0, 0, 0)
