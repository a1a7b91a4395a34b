"""Replacement of lost and failed kits in the API (ours; contract 6.12, 6.14)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.api.v3.orders.outputs import OrderDone
from labs.api.v3.orders.views import OrderAPIView
from labs.operations.orders.replacements import replace_kit
from portal.lib.api.idempotency import respond_once_per_idempotency_key
from portal.lib.api.schema import describe_api_operation

if TYPE_CHECKING:
    from django.http import HttpResponse
    from rest_framework.request import Request


class OrderReplaceKitView(OrderAPIView):
    """POST /v3/order/{order_id}/replace_kit."""

    @describe_api_operation(
        "replace_order_kit",
        "Send another kit for a lost or failed one",
        answer=OrderDone,
        refuses=(400, 404, 409),
    )
    def post(self, request: Request, order_id: str) -> HttpResponse:
        """Answers with the new order, in the same transaction and with origin
        recreation.

        The failed order keeps its status. A kit is replaced once, unless its
        replacement is cancelled; a kit that was never registered by one to register.
        """
        order = self.get_order(order_id)

        def replace_once() -> OrderDone:
            kit = replace_kit(order=order, actor=self.actor)
            return self.build_done_answer(kit.pk, "Another kit ordered.")

        return respond_once_per_idempotency_key(
            self, request, endpoint=f"replace_kit_{order.pk}", work=replace_once
        )
