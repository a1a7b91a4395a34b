"""Kits on their way, and reports of it, for tests."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from labs.models import Order
from labs.operations.orders.requisitions import create_requisition
from labs.operations.shipments.events import ReportedShipment, record_shipment_event
from labs.queries.orders.orders import get_order_with_details
from labs.states.catalogue import CollectionMethod
from labs.states.shipments import ShipmentReporter, ShipmentStatus
from tests.factories.accounts import ACTOR
from tests.factories.labs import (
    PHYSICIAN,
    make_lab,
    make_lab_account,
    make_lab_test,
    make_order,
)


def make_kit(*, tenant: Any, ago: timedelta = timedelta(days=3)) -> Order:
    """A kit with its requisition, placed some days ago, as production asks for it."""
    lab = make_lab()
    account = make_lab_account(tenant=tenant, lab=lab)
    panel = make_lab_test(tenant=tenant, lab=lab, method=CollectionMethod.TESTKIT)
    order = make_order(
        tenant=tenant, lab_test=panel, physician=PHYSICIAN, lab_account_id=account.pk
    )
    create_requisition(tenant=tenant, actor=ACTOR, order_id=order.pk)
    Order.objects.for_tenant(tenant).filter(pk=order.pk).update(
        created_at=timezone.now() - ago
    )
    return get_order_with_details(tenant=tenant, order_id=order.pk)


def report_shipment(
    order: Order, *statuses: str, at: datetime | None = None, **fields: Any
) -> Order:
    """Record steps of a kit's way, an hour after one another, the last one `at`."""
    last = at or timezone.now()
    for hours, status in zip(range(len(statuses) - 1, -1, -1), statuses, strict=True):
        order = record_shipment_event(
            order=order,
            actor=ACTOR,
            reported=ReportedShipment(
                ShipmentStatus(status), last - timedelta(hours=hours), **fields
            ),
            reporter=ShipmentReporter.API,
        )
    return order
