"""Reads of an order's history."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from labs.models import OrderEvent
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


def list_reachable_order_status_paths(order: Order) -> list[list[str]]:
    """List the status paths a sandbox order can take, shortest first.

    Each is the statuses passed; the last is its goal.
    """
    here = find_last_known_order_status(order)
    moves = get_allowed_order_transitions(
        order.method, registrable=order.is_registrable
    )
    walks = (
        find_order_status_path(here, to=goal, registrable=order.is_registrable)
        for goal in dict(moves)
    )
    return sorted((walk for walk in walks if walk), key=len)


def get_next_status_to_completion(walks: Sequence[list[str]]) -> str:
    """Return the next step to completed; empty where it is unreachable."""
    ways = [walk for walk in walks if split_order_status(walk[-1]).low == "completed"]
    return ways[0][0] if ways else ""
