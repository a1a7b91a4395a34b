from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from labs.gateways.booking_sandbox import SLOWNESS
from labs.models import SandboxVisit, SlotPlace
from labs.operations.appointments.booking import CLAIM_TTL
from labs.operations.appointments.slot_places import hold_slot_for_order
from labs.operations.appointments.upkeep import (
    cancel_unused_booking_at_provider,
    complete_collected_appointments,
    confirm_or_cancel_unconfirmed_appointment,
    delete_old_sandbox_bookings,
    release_expired_holds_and_check_appointments,
)
from labs.operations.order_status.status import advance_order
from labs.queries.appointments.appointments import list_appointments_of_order
from labs.states.appointments import HOLD_TTL
from portal.lib.errors import Unavailable
from tests.factories.accounts import ACTOR
from tests.factories.appointments import (
    booking_lab,
    free_slots,
    make_appointment,
    make_bookable_order,
    make_center,
)
from tests.factories.labs import make_lab_test, make_order
from tests.jobs import queued
from tests.outbox import emitted_types

NOW = datetime(2026, 3, 2, 16, tzinfo=UTC)  # a Monday, nine in Phoenix
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _clock(time_machine):
    time_machine.move_to(NOW, tick=False)


@pytest.fixture
def order(alice_tenant):
    return make_bookable_order(tenant=alice_tenant)


@pytest.fixture
def early(alice_tenant):
    """An order that waits for its requisition, with a visit tomorrow."""
    alice_tenant.early_psc_booking_enabled = True
    alice_tenant.save()
    panel = make_lab_test(tenant=alice_tenant, lab=booking_lab())
    order = make_order(tenant=alice_tenant, lab_test=panel)
    tomorrow = NOW.date() + timedelta(days=1)
    make_appointment(order=order, center=make_center(), start=tomorrow)
    return order


def settled(order):
    visit = list_appointments_of_order(order=order)[0]
    confirm_or_cancel_unconfirmed_appointment(
        tenant=order.tenant, appointment_id=visit.pk
    )
    visit = list_appointments_of_order(order=order)[0]
    return visit.status, visit.cancellation_reason


def pending(order, word):
    return make_appointment(
        order=order,
        notes=f"sandbox:{word}",
        waits_on=True,
        async_timeout=timedelta(minutes=15),
    )


def test_a_slow_yes_confirms_the_visit_when_it_comes(alice_tenant, order, time_machine):
    pending(order, "slow")

    before = settled(order)
    time_machine.shift(SLOWNESS)
    after = settled(order)

    assert (before, after) == (("pending", ""), ("confirmed", ""))
    assert order.events.last().status.endswith("appointment_scheduled")
    assert emitted_types(alice_tenant)[-1] == "labtest.appointment.updated"
    assert list_appointments_of_order(order=order)[0].confirm_by is None


def test_a_slow_no_gives_the_visit_up(order, time_machine):
    pending(order, "refuse")
    time_machine.shift(SLOWNESS)

    assert settled(order) == ("cancelled", "slot_taken")
    assert SlotPlace.objects.count() == 0


def test_a_provider_that_stays_silent_is_given_up_at_the_limit(order, time_machine):
    pending(order, "down")

    before = settled(order)
    time_machine.shift(timedelta(minutes=15))

    assert before == ("pending", "")
    assert settled(order) == ("cancelled", "not_confirmed")
    assert order.events.last().status.endswith("appointment_cancelled")


def test_a_reserved_visit_is_confirmed_once_the_requisition_is_made(early):
    before = settled(early)
    advance_order(order=early, actor=ACTOR, to="requisition_created")

    assert before == ("reserved", "")
    assert settled(early) == ("confirmed", "")
    assert [e.status.split(".")[-1] for e in early.events.order_by("pk")] == [
        "ordered",
        "requisition_created",
        "appointment_pending",
        "appointment_scheduled",
    ]


def test_a_reserved_visit_is_given_up_eight_hours_after_its_order(early, time_machine):
    time_machine.shift(timedelta(hours=8) - timedelta(seconds=1))

    before = settled(early)
    time_machine.shift(timedelta(seconds=1))

    assert before == ("reserved", "")
    assert settled(early) == ("cancelled", "no_requisition")
    assert early.events.last().status.endswith("ordered")


def test_a_reserved_visit_is_given_up_two_hours_before_it_starts(early):
    visit = list_appointments_of_order(order=early)[0]
    visit.start_at = NOW + timedelta(hours=2)
    visit.save()

    assert settled(early) == ("cancelled", "no_requisition")


def test_a_reserved_visit_of_an_order_that_was_called_off_is_given_up(early):
    advance_order(order=early, actor=ACTOR, to="cancelled")

    assert settled(early) == ("cancelled", "order_cancelled")


def test_the_clock_enqueues_what_waits_and_frees_what_has_ended(
    alice_tenant, order, early, time_machine
):
    center = make_center()
    held = free_slots(alice_tenant, center)[0]
    hold_slot_for_order(order=order, booking_key=held.booking_key)
    late = make_bookable_order(tenant=alice_tenant)
    with pytest.raises(Unavailable):
        make_appointment(order=late, notes="sandbox:cut")
    kept = SlotPlace.objects.count()
    release_expired_holds_and_check_appointments(at=NOW)

    unchanged = SlotPlace.objects.count()
    time_machine.shift(max(HOLD_TTL, CLAIM_TTL))
    release_expired_holds_and_check_appointments(at=NOW + max(HOLD_TTL, CLAIM_TTL))

    assert (kept, unchanged) == (3, 3)
    assert SlotPlace.objects.get().order_id == early.pk
    names = [job.name for job in queued() if "visit" in job.name]
    assert names.count("labs.settle_visit") == 2
    assert names.count("labs.release_visit") == 1


def test_a_booking_is_given_back_unless_it_is_in_use(alice_tenant, order):
    visit = make_appointment(order=order)

    cancel_unused_booking_at_provider(tenant=alice_tenant, reference=visit.reference)
    in_use = SandboxVisit.objects.get().cancelled_at
    visit.places.all().delete()
    visit.delete()
    cancel_unused_booking_at_provider(tenant=alice_tenant, reference=visit.reference)

    assert in_use is None
    assert SandboxVisit.objects.get().cancelled_at == NOW


def test_a_visit_whose_sample_reached_the_lab_is_completed(order, time_machine):
    visit = make_appointment(order=order)
    order.refresh_from_db()
    advance_order(order=order, actor=ACTOR, to="partial_results")
    early = complete_collected_appointments(at=NOW)
    time_machine.move_to(visit.start_at, tick=False)

    assert (early, complete_collected_appointments(at=visit.start_at)) == (0, 1)
    assert list_appointments_of_order(order=order)[0].status == "completed"
    assert complete_collected_appointments(at=visit.start_at) == 0


def test_the_sandbox_forgets_in_time(order):
    make_appointment(order=order)

    delete_old_sandbox_bookings(at=NOW + timedelta(days=90))
    kept = SandboxVisit.objects.count()
    delete_old_sandbox_bookings(at=NOW + timedelta(days=91))

    assert (kept, SandboxVisit.objects.count()) == (1, 0)
