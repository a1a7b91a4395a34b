"""Results in the API: of an order, their metadata, of a transaction (contract 6.15)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework.response import Response

from labs.api.v3.orders.outputs import build_order_transaction
from labs.api.v3.orders.views import OrderAPIView
from labs.api.v3.results.outputs import (
    LabResults,
    ResultMetadata,
    build_lab_results,
    build_result_metadata,
)
from labs.queries.orders.orders import list_orders_of_transaction
from labs.queries.results.results import (
    get_results_of_order,
    get_results_of_transaction,
)
from portal.lib.api.fields import parse_path_uuid
from portal.lib.api.schema import describe_api_operation

if TYPE_CHECKING:
    from rest_framework.request import Request


class OrderResultView(OrderAPIView):
    """GET /v3/order/{order_id}/result."""

    @describe_api_operation(
        "get_order_result",
        "Get an order's results, including partial results",
        answer=LabResults,
        refuses=(404,),
    )
    def get(self, request: Request, order_id: str) -> Response:
        order = self.get_order(order_id)
        found = get_results_of_order(order=order)
        joined = sorted(
            order.transaction.orders.all(), key=lambda one: (one.created_at, one.pk)
        )
        self.record_read("result", order.pk, order.user.uuid)
        return Response(
            build_lab_results(found, build_order_transaction(self.tenant, joined))
        )


class OrderResultMetadataView(OrderAPIView):
    """GET /v3/order/{order_id}/result/metadata."""

    @describe_api_operation(
        "get_order_result_metadata",
        "Get the patient and lab of an order's results",
        answer=ResultMetadata,
        refuses=(404,),
    )
    def get(self, request: Request, order_id: str) -> Response:
        order = self.get_order(order_id)
        found = get_results_of_order(order=order)
        self.record_read("result", order.pk, order.user.uuid)
        return Response(build_result_metadata(found))


class TransactionResultView(OrderAPIView):
    """GET /v3/order_transaction/{transaction_id}/result."""

    @describe_api_operation(
        "get_order_transaction_result",
        "Get the combined results of an order, its redraw and recreations",
        answer=LabResults,
        refuses=(404,),
    )
    def get(self, request: Request, transaction_id: str) -> Response:
        orders = list_orders_of_transaction(
            tenant=self.tenant,
            transaction_id=parse_path_uuid(transaction_id, "transaction_id"),
        )
        found = get_results_of_transaction(tenant=self.tenant, orders=orders)
        order = found.order
        self.record_read("transaction_result", order.transaction_id, order.user.uuid)
        return Response(
            build_lab_results(found, build_order_transaction(self.tenant, orders))
        )
