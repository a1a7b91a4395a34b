"""Wire shapes of orders (contract 6.10)."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Annotated, Any, TypedDict
from uuid import UUID

from labs.documents.links import get_requisition_link_url
from labs.models import Shipment
from labs.payloads.catalogue import LabTestAnswer, build_ordered_lab_test
from labs.payloads.patients import (
    PatientAddressAnswer,
    PatientDetailsAnswer,
    ShippingAnswer,
    build_patient_address,
    build_patient_details,
    build_shipping_address,
)
from labs.states.accounts import Billing
from labs.states.catalogue import CollectionMethod
from labs.states.orders import (
    Interpretation,
    OrderOrigin,
    OrderStatusDetail,
    OrderTopLevelStatus,
    OrderTransactionStatus,
    split_order_status,
)
from portal.lib.database.instances import find_kept_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labs.models import Order, OrderEvent


class ShipmentAnswer(TypedDict):
    """A shipment of a kit."""

    id: UUID
    outbound_tracking_number: str | None
    outbound_tracking_url: str | None
    inbound_tracking_number: str | None
    inbound_tracking_url: str | None
    outbound_courier: str | None
    inbound_courier: str | None
    notes: str | None


class OrderDetailsData(TypedDict, total=False):
    """Details by collection method: `shipment` of kits, `appointment_id` of visits."""

    id: UUID
    created_at: datetime
    updated_at: datetime
    shipment: ShipmentAnswer | None
    appointment_id: UUID | None


class OrderDetails(TypedDict):
    """The collection method and its details."""

    type: str
    data: OrderDetailsData | None


class OrderEventAnswer(TypedDict):
    """A status change of an order; IDs increase over time."""

    id: int
    created_at: datetime
    status: str
    status_detail: Annotated[str, OrderStatusDetail] | None


class OrderInTransaction(TypedDict):
    """An order in its transaction."""

    id: UUID
    low_level_status: str | None
    low_level_status_created_at: datetime | None
    origin: Annotated[str, OrderOrigin] | None
    parent_id: UUID | None
    created_at: datetime
    updated_at: datetime


class TransactionInOrder(TypedDict):
    """The transaction of an order."""

    id: UUID
    status: Annotated[str, OrderTransactionStatus]
    orders: list[OrderInTransaction]


class PhysicianAnswer(TypedDict):
    """The ordering physician."""

    first_name: str
    last_name: str
    npi: str


class OrderAnswer(TypedDict):
    """An order; `comments` repeats `clinical_notes`.

    `moved_from` names the platform whose history it is: nothing acts on it here.
    """

    user_id: UUID
    id: UUID
    team_id: UUID
    patient_details: PatientDetailsAnswer | None
    patient_address: PatientAddressAnswer | None
    lab_test: LabTestAnswer
    details: OrderDetails
    sample_id: str | None
    notes: str | None
    clinical_notes: str | None
    comments: str | None
    created_at: datetime
    updated_at: datetime
    events: list[OrderEventAnswer]
    status: Annotated[str, OrderTopLevelStatus] | None
    last_event: OrderEventAnswer
    physician: PhysicianAnswer | None
    health_insurance_id: UUID | None
    requisition_form_url: str | None
    priority: bool | None
    shipping_details: ShippingAnswer | None
    activate_by: date | None
    passthrough: str | None
    billing_type: Annotated[str, Billing] | None
    icd_codes: list[str] | None
    has_abn: bool
    interpretation: Annotated[str, Interpretation] | None
    has_missing_results: bool | None
    expected_result_by_date: date | None
    worst_case_result_by_date: date | None
    origin: Annotated[str, OrderOrigin] | None
    order_transaction: TransactionInOrder | None
    lab_account_id: UUID | None
    update_reason: str | None
    moved_from: str | None


# Data of labtest.order.created and .updated (contract 8.2).
ORDER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": sorted(OrderAnswer.__required_keys__),
    "properties": {
        "id": {"type": "string", "format": "uuid"},
        "user_id": {"type": "string", "format": "uuid"},
        "status": {"type": "string"},
        "details": {
            "type": "object",
            "required": ["type", "data"],
            "properties": {"type": {"enum": CollectionMethod.values}},
        },
        "events": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": sorted(OrderEventAnswer.__required_keys__),
                "properties": {
                    "id": {"type": "integer"},
                    "status": {"type": "string"},
                },
            },
        },
        "last_event": {
            "type": "object",
            "required": sorted(OrderEventAnswer.__required_keys__),
        },
        "lab_test": {
            "type": "object",
            "required": sorted(LabTestAnswer.__required_keys__),
        },
        "patient_details": {
            "type": ["object", "null"],
            "required": sorted(PatientDetailsAnswer.__required_keys__),
        },
        "patient_address": {
            "type": ["object", "null"],
            "required": sorted(PatientAddressAnswer.__required_keys__),
        },
        "order_transaction": {
            "type": "object",
            "required": sorted(TransactionInOrder.__required_keys__),
        },
    },
}


def build_order(order: Order, lab_test: LabTestAnswer | None = None) -> OrderAnswer:
    """Build an order loaded by orders_with_details; `lab_test` if it is built."""
    events = [build_order_event(event) for event in list_order_events(order)]
    return {
        "user_id": order.user.uuid,
        "id": order.pk,
        "team_id": order.tenant.team_id,
        "patient_details": build_patient_details(order.patient_details),
        "patient_address": build_patient_address(order.patient_address),
        "lab_test": lab_test or build_ordered_lab_test(order),
        "details": {"type": order.method, "data": _build_details(order)},
        "sample_id": order.sample_id or None,
        "notes": None,
        "clinical_notes": order.comments or None,
        "comments": order.comments or None,
        "created_at": order.created_at,
        "updated_at": order.updated_at,
        "events": events,
        "status": split_order_status(order.status).top,
        "last_event": events[-1],
        "physician": _build_physician(order),
        "health_insurance_id": order.health_insurance_id,
        "requisition_form_url": get_requisition_link_url(order),
        "priority": order.priority,
        "shipping_details": build_shipping_address(order.shipping_address),
        "activate_by": order.activate_by,
        "passthrough": order.passthrough or None,
        "billing_type": order.billing_type,
        "icd_codes": order.icd_codes or None,
        "has_abn": False,
        "interpretation": order.interpretation or None,
        "has_missing_results": order.has_missing_results,
        "expected_result_by_date": order.due_by,
        "worst_case_result_by_date": order.worst_case_due_by,
        "origin": order.origin,
        "order_transaction": _build_transaction(order),
        "lab_account_id": order.lab_account_id,
        "update_reason": order.update_reason or None,
        "moved_from": order.moved_from or None,
    }


def build_order_event(event: OrderEvent) -> OrderEventAnswer:
    """Build one status change."""
    return {
        "id": event.pk,
        "created_at": event.created_at,
        "status": event.status,
        "status_detail": event.status_detail or None,
    }


def list_order_events(order: Order) -> list[OrderEvent]:
    """List an order's events in order, using loaded ones."""
    kept = find_kept_rows(order, "events")
    return list(order.events.all() if kept is None else kept)


