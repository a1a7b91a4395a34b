"""Retention: count and delete old orders and lab messages."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef

from labs.models import CriticalAlert, InboundMessage, InboundReport, Order
from labs.operations.erasure import delete_orders
from labs.states.inbound import MatchStatus, MessageStatus
from labs.states.order_queues import is_order_in_progress
from labs.states.orders import ORDER_STATUSES
from portal.lib.database.retention import (
    count_rows_and_find_oldest,
    delete_rows_in_batches,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from uuid import UUID

    from django.db.models import QuerySet

    from accounts.models import Tenant
    from portal.lib.database.retention import Aged

_ENDED = tuple(status for status in ORDER_STATUSES if not is_order_in_progress(status))
_SETTLED = (MessageStatus.TAKEN, MessageStatus.DISMISSED)
# An order takes its results, visits and documents along: far more than a row.
_STEP = 50


def count_old_orders(tenant: Tenant, before: datetime) -> Aged:
    """Count ended orders that have not changed since a moment."""
    return count_rows_and_find_oldest(
        _ended_orders_before(tenant, before), "updated_at"
    )


def delete_old_orders(tenant: Tenant, before: datetime) -> Iterator[int]:
    """Delete old orders with their results and appointments."""
    return delete_rows_in_batches(
        _ended_orders_before(tenant, before),
        step=_STEP,
        remove=partial(_delete_orders, tenant),
    )


def count_old_lab_messages(tenant: Tenant, before: datetime) -> Aged:
    """Count lab messages received before a moment that need no review."""
    return count_rows_and_find_oldest(
        _reviewed_messages_before(tenant, before), "received_at"
    )


def delete_old_lab_messages(tenant: Tenant, before: datetime) -> Iterator[int]:
    """Delete old lab messages; results read from them stay."""
    return delete_rows_in_batches(
        _reviewed_messages_before(tenant, before),
        remove=partial(_delete_messages, tenant),
    )


def _ended_orders_before(tenant: Tenant, before: datetime) -> QuerySet[Order]:
    found: QuerySet[Order] = Order.objects.for_tenant(tenant).filter(
        status__in=_ENDED, updated_at__lt=before
    )
    return found


def _delete_orders(tenant: Tenant, keys: list[UUID]) -> None:
    delete_orders(tenant.pk, Order.objects.for_tenant(tenant).filter(pk__in=keys))


def _delete_messages(tenant: Tenant, keys: list[UUID]) -> None:
    """Delete messages, with alerts of critical results that came to no order."""
    alerts = CriticalAlert.objects.for_tenant(tenant).filter(
        order=None, acknowledged_at__isnull=False
    )
    theirs = list(alerts.filter(reports__message__in=keys).values_list("pk", flat=True))
    InboundMessage.objects.for_tenant(tenant).filter(pk__in=keys).delete()
    alerts.filter(pk__in=theirs, reports=None).delete()


def _reviewed_messages_before(
    tenant: Tenant, before: datetime
) -> QuerySet[InboundMessage]:
    waiting = InboundReport.objects.for_tenant(tenant).filter(
        message=OuterRef("pk"), status=MatchStatus.UNMATCHED
    )
    found: QuerySet[InboundMessage] = (
        InboundMessage.objects.for_tenant(tenant)
        .filter(status__in=_SETTLED, received_at__lt=before)
        .filter(~Exists(waiting))
    )
    return found
