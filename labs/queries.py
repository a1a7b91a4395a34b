"""Reads of lab testing that cross tables.

Must not be here: any write, or the audit of a read (the edge that asks records it).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.models import LabAccount, Order
from portal.lib.errors import NotFound

if TYPE_CHECKING:
    from uuid import UUID

    from accounts.models import Tenant
    from labs.models.order import OrderQuerySet


def linked_account(*, tenant: Tenant, account_id: UUID) -> LabAccount:
    """A lab account that the tenant may use, its lab loaded.

    Raises: lab_account_not_found (404), also for one that is not linked.
    """
    rows = LabAccount.objects.linked_to(tenant).select_related("lab")
    found = rows.filter(pk=account_id).first()
    if found is None:
        raise NotFound(
            "lab_account_not_found", "Lab account not found.", "lab_account_id"
        )
    return found


def full_orders(*, tenant: Tenant) -> OrderQuerySet:
    """Live orders with all their payload shows, by a constant number of queries."""
    rows: OrderQuerySet = Order.objects.for_tenant(tenant).live()
    return rows.select_related(
        "user", "lab", "lab_test__lab", "lab_account", "shipment", "transaction"
    ).prefetch_related("events", "lab_test__markers", "transaction__orders__events")


def full_order(*, tenant: Tenant, order_id: UUID) -> Order:
    """One order with all that its payload shows. Raises: order_not_found (404)."""
    found = full_orders(tenant=tenant).filter(pk=order_id).first()
    if found is None:
        raise NotFound("order_not_found", "Order not found.")
    found.tenant = tenant
    return found