def get_transaction_status(orders: Sequence[Order]) -> OrderTransactionStatus:
    """Return active with any open order, else completed unless all were cancelled.

    Source: Contract 6.10.
    """
    tops = [split_order_status(order.status).top for order in orders]
    closed = {"completed", "cancelled", "failed"}
    redrawn = any(order.origin == OrderOrigin.REDRAW for order in orders)
    if any(
        top not in closed
        and not (redrawn and split_order_status(order.status).low == "redraw_available")
        for top, order in zip(tops, orders, strict=True)
    ):
        return OrderTransactionStatus.ACTIVE
    if all(top == "cancelled" for top in tops):
        return OrderTransactionStatus.CANCELLED
    return OrderTransactionStatus.COMPLETED


def _build_transaction(order: Order) -> TransactionInOrder:
    kept: Sequence[Order] | None = find_kept_rows(order.transaction, "orders")
    orders = sorted(
        order.transaction.orders.all() if kept is None else kept,
        key=lambda one: (one.created_at, one.pk),
    )
    return {
        "id": order.transaction_id,
        "status": get_transaction_status(orders),
        "orders": [_build_order_in_transaction(one) for one in orders],
    }


def _build_order_in_transaction(order: Order) -> OrderInTransaction:
    events = list_order_events(order)
    return {
        "id": order.pk,
        "low_level_status": split_order_status(order.status).low,
        "low_level_status_created_at": events[-1].created_at if events else None,
        "origin": order.origin,
        "parent_id": order.parent_id,
        "created_at": order.created_at,
        "updated_at": order.updated_at,
    }


def _build_details(order: Order) -> OrderDetailsData:
    data: OrderDetailsData = {
        "id": order.pk,
        "created_at": order.created_at,
        "updated_at": order.updated_at,
    }
    match order.method:
        case CollectionMethod.TESTKIT:
            data["shipment"] = _build_shipment(order)
        case CollectionMethod.WALK_IN_TEST | CollectionMethod.AT_HOME_PHLEBOTOMY:
            data["appointment_id"] = order.visit_id
        case _:
            pass
    return data


def _build_shipment(order: Order) -> ShipmentAnswer | None:
    try:
        shipment = order.shipment
    except Shipment.DoesNotExist:
        return None
    return {
        "id": shipment.pk,
        "outbound_tracking_number": shipment.outbound_tracking_number or None,
        "outbound_tracking_url": shipment.outbound_tracking_url or None,
        "inbound_tracking_number": shipment.inbound_tracking_number or None,
        "inbound_tracking_url": shipment.inbound_tracking_url or None,
        "outbound_courier": shipment.outbound_courier or None,
        "inbound_courier": shipment.inbound_courier or None,
        "notes": shipment.notes or None,
    }


def _build_physician(order: Order) -> PhysicianAnswer | None:
    physician = order.physician
    if physician is None:
        return None
    return {
        "first_name": physician["first_name"],
        "last_name": physician["last_name"],
        "npi": physician["npi"],
    }
