"""Response shapes of orders, and their builders.

The order itself is built in labs.payloads, as events contain it too. Contract 6.5,
6.10.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, TypedDict
from uuid import UUID

from labs.payloads import (
    LabTestAnswer,
    OrderAnswer,
    PhysicianAnswer,
    build_order,
    build_ordered_lab_test,
    get_transaction_status,
    list_order_events,
)
from labs.states.orders import OrderOrigin, OrderTransactionStatus, split_order_status

if TYPE_CHECKING:
    from accounts.models import Tenant
    from labs.models import Order
    from labs.queries.orders.orders import OrderPage


class OrderDone(TypedDict):
    """An order after the request was applied."""

    order: OrderAnswer
    status: str
    message: str


class OrderList(TypedDict):
    """A page of orders."""

    orders: list[OrderAnswer]
    total: int
    page: int
    size: int


class TransactionOrder(TypedDict):
    """An order in its transaction."""

    id: UUID
    origin: Annotated[str, OrderOrigin] | None
    parent_id: UUID | None
    last_status: str
    last_status_created_at: datetime
    created_at: datetime
    updated_at: datetime


class TransactionAnswer(TypedDict):
    """An order transaction: an order with its redraw and recreations."""

    id: UUID
    team_id: UUID
    status: Annotated[str, OrderTransactionStatus]
    orders: list[TransactionOrder]


class SimulationDone(TypedDict):
    """A scheduled simulation."""

    success: bool
    message: str


class ResentOrders(TypedDict):
    """The orders whose last events were resent."""

    order_ids: list[UUID]


Physicians = list[PhysicianAnswer]


def build_order_change_response(order: Order, message: str) -> OrderDone:
    """Build the response to creating or changing an order."""
    return {"order": build_order(order), "status": "success", "message": message}


def build_order_list(found: OrderPage, *, page: int, size: int) -> OrderList:
    """Build a page of orders as requested; a test that many share is built once."""
    tests: dict[int, LabTestAnswer] = {}
    for order in found.orders:
        if id(order.placed) not in tests:
            tests[id(order.placed)] = build_ordered_lab_test(order)
    return {
        "orders": [build_order(each, tests[id(each.placed)]) for each in found.orders],
        "total": found.total,
        "page": page,
        "size": size,
    }


def build_order_transaction(tenant: Tenant, orders: list[Order]) -> TransactionAnswer:
    """Build a transaction of at least one order."""
    return {
        "id": orders[0].transaction_id,
        "team_id": tenant.team_id,
        "status": get_transaction_status(orders),
        "orders": [
            {
                "id": order.pk,
                "origin": order.origin,
                "parent_id": order.parent_id,
                "last_status": split_order_status(order.status).low,
                "last_status_created_at": list_order_events(order)[-1].created_at,
                "created_at": order.created_at,
                "updated_at": order.updated_at,
            }
            for order in orders
        ],
    }
