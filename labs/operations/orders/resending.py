"""Resending of orders' last events on a customer's request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from accounts.operations.audit.entries import record_change
from labs.models import Order
from labs.operations.order_status.status import emit_order_event
from labs.states.orders import split_order_status

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from accounts.models import Tenant
    from labs.models.order import OrderQuerySet
    from portal.lib.actor import Actor

RESEND_MAX = 500


@transaction.atomic
def resend_last_order_events(
    *,
    tenant: Tenant,
    actor: Actor,
    order_ids: Sequence[UUID],
    start_at: datetime | None,
    end_at: datetime,
) -> list[UUID]:
    """Emit orders' last events again as new messages; return their ids.

    By id, by when they last changed (both ends included), or by both; at most 500 of
    them, the first to have changed. Ids that are nobody's or a stranger's are left out,
    and so is another platform's history, which emits nothing.
    Source: Contract 6.5, 8.4.
    """
    rows: OrderQuerySet = Order.objects.for_tenant(tenant).live().placed_here()
    if order_ids:
        rows = rows.filter(pk__in=order_ids)
    if start_at is not None:
        rows = rows.filter(updated_at__gte=start_at, updated_at__lte=end_at)
    orders = list(rows.select_related("user").order_by("updated_at", "pk")[:RESEND_MAX])
    for order in orders:
        order.tenant = tenant
        low = split_order_status(order.status).low
        emit_order_event(order, "created" if low == "ordered" else "updated")
    record_change(
        tenant=tenant,
        actor=actor,
        verb="resend_order_events",
        subject="order",
        subject_id=len(orders),
    )
    return [order.pk for order in orders]
