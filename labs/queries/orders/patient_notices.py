"""Reads of messages to patients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.models import PatientNotice

if TYPE_CHECKING:
    from labs.models import Order


def list_notices_of_order(order: Order) -> list[PatientNotice]:
    """List an order's messages, latest first; one query."""
    rows = PatientNotice.objects.for_tenant(order.tenant).filter(order=order)
    return list(rows.order_by("-id"))
