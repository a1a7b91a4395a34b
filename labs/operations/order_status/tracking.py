"""Emit the event of an order's tracking where its collection or estimates change."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from accounts.webhooks.operations import emit_event
from labs.payloads.tracking import build_order_tracking
from labs.queries.orders.orders import get_order_with_details
from labs.queries.orders.tracking import get_order_tracking

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labs.models import Order
    from labs.queries.orders.tracking import OrderTracking


@contextmanager
def watch_order_tracking(order: Order) -> Iterator[None]:
    """Emit labtest.order_tracking.updated after the work if it changed the tracking.

    Source: Contract 6.20, 8.2.
    """
    before = _load_tracking(order).state
    yield
    after = _load_tracking(order)
    if after.state != before:
        emit_event(
            tenant=order.tenant,
            user=order.user.ref,
            event_type="labtest.order_tracking.updated",
            data=build_order_tracking(after),
        )


def _load_tracking(order: Order) -> OrderTracking:
    return get_order_tracking(
        order=get_order_with_details(tenant=order.tenant, order_id=order.pk)
    )
