"""Reads of what an order has been through.

Must not be here: any write, or a page of orders (labs.queries.orders).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.models import OrderEvent
from labs.states.orders import moves_of

if TYPE_CHECKING:
    from labs.models import Order


def last_known_status(order: Order) -> str:
    """The latest status of an order that we know; empty where there is none.

    It is the order's own but where a lab has reported one that we do not know.
    """
    known = {s for s, _ in moves_of(order.method, registrable=order.is_registrable)}
    if order.status in known:
        return order.status
    events = OrderEvent.objects.for_tenant(order.tenant).filter(order=order)
    found = events.filter(status__in=known).order_by("-pk")
    return found.values_list("status", flat=True).first() or ""


def last_event_id(order: Order) -> int:
    """The number of an order's latest step."""
    events = OrderEvent.objects.for_tenant(order.tenant).filter(order=order)
    found: int = events.order_by("-pk").values_list("pk", flat=True)[0]
    return found
