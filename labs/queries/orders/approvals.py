"""Reads of orders that wait for a physician, and of decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Upper

from labs.models import OrderApproval
from labs.queries.orders.orders import orders_with_details
from labs.queries.physicians import (
    get_today_of_team,
    list_represented_physicians,
)
from labs.states.order_queues import AWAITS_REQUISITION
from labs.states.orders import ORDER_STATUSES, split_order_status
from labs.states.physicians import ApprovalStatus

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from django.db.models import QuerySet

    from accounts.models import Tenant
    from labs.models import Order, Physician

# The most orders that the queue shows.
WAITING_AT_MOST = 200
DECIDED_SHOWN = 50
_UNDECIDED = [
    status
    for status in ORDER_STATUSES
    if split_order_status(status).low in AWAITS_REQUISITION
]


def waiting_approvals(tenant: Tenant) -> QuerySet[OrderApproval]:
    """Return the orders that wait: not cancelled, of users that are not deleted."""
    found: QuerySet[OrderApproval] = OrderApproval.objects.for_tenant(tenant).filter(
        status=ApprovalStatus.WAITING,
        order__status__in=_UNDECIDED,
        order__user__deleted_at=None,
    )
    return found


def approvals_for(*, tenant: Tenant, physician: Physician) -> QuerySet[OrderApproval]:
    """Return what waits for one physician: asked of them, of nobody, or stood in for.

    Only orders of patients in a state where they are licensed. Source: Ours.
    """
    represented = list_represented_physicians(
        tenant=tenant, physician=physician, today=get_today_of_team(tenant)
    )
    theirs = Q(asked=None) | Q(asked=physician) | Q(asked__in=represented)
    state = Upper(KeyTextTransform("state", "order__patient_address"))
    return (
        waiting_approvals(tenant)
        .filter(theirs)
        .alias(state=state)
        .filter(state__in=physician.licensed_states)
    )


def list_waiting_approvals(
    *, tenant: Tenant, physician: Physician | None = None
) -> list[OrderApproval]:
    """List what waits for one physician, or for all, oldest first."""
    found = (
        approvals_for(tenant=tenant, physician=physician)
        if physician
        else waiting_approvals(tenant)
    )
    shown = found.select_related(
        "asked", "order__user", "order__lab", "order__lab_test"
    )
    return list(shown.order_by("-order__priority", "asked_at", "pk")[:WAITING_AT_MOST])


def count_waiting_approvals(*, tenant: Tenant, physician: Physician) -> int:
    """Count what waits for one physician."""
    return approvals_for(tenant=tenant, physician=physician).count()


def list_decided_approvals(*, tenant: Tenant) -> list[OrderApproval]:
    """List the latest decisions."""
    decided = OrderApproval.objects.for_tenant(tenant).filter(
        decided_at__isnull=False, order__user__deleted_at=None
    )
    shown = decided.select_related(
        "asked", "physician", "order__user", "order__lab_test"
    )
    return list(shown.order_by("-decided_at", "-pk")[:DECIDED_SHOWN])


def list_orders_to_approve(
    *, tenant: Tenant, physician: Physician, order_ids: Sequence[UUID]
) -> list[Order]:
    """List those of the orders that the physician may decide on, with all details."""
    mine = approvals_for(tenant=tenant, physician=physician).filter(order__in=order_ids)
    rows = orders_with_details(tenant=tenant).filter(pk__in=mine.values("order"))
    return list(rows.select_related("approval__asked").order_by("created_at", "pk"))


def find_approval(order: Order) -> OrderApproval | None:
    """Return an order's approval with its physicians; None where it needs none."""
    found = OrderApproval.objects.for_tenant(order.tenant).filter(order_id=order.pk)
    approval: OrderApproval | None = found.select_related("asked", "physician").first()
    return approval
