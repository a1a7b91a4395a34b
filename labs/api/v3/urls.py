"""Paths below /v3/, in the order of contract 6.5: literal segments come first."""

from __future__ import annotations

from labs.api.v3.orders import (
    KitOrdersView,
    KitRegistrationView,
    OrderCancelView,
    OrderCreateView,
    OrderDrawView,
    OrderImportView,
    OrderListView,
    OrderRecreateView,
    OrderResendView,
    OrderSimulationView,
    OrdersView,
    OrderTransactionView,
    OrderView,
)
from portal.lib.api.views import endpoint

urlpatterns = [
    endpoint("order", OrdersView, "api-orders-create"),
    endpoint("order/create", OrderCreateView, "api-order-create"),
    endpoint("order/import", OrderImportView, "api-order-import"),
    endpoint("order/resend_events", OrderResendView, "api-order-resend"),
    endpoint("order/testkit", KitOrdersView, "api-order-testkit"),
    endpoint("order/testkit/register", KitRegistrationView, "api-testkit-register"),
    endpoint("orders", OrderListView, "api-orders"),
    endpoint("order/<order_id>", OrderView, "api-order"),
    endpoint("order/<order_id>/cancel", OrderCancelView, "api-order-cancel"),
    endpoint("order/<order_id>/recreate", OrderRecreateView, "api-order-recreate"),
    endpoint("order/<order_id>/test", OrderSimulationView, "api-order-test"),
    endpoint("order/<order_id>/draw_completed", OrderDrawView, "api-order-draw"),
    endpoint(
        "order_transaction/<transaction_id>",
        OrderTransactionView,
        "api-order-transaction",
    ),
]
