"""Tracking of orders in the API (contract 6.20)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rest_framework.response import Response

from labs.api.v3.orders.views import OrderAPIView
from labs.payloads.tracking import TrackingAnswer, build_order_tracking
from labs.queries.orders.tracking import get_order_tracking
from portal.lib.api.schema import describe_api_operation

if TYPE_CHECKING:
    from rest_framework.request import Request


class OrderTrackingView(OrderAPIView):
    """GET /v3/order/{order_id}/tracking."""

    also_reads: ClassVar[tuple[str, ...]] = ()

    @describe_api_operation(
        "get_order_tracking",
        "Get when an order's results are due",
        answer=TrackingAnswer,
        refuses=(404,),
    )
    def get(self, request: Request, order_id: str) -> Response:
        """What nobody reported is null."""
        order = self.get_order(order_id)
        self.record_read("order", order.pk, order.user.uuid)
        return Response(build_order_tracking(get_order_tracking(order=order)))
