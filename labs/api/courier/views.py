"""The address that couriers post shipment events to, signed by their secret."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, TypedDict

from django.utils import timezone, translation
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.api.throttling import count_call_without_valid_key
from labs.api.v3.orders.shipments import ShipmentEventInputs, parse_shipment_event
from labs.operations.shipments.couriers import (
    SignedMessage,
    authenticate_courier_message,
    take_courier_message,
)
from portal.lib.api.fields import Uuid, validate_post_body
from portal.lib.tenancy import acting_for

if TYPE_CHECKING:
    from rest_framework.request import Request


class CourierEventInputs(ShipmentEventInputs):
    """A step on a kit's way; the order by its id, else by the tracking number."""

    order_id = Uuid(required=False)


class CourierDone(TypedDict):
    """A message that was taken; a courier reads nothing of the order."""

    status: str


class CourierEventsView(APIView):
    """POST /courier/v1/{courier_id}.

    Ours: a courier needs no key, and reads nothing. The address names the courier, and
    the signature proves it.
    """

    authentication_classes = ()
    permission_classes = ()
    schema = None
    body_max_bytes: ClassVar[int] = 64 * 1024
    how_to_authenticate = "Sign the message with the courier's secret."

    def get_authenticate_header(self, request: Request) -> str:
        """Name the scheme, without which a missing signature would be a 403."""
        return "StandardWebhooks"

    def post(self, request: Request, courier_id: str) -> Response:
        message = SignedMessage(
            message_id=request.headers.get("webhook-id", ""),
            timestamp=request.headers.get("webhook-timestamp", ""),
            signature=request.headers.get("webhook-signature", ""),
            body=request._request.body,
        )
        courier = authenticate_courier_message(
            courier_id=courier_id, message=message, at=timezone.now()
        )
        if courier is None:
            count_call_without_valid_key(request.META.get("REMOTE_ADDR") or None)
            raise AuthenticationFailed
        with acting_for(courier.tenant), translation.override("en"):
            body = validate_post_body(request, CourierEventInputs)
            take_courier_message(
                courier=courier,
                message=message,
                reported=parse_shipment_event(body),
                order_id=body.get("order_id"),
            )
        done: CourierDone = {"status": "success"}
        return Response(done)
