"""Response shapes of appointments. Contract 6.18."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from labs.operations.appointments.slots import build_free_slot
from labs.payloads.appointments import (
    AlternativeAnswer,
    AvailabilityAnswer,
    build_appointment_location,
)
from labs.states.appointments import CANCELLATION_REASONS
from portal.lib.api.schema import Refusal

if TYPE_CHECKING:
    from labs.operations.appointments.slots import Availability


class BookingRefusal(Refusal, total=False):
    """A refusal; `slot_taken` comes with up to three nearby free slots."""

    alternatives: list[AlternativeAnswer]


class ReasonAnswer(TypedDict):
    """A reason for cancelling an appointment."""

    id: str
    name: str
    is_refundable: bool


def build_slot_availability(found: Availability) -> AvailabilityAnswer:
    """Build the Availability response."""
    return {
        "slots": [
            {
                "date": one.day,
                "slots": [build_free_slot(slot) for slot in one.slots],
                "location": build_appointment_location(one.site) if one.site else None,
            }
            for one in found.days
        ],
        "timezone": found.time_zone,
    }


def build_appointment_cancellation_reasons(kind: str) -> list[ReasonAnswer]:
    """List the cancellation reasons of an appointment type."""
    return [
        {"id": one.id, "name": str(one.name), "is_refundable": one.is_refundable}
        for one in CANCELLATION_REASONS[kind]
    ]
