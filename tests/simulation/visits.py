"""What clients do with visits: book a slot, move it, cancel it; and their upkeep."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.utils import timezone

from labs.operations.appointments.upkeep import (
    complete_collected_appointments,
    release_expired_holds_and_check_appointments,
)
from portal.lib.tenancy import across_tenants

if TYPE_CHECKING:
    from tests.simulation.world import Side, World

# What the sandbox's provider does with a booking whose notes say so.
WORDS = ("", "", "", "sandbox:slow", "sandbox:refuse", "sandbox:gone", "sandbox:cut")


def book(world: World, side: Side) -> None:
    """Book one of the next slots, which the provider confirms, puts off or refuses."""
    books = side.books
    orders = [each for each in side.open_orders() if each in books.walk_ins]
    # What a lab answers by hand has its requisition; of others some are too early.
    ready = [each for each in orders if each in books.results]
    order = world.pick(ready if ready and world.dice.random() < 0.6 else orders)
    if order is None:
        return
    body = {
        "booking_key": find_slot(world, side),
        "appointment_notes": world.dice.choice(WORDS),
        "async_confirmation": True,
    }
    headers = {"x-idempotency-key": f"visit-{world.number()}"}
    path = f"{path_of(order)}/book"

    def send() -> Any:
        return side.api.post(path, body, headers=headers)

    if world.dice.random() < 0.15:
        world.call_and_die(send)
        return
    reply = world.call(send)
    if reply.status_code == 200:
        shown = reply.json()
        assert shown["order_id"] == order
        books.visits[shown["id"]] = order
        world.note(f"  {shown['status']}")


def reschedule(world: World, side: Side) -> None:
    if order := world.pick(side.books.visits.values()):
        body = {"booking_key": find_slot(world, side)}
        path = f"{path_of(order)}/reschedule"
        reply = world.call(lambda: side.api.patch(path, body))
        if reply.status_code == 200:
            shown = reply.json()
            side.books.moved[shown["id"]] = shown["start_at"]


def cancel_visit(world: World, side: Side) -> None:
    if order := world.pick(side.books.visits.values()):
        body = {"cancellation_reason_id": "patient_request"}
        reply = world.call(lambda: side.api.patch(f"{path_of(order)}/cancel", body))
        if reply.status_code == 200:
            side.books.cancelled_visits.add(reply.json()["id"])


def path_of(order: str) -> str:
    return f"/v3/order/{order}/psc/appointment"


def find_slot(world: World, side: Side) -> str:
    day = timezone.now().date() + timedelta(days=world.dice.randint(1, 2))
    path = "/v3/order/psc/appointment/availability?lab=quest&zip_code=85004"
    reply = side.api.post(f"{path}&start_date={day}")
    assert reply.status_code == 200, reply.content
    slots: list[dict[str, Any]] = [
        slot for day in reply.json()["slots"] for slot in day["slots"]
    ]
    key: str = world.dice.choice(slots[:2])["booking_key"]
    return key


def look_after_visits() -> None:
    """What runs by the clock, for all teams."""
    with across_tenants(why="visits of all are looked after"):
        release_expired_holds_and_check_appointments(at=timezone.now())
        complete_collected_appointments(at=timezone.now())
