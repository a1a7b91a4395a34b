"""Reads of a user's orders that fall into a span of days."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from labs.models import CriticalAlert, Order
from labs.states.order_queues import is_order_in_progress

if TYPE_CHECKING:
    from accounts.models import Tenant


class OrderSpan(NamedTuple):
    """An order from `created_at` to its last change; `is_open`: it goes on."""

    id: UUID
    panel: str
    status: str
    created_at: datetime
    updated_at: datetime
    has_open_alert: bool

    @property
    def is_open(self) -> bool:
        """Return whether results may still come."""
        return is_order_in_progress(self.status)


def list_orders_in_span(
    *,
    tenant: Tenant,
    user_uuid: UUID,
    start: datetime,
    end: datetime,
    limit: int,
) -> list[OrderSpan]:
    """Return a live user's orders from before `end` that ended after `start`.

    Those with a critical result that nobody acknowledged, of any time. Newest first;
    one query.
    """
    alerts = CriticalAlert.objects.for_tenant(tenant).filter(
        order=OuterRef("pk"), acknowledged_at=None
    )
    orders = Order.objects.for_tenant(tenant).live().of_user(user_uuid)
    found = (
        orders.annotate(open_alert=Exists(alerts))
        .filter(Q(created_at__lt=end) | Q(open_alert=True))
        .order_by("-created_at", "pk")
        .values_list(
            "pk",
            "lab_test__name",
            "status",
            "created_at",
            "updated_at",
            "open_alert",
        )[:limit]
    )
    spans = [OrderSpan(*row) for row in found]
    return [
        each
        for each in spans
        if each.has_open_alert or each.is_open or each.updated_at >= start
    ]


def list_orders_with_open_alert(*, tenant: Tenant, user_uuid: UUID) -> set[UUID]:
    """Return the user's orders with an unacknowledged critical result; one query."""
    found = CriticalAlert.objects.for_tenant(tenant).filter(
        order__user__uuid=user_uuid, acknowledged_at=None
    )
    return {key for key in found.values_list("order_id", flat=True) if key}
