"""The step from ordered to the lab: the requisition, now or on an order's day.

Must not be here: the papers (labs.papers).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction
from django.utils import timezone

from labs.models import Order
from labs.operations.gateways import gateway_of
from labs.operations.order_steps import advance, lock_order
from labs.queries.orders import full_orders
from labs.states.orders import split_status
from portal.lib.errors import DomainError
from portal.lib.jobs import enqueue

if TYPE_CHECKING:
    from uuid import UUID

    from accounts.models import Tenant
    from portal.lib.actor import Actor

REQUISITION_JOB = "labs.make_requisition"
_WAITING = {"ordered", "registered"}


def request_requisition(order: Order) -> None:
    """Enqueue an order's requisition where one is due (contract 6.12).

    The sandbox waits for simulation, a scheduled order for its day.
    """
    starts_later = order.activate_by and order.activate_by > timezone.now().date()
    if not (order.tenant.is_sandbox or starts_later):
        enqueue(
            REQUISITION_JOB,
            tenant=order.tenant,
            lock=f"order-{order.pk}",
            order_id=str(order.pk),
        )


def make_requisition(*, tenant: Tenant, actor: Actor, order_id: UUID) -> None:
    """Announce an order to its lab and move it on; nothing if it has moved already.

    A kit keeps the sample id that is printed on it. Raises: LabUnavailable (nothing was
    written; the job runs again); sample_id_taken. Source: Contract 6.12.
    """
    order = full_orders(tenant=tenant).filter(pk=order_id).first()
    if order is None or split_status(order.status).low not in _WAITING:
        return
    order.tenant = tenant
    # The lab's answer comes before the transaction that stores it.
    answer = gateway_of(tenant).request_requisition(order)
    with transaction.atomic():
        order = lock_order(order)
        if split_status(order.status).low in _WAITING:
            _store(order, actor, order.sample_id or answer.sample_id)


def _store(order: Order, actor: Actor, sample_id: str) -> None:
    try:
        with transaction.atomic():
            advance(
                order=order,
                actor=actor,
                to="requisition_created",
                changes={"sample_id": sample_id},
            )
    except IntegrityError:
        raise DomainError(
            "sample_id_taken", "The lab gave the sample id of another order."
        ) from None


def enqueue_due_requisitions() -> int:
    """Enqueue the requisitions of scheduled orders whose day has come.

    Over all tenants; returns how many. Source: Contract 6.6 (`activate_by`).
    """
    due = (
        Order.unscoped.select_related("tenant")
        .filter(
            activate_by__lte=timezone.now().date(),
            status__endswith=".ordered",
            user__deleted_at=None,
        )
        .iterator(chunk_size=500)
    )
    number = 0
    for order in due:
        request_requisition(order)
        number += 1
    return number
