"""Appointments: booked, confirmed, rescheduled, held and cancelled in any order."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from labs.models import Appointment, ServiceCenter, SlotPlace
from labs.operations.appointments.changes import (
    complete_appointment,
    start_appointment,
)
from labs.operations.appointments.upkeep import (
    confirm_or_cancel_unconfirmed_appointment,
)
from labs.operations.order_status.status import advance_order, lock_order
from labs.queries.orders.orders import get_order_with_details
from tests.factories.accounts import ACTOR
from tests.factories.appointments import (
    HOME,
    booking_lab,
    make_center,
    make_lab_test,
    make_order,
)
from tests.factories.users import make_user
from tests.labs.holdings import holdings
from tests.outbox import emitted
from tests.state_machines.contract import (
    read_appointment_moves,
    read_cancellable,
    read_moves,
)
from tests.state_machines.machine import (
    NOW,
    Machine,
    efforts,
    nothing_changes,
    refusal_of,
    walk,
)

MOVES, ORDER_MOVES = read_appointment_moves(), read_moves()
CANCELLABLE = read_cancellable()
DAY = "2026-03-04"  # when visits begin
KINDS = {"walk_in_test": "psc", "at_home_phlebotomy": "phlebotomy"}
# Contract 6.18: the word of events.
EVENT_STATUS = {"confirmed": "scheduled"}
# Contract 6.18: what the order takes with the visit, each as far as it still can.
STEPS = {
    "pending": ("appointment_pending",),
    "confirmed": ("appointment_pending", "appointment_scheduled"),
    "cancelled": ("appointment_cancelled",),
}


class AppointmentMachine(Machine):
    """One order and its visits, at a center or at home."""

    def __init__(self, world) -> None:
        super().__init__()
        self.tenant, self.api, self.user, self.panels = world

    @initialize(
        method=st.sampled_from(tuple(KINDS)),
        may_book_early=st.booleans(),
        has_requisition=st.booleans(),
    )
    def place(self, method, may_book_early, has_requisition) -> None:
        self.method = method
        self.tenant.early_psc_booking_enabled = may_book_early
        self.tenant.save()
        self.may_book_early = may_book_early and method == "walk_in_test"
        order = make_order(
            tenant=self.tenant, user=self.user, lab_test=self.panels[method]
        )
        self.id = order.pk
        self.path = f"/v3/order/{order.pk}/{KINDS[method]}/appointment"
        self.low = "ordered"
        self.visits: list[list[str]] = []  # the statuses of each
        self.asked_at = NOW - timedelta(days=1)
        if has_requisition:  # without one little can happen
            self.make_requisition()

    @property
    def active(self) -> str | None:
        """The status of the visit that there is."""
        last = self.visits[-1][-1] if self.visits else None
        return None if last in (None, "completed", "cancelled") else last

    def order(self):
        found = get_order_with_details(tenant=self.tenant, order_id=self.id)
        found.tenant = self.tenant
        return lock_order(found)

    def visit(self):
        """The last one booked."""
        return Appointment.objects.for_tenant(self.tenant).latest("created_at")

    def held(self):
        rows = Appointment.objects.for_tenant(self.tenant)
        return [*holdings(self.tenant), *rows.order_by("pk").values()]

    def step(self, *lows) -> None:
        """The order takes those steps that it can."""
        for low in lows:
            if low in ORDER_MOVES[self.method][self.low]:
                self.low = low

    def becomes(self, status) -> None:
        """The visit moves, legally, and the order with it."""
        old = self.visits[-1][-1]
        assert status in MOVES[old], (self.visits, status)
        self.visits[-1].append(status)
        if status == "confirmed" == old:
            self.step("appointment_scheduled")
        elif status == "completed" and self.method == "at_home_phlebotomy":
            self.step("draw_completed")
        elif not (status == "cancelled" and self.low == "ordered"):
            self.step(*STEPS.get(status, ()))

    def refused(self, method, path, body, *statuses):
        with nothing_changes(self.held):
            reply = getattr(self.api, method)(path, body)
            assert reply.status_code in (statuses or (400,)), reply.content
        return reply

    def keys(self):
        """Booking keys of slots in two days; they last fifteen minutes."""
        now = timezone.now()
        if now - self.asked_at > timedelta(minutes=10):
            self.asked_at, self.found = now, self.ask_for_keys()
        return self.found

    def ask_for_keys(self):
        if self.method == "walk_in_test":
            query = f"lab=quest&zip_code=85004&start_date={DAY}"
            reply = self.api.post(f"/v3/order/psc/appointment/availability?{query}")
        else:
            reply = self.api.post(
                f"/v3/order/phlebotomy/appointment/availability?start_date={DAY}", HOME
            )
        return [s["booking_key"] for day in reply.json()["slots"] for s in day["slots"]]

    @rule()
    def make_requisition(self) -> None:
        self.wait(seconds=10)
        if self.low != "ordered":
            return
        advance_order(order=self.order(), actor=ACTOR, to="requisition_created")
        self.low = "requisition_created"

    @rule(
        slot=st.integers(0, 2),
        word=st.sampled_from(
            ("", "", "sandbox:slow", "sandbox:refuse", "sandbox:gone")
        ),
    )
    def book(self, slot, word) -> None:
        self.wait(seconds=10)
        body = {"booking_key": self.keys()[slot], "appointment_notes": word}
        body["async_confirmation"] = True
        is_early = self.low == "ordered" and self.may_book_early
        # Contract 6.18: one active visit, and a requisition first.
        has_requisition = self.low in {
            *("requisition_created", "appointment_pending"),
            *("appointment_scheduled", "appointment_cancelled"),
        }
        if self.active or not (is_early or has_requisition):
            self.refused("post", f"{self.path}/book", body)
            return
        if word == "sandbox:gone" and not is_early:
            reply = self.api.post(f"{self.path}/book", body)
            assert (reply.status_code, reply.json()["code"]) == (400, "slot_taken")
            assert len(reply.json()["alternatives"]) == 3
            return
        reply = self.api.post(f"{self.path}/book", body)
        assert reply.status_code == 200, reply.content
        waits = word in ("sandbox:slow", "sandbox:refuse")
        status = "reserved" if is_early else "pending" if waits else "confirmed"
        assert reply.json()["status"] == status
        self.visits.append([status])
        self.step(*STEPS.get(status, ()))

    @rule(slot=st.integers(0, 2))
    def reschedule(self, slot) -> None:
        self.wait(seconds=10)
        body = {"booking_key": self.keys()[slot]}
        path = f"{self.path}/reschedule"
        if self.active is None:
            self.refused("patch", path, body, 404)
        elif self.active != "confirmed":
            self.refused("patch", path, body)
        else:
            before = self.visit().start_at
            reply = self.api.patch(path, body)
            if reply.status_code == 400:
                assert reply.json()["code"] == "slot_taken", reply.content
                return
            assert reply.status_code == 200, reply.content
            if self.visit().start_at != before:
                self.becomes("confirmed")

    @rule(reason=st.sampled_from(("other", "patient_request", "unheard_of")))
    def cancel(self, reason) -> None:
        self.wait(seconds=10)
        body = {"cancellation_reason_id": reason}
        path = f"{self.path}/cancel"
        if not self.visits:
            self.refused("patch", path, body, 404)
        elif self.active is None or reason == "unheard_of":
            self.refused("patch", path, body)
        else:
            assert self.api.patch(path, body).status_code == 200
            self.becomes("cancelled")

    @rule()
    def start(self) -> None:
        self.record(start_appointment, "in_progress")

    @rule()
    def complete(self) -> None:
        self.record(complete_appointment, "completed")

    def record(self, operation, to) -> None:
        """What a member says of a visit."""
        self.wait(seconds=10)

        def act():
            return operation(
                order=self.order(), actor=ACTOR, occurred_at=timezone.now()
            )

        if self.active is None or to not in MOVES[self.active]:
            with nothing_changes(self.held):
                code = "transition_not_allowed" if self.active else None
                assert refusal_of(act) == (code or "appointment_not_found")
            return
        assert refusal_of(act) is None
        self.becomes(to)

    @rule(minutes=st.sampled_from((1, 20, 600)))
    def look_after(self, minutes) -> None:
        """Time passes, and the job that settles what waits runs."""
        if timezone.now().date() > NOW.date() and minutes > 20:
            return  # visits begin in two days
        self.wait(minutes=minutes)
        if self.active not in ("reserved", "pending"):
            return
        found = self.visit()
        confirm_or_cancel_unconfirmed_appointment(
            tenant=self.tenant, appointment_id=found.pk
        )
        found.refresh_from_db()
        if found.status == self.active:
            # Without its requisition it waits for eight hours at most.
            assert self.active != "reserved" or self.low == "ordered"
            return
        assert found.status in ("confirmed", "cancelled")
        self.becomes(found.status)

    @rule()
    def cancel_order(self) -> None:
        """A visit at home goes with its order, one to a center stays."""
        self.wait(seconds=10)
        path = f"/v3/order/{self.id}/cancel"
        if self.low not in CANCELLABLE[self.method]:
            self.refused("post", path, {})
            return
        assert self.api.post(path).status_code == 200
        if self.active and self.method == "at_home_phlebotomy":
            self.becomes("cancelled")
        self.low = "cancelled"

    @rule(ends=st.booleans())
    def go_through(self, ends) -> None:
        """A visit is booked and moved, and its order perhaps cancelled."""
        self.make_requisition()
        self.book(slot=0, word="")
        self.reschedule(slot=1)
        if ends:
            self.cancel_order()

    @invariant()
    def it_is_what_the_contract_says(self) -> None:
        if not hasattr(self, "visits"):
            return
        reply = self.api.get(self.path)
        if self.active is None:
            assert reply.status_code == 404
        else:
            shown = reply.json()
            assert shown["status"] == self.active
            assert [event["status"] for event in shown["events"]] == [
                EVENT_STATUS.get(status, status) for status in self.visits[-1]
            ]
        order = self.api.get(f"/v3/order/{self.id}").json()
        assert order["last_event"]["status"].endswith(f".{self.low}")
        sent = [
            (envelope["event_type"], envelope["data"]["status"])
            for envelope in emitted(self.tenant)
            if envelope["event_type"].startswith("labtest.appointment.")
        ]
        assert sent == [
            (f"labtest.appointment.{'updated' if place else 'created'}", status)
            for visit in self.visits
            for place, status in enumerate(visit)
        ]

    @invariant()
    def a_slot_is_held_by_a_visit_alone(self) -> None:
        if hasattr(self, "visits"):
            held = SlotPlace.objects.exclude(appointment=None).count()
            kept = {"reserved", "pending", "confirmed", "in_progress", "completed"}
            assert held == sum(visit[-1] in kept for visit in self.visits)


@efforts(walks=3, steps=15)
@pytest.mark.django_db
def test_a_visit_is_what_the_contract_says(effort, alice_tenant, alice_api):
    ServiceCenter.objects.all().delete()
    make_center(places=3)
    panels = {
        method: make_lab_test(
            tenant=alice_tenant, lab=booking_lab(tenant=alice_tenant), method=method
        )
        for method in KINDS
    }
    world = alice_tenant, alice_api, make_user(tenant=alice_tenant), panels

    class Appointments(AppointmentMachine):
        def __init__(self) -> None:
            super().__init__(world)

    walk(Appointments, effort)
