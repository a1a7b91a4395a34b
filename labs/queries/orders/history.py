"""Reads of an order's history."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from labs.models import Appointment, OrderEvent
from labs.states.appointments import AppointmentStatus
from labs.states.orders import (
    find_order_status_path,
    get_allowed_order_transitions,
    split_order_status,
)
from portal.lib.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from accounts.models import Tenant
    from labs.models import Order


# Steps that say that a visit is coming or was there.
_STEPS_OF_VISITS = {"appointment_pending", "appointment_scheduled", "draw_completed"}


def find_last_known_order_status(order: Order) -> str:
    """Return the order's latest known status; empty without one.

    It is the order's own but where a lab has reported one that we do not know.
    """
    known = {
        s
        for s, _moves in get_allowed_order_transitions(
            order.method, registrable=order.is_registrable
        )
    }
    if order.status in known:
        return order.status
    events = OrderEvent.objects.for_tenant(order.tenant).filter(order=order)
    found = events.filter(status__in=known).order_by("-pk")
    return found.values_list("status", flat=True).first() or ""


def has_order_ended(order: Order) -> bool:
    """Return whether nothing follows an order's status; results may still be added."""
    moves = get_allowed_order_transitions(
        order.method, registrable=order.is_registrable
    )
    return moves.is_terminal(find_last_known_order_status(order))


def had_requisition_created(order: Order) -> bool:
    """Return whether the order's requisition was ever created; never if imported."""
    return not order.moved_from and any(
        split_order_status(event.status).low == "requisition_created"
        for event in order.events.all()
    )


def find_last_order_event_id(order: Order) -> int:
    """Return the id of an order's latest event."""
    return get_last_order_event(tenant=order.tenant, order_id=order.pk).pk


def get_last_order_event(*, tenant: Tenant, order_id: UUID) -> OrderEvent:
    """Return an order's latest event, by one query. Raises: order_not_found (404)."""
    events = OrderEvent.objects.for_tenant(tenant).filter(
        order_id=order_id, order__user__deleted_at=None
    )
    found: OrderEvent | None = events.order_by("-pk").first()
    if found is None:
        raise NotFound("order_not_found", _("Order not found."))
    return found


def waits_for_new_visit(order: Order) -> bool:
    """Return whether an order's visit was cancelled and no other is booked.

    The order's status says so, also where a lab or the simulation reported it and we
    hold no visit. At most one query, where it does.
    """
    here = find_last_known_order_status(order)
    if split_order_status(here).low != "appointment_cancelled":
        return False
    visits = Appointment.objects.for_tenant(order.tenant).filter(order=order)
    return not visits.exclude(status=AppointmentStatus.CANCELLED).exists()


def find_simulated_order_path(order: Order, goal: str) -> list[str] | None:
    """Return the statuses that a sandbox order passes to `goal`; None if unreachable.

    After a cancelled visit no step that needs a visit is taken until one is booked
    again. Orders that never had a visit take them all up to there, as nothing else
    would let customers try them. Source: Contract 6.13; Ours: a draw without a visit
    is no draw.
    """
    here = find_last_known_order_status(order)
    walk = find_order_status_path(here, to=goal, registrable=order.is_registrable)
    needs_visit = walk is not None and _needs_visit(walk)
    return None if needs_visit and waits_for_new_visit(order) else walk


def list_reachable_order_status_paths(order: Order) -> list[list[str]]:
    """List the status paths a sandbox order can take, shortest first.

    Each is the statuses passed; the last is its goal. What find_simulated_order_path
    gives for every goal, by at most two queries.
    """
    here = find_last_known_order_status(order)
    moves = get_allowed_order_transitions(
        order.method, registrable=order.is_registrable
    )
    found = (
        find_order_status_path(here, to=goal, registrable=order.is_registrable)
        for goal in dict(moves)
    )
    walks = [walk for walk in found if walk]
    if any(map(_needs_visit, walks)) and waits_for_new_visit(order):
        walks = [walk for walk in walks if not _needs_visit(walk)]
    return sorted(walks, key=len)


def get_next_status_to_completion(walks: Sequence[list[str]]) -> str:
    """Return the next step to completed; empty where it is unreachable."""
    ways = [walk for walk in walks if split_order_status(walk[-1]).low == "completed"]
    return ways[0][0] if ways else ""


def _needs_visit(walk: Sequence[str]) -> bool:
    return any(split_order_status(status).low in _STEPS_OF_VISITS for status in walk)
