"""Shipment events of kits in the API (ours; contract 6.11, 6.12)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from accounts.states import Area
from labs.api.v3.orders.outputs import OrderDone
from labs.api.v3.orders.views import OrderAPIView
from labs.operations.shipments.events import ReportedShipment, record_shipment_event
from labs.states.shipments import (
    NOTE_MAX_LENGTH,
    TRACKING_NUMBER_MAX_LENGTH,
    ShipmentReporter,
    ShipmentStatus,
)
from portal.lib.api.fields import DateTime, Inputs, OpenEnum, Str, validate_post_body
from portal.lib.api.idempotency import respond_once_per_idempotency_key
from portal.lib.api.schema import describe_api_operation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.http import HttpResponse
    from rest_framework.request import Request


class ShipmentEventInputs(Inputs):
    """A step on a kit's way: when it happened, and the number to track it by."""

    status = OpenEnum(ShipmentStatus)
    occurred_at = DateTime()
    tracking_number = Str(required=False, max_length=TRACKING_NUMBER_MAX_LENGTH)
    note = Str(required=False, max_length=NOTE_MAX_LENGTH)


class OrderShipmentEventsView(OrderAPIView):
    """POST /v3/order/{order_id}/shipment_events."""

    area = Area.SHIPMENTS
    also_reads = (Area.ORDERS, Area.PATIENT_DETAILS)

    @describe_api_operation(
        "create_order_shipment_event",
        "Record a step on a kit's way",
        answer=OrderDone,
        body=ShipmentEventInputs,
        refuses=(400, 404, 409),
    )
    def post(self, request: Request, order_id: str) -> HttpResponse:
        """A status and time that are recorded already change nothing."""
        order = self.get_order(order_id)

        def record_once() -> OrderDone:
            reported = parse_shipment_event(
                validate_post_body(request, ShipmentEventInputs)
            )
            record_shipment_event(
                order=order,
                actor=self.actor,
                reported=reported,
                reporter=ShipmentReporter.API,
            )
            return self.build_done_answer(order.pk, "Shipment event recorded.")

        return respond_once_per_idempotency_key(
            self, request, endpoint=f"shipment_event_{order.pk}", work=record_once
        )


def parse_shipment_event(body: Mapping[str, Any]) -> ReportedShipment:
    """Return the shipment event of a validated body."""
    return ReportedShipment(
        status=ShipmentStatus(body["status"]),
        occurred_at=body["occurred_at"],
        tracking_number=body.get("tracking_number", "").strip(),
        note=body.get("note", "").strip(),
    )
