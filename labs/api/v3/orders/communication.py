"""Patient communication settings of an order (contract 10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict
from uuid import UUID

from rest_framework.response import Response

from accounts.api.views import TenantAPIView
from accounts.states import Area
from labs.operations.order_status.patient_notices import set_order_sms_enabled
from labs.queries.orders.orders import get_order_with_details
from labs.queries.text_provider import are_texts_sent
from portal.lib.api.fields import Bool, Inputs, parse_path_uuid, validate_patch_body
from portal.lib.api.schema import describe_api_operation

if TYPE_CHECKING:
    from rest_framework.request import Request

    from labs.models import Order


class CommunicationInputs(Inputs):
    """Whether text messages may be sent."""

    sms_enabled = Bool(required=False)


class CommunicationAnswer(TypedDict):
    """Patient communication settings of an order."""

    order_id: UUID
    sms_enabled: bool


class OrderCommunicationView(TenantAPIView):
    """GET and PATCH /v3/order/{order_id}/communication_settings."""

    area = Area.ORDERS

    @describe_api_operation(
        "get_order_communication_settings",
        "Get an order's patient communication settings",
        answer=CommunicationAnswer,
        refuses=(404,),
    )
    def get(self, request: Request, order_id: str) -> Response:
        return Response(_build_communication_answer(self.get_order(order_id)))

    @describe_api_operation(
        "update_order_communication_settings",
        "Update an order's patient communication settings",
        answer=CommunicationAnswer,
        body=CommunicationInputs,
        refuses=(404,),
    )
    def patch(self, request: Request, order_id: str) -> Response:
        """`sms_enabled` is whether texts about this order are sent to its patient.

        It is false in the sandbox, where they are only logged, as long as the team has
        no provider of texts, and while the team has turned texts off. What is set here
        counts once none of these holds.
        """
        order = self.get_order(order_id)
        body = validate_patch_body(request, CommunicationInputs)
        if "sms_enabled" in body:
            order = set_order_sms_enabled(
                order=order, actor=self.actor, enabled=body["sms_enabled"]
            )
        return Response(_build_communication_answer(order))

    def get_order(self, order_id: str) -> Order:
        """Return the path's order. Raises: 422 at the path; order_not_found (404)."""
        return get_order_with_details(
            tenant=self.tenant, order_id=parse_path_uuid(order_id, "order_id")
        )


def _build_communication_answer(order: Order) -> CommunicationAnswer:
    are_sent = are_texts_sent(tenant=order.tenant)
    return {"order_id": order.pk, "sms_enabled": order.sms_enabled and are_sent}
