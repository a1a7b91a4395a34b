"""Reads of subscriptions to requisitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.models import RequisitionWatch

if TYPE_CHECKING:
    from accounts.models import Member
    from labs.models import Order


def is_subscribed_to_requisition(*, order: Order, member: Member) -> bool:
    """Return whether a member is notified once the requisition is created."""
    watches = RequisitionWatch.objects.for_tenant(order.tenant)
    return bool(watches.filter(order=order, member=member).exists())
