"""Choices of shipments: the steps on a kit's way, its directions, who reported one."""

from __future__ import annotations

from datetime import timedelta

from portal.lib.choices import OpenChoices
from portal.lib.translation import gettext_lazy

# Ours: how far a reporter's clock may run ahead of this one.
CLOCK_SKEW = timedelta(minutes=5)
EARLIEST_YEAR = 2000
TRACKING_NUMBER_MAX_LENGTH = 100
NOTE_MAX_LENGTH = 200


class ShipmentStatus(OpenChoices):
    """A step on a kit's way; the low-level status of its order (contract 6.11)."""

    TRANSIT_CUSTOMER = "transit_customer", gettext_lazy("Sent to the patient")
    OUT_FOR_DELIVERY = "out_for_delivery", gettext_lazy("Out for delivery")
    WITH_CUSTOMER = "with_customer", gettext_lazy("Received by the patient")
    PROBLEM_IN_TRANSIT_CUSTOMER = (
        "problem_in_transit_customer",
        gettext_lazy("Problem on the way to the patient"),
    )
    FAILURE_TO_DELIVER_TO_CUSTOMER = (
        "failure_to_deliver_to_customer",
        gettext_lazy("Not deliverable to the patient"),
    )
    TRANSIT_LAB = "transit_lab", gettext_lazy("Sent to the lab")
    PROBLEM_IN_TRANSIT_LAB = (
        "problem_in_transit_lab",
        gettext_lazy("Problem on the way to the lab"),
    )
    FAILURE_TO_DELIVER_TO_LAB = (
        "failure_to_deliver_to_lab",
        gettext_lazy("Not deliverable to the lab"),
    )
    DELIVERED_TO_LAB = "delivered_to_lab", gettext_lazy("Arrived at the lab")
    LOST = "lost", gettext_lazy("Lost")


class ShipmentDirection(OpenChoices):
    """Which way a kit travels (contract 6.10: outbound, inbound)."""

    OUTBOUND = "outbound", gettext_lazy("To the patient")
    INBOUND = "inbound", gettext_lazy("To the lab")


class ShipmentReporter(OpenChoices):
    """How a shipment event was reported."""

    API = "api", gettext_lazy("API")
    COURIER = "courier", gettext_lazy("Courier")
    FILE = "file", gettext_lazy("File")
    MEMBER = "member", gettext_lazy("Member")


# Statuses of an order that is on its way to the lab, or there; `lost` is inbound here.
_ON_THE_WAY_BACK = {
    "transit_lab",
    "problem_in_transit_lab",
    "delivered_to_lab",
    "lab_processing_blocked",
}
_TO_THE_LAB = {
    ShipmentStatus.TRANSIT_LAB,
    ShipmentStatus.PROBLEM_IN_TRANSIT_LAB,
    ShipmentStatus.FAILURE_TO_DELIVER_TO_LAB,
    ShipmentStatus.DELIVERED_TO_LAB,
}


def get_shipment_direction(status: ShipmentStatus, *, before: str) -> ShipmentDirection:
    """Return the direction of a step; `before` is the low-level status it follows."""
    if status in _TO_THE_LAB or (
        status is ShipmentStatus.LOST and before in _ON_THE_WAY_BACK
    ):
        return ShipmentDirection.INBOUND
    return ShipmentDirection.OUTBOUND
