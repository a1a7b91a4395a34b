"""Cancel at the lab the orders that were sent to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.operations.gateways import get_lab_gateway
from labs.queries.orders.orders import orders_with_details
from labs.states.orders import split_order_status
from portal.lib.jobs.jobs import enqueue_job

if TYPE_CHECKING:
    from uuid import UUID

    from accounts.models import Tenant
    from labs.models import Order

CALL_OFF_JOB = "labs.call_off"


def enqueue_order_cancellation_at_lab(order: Order) -> None:
    """Enqueue cancelling an order at its lab if it was sent there.

    A sandbox has no lab to tell. Source: Ours: a sample that comes after all is not
    tested, and nobody is billed.
    """
    if not order.tenant.is_sandbox and _was_sent_to_lab(order):
        enqueue_job(
            CALL_OFF_JOB,
            tenant=order.tenant,
            lock=f"order-{order.pk}",
            order_id=str(order.pk),
        )


def cancel_order_at_lab(*, tenant: Tenant, order_id: UUID) -> None:
    """Cancel an order at its lab. Raises: LabUnavailable (the job runs again)."""
    order = orders_with_details(tenant=tenant).filter(pk=order_id).first()
    if order is not None:
        order.tenant = tenant
        get_lab_gateway(tenant, order.lab_account).cancel_requisition(order)


def _was_sent_to_lab(order: Order) -> bool:
    """Return whether the order was sent to the lab; imported ones were not."""
    statuses = order.events.values_list("status", flat=True)
    return any(
        split_order_status(status).low == "requisition_created" for status in statuses
    )
