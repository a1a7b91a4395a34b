"""Wire shapes of appointments, slots and addresses (contract 6.18)."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Annotated, Any, TypedDict
from uuid import UUID

from django.utils import timezone

from labs.states.appointments import (
    AppointmentEventStatus,
    AppointmentProvider,
    AppointmentStatus,
    AppointmentType,
    get_appointment_event_status,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from labs.models import Appointment
    from labs.queries.appointments.bookable_sites import Site


class UsAddress(TypedDict):
    """An address in the United States."""

    first_line: str
    second_line: str | None
    city: str
    state: str
    zip_code: str
    unit: str | None
    access_notes: str | None


class PointAnswer(TypedDict):
    """A point, in degrees."""

    lng: float
    lat: float


class AppointmentLocation(TypedDict):
    """The location of an appointment; `distance` in miles from the searched address."""

    location: PointAnswer
    distance: int | None
    address: UsAddress
    code: str
    name: str
    iana_timezone: str | None


class SlotAnswer(TypedDict):
    """A free slot in UTC; `price` in minor units."""

    booking_key: str | None
    start: datetime
    end: datetime
    expires_at: datetime | None
    price: float
    is_priority: bool
    num_appointments_available: int


class AlternativeAnswer(SlotAnswer):
    """A free slot near the one that was lost, with its location."""

    location: AppointmentLocation


class DayAnswer(TypedDict):
    """A date in the site's local time, with its free slots."""

    date: date
    slots: list[SlotAnswer]
    location: AppointmentLocation | None


class AvailabilityAnswer(TypedDict):
    """Free slots of 14 days at each site."""

    slots: list[DayAnswer]
    timezone: str | None


class AppointmentEventAnswer(TypedDict):
    """A status change of an appointment."""

    created_at: datetime
    status: Annotated[str, AppointmentEventStatus]
    data: dict[str, Any] | None


class AppointmentAnswer(TypedDict):
    """An appointment; times are null until a request is scheduled."""

    id: UUID
    user_id: UUID
    order_id: UUID
    order_transaction_id: UUID | None
    address: UsAddress
    location: PointAnswer
    start_at: datetime | None
    end_at: datetime | None
    iana_timezone: str | None
    type: Annotated[str, AppointmentType]
    provider: Annotated[str, AppointmentProvider]
    status: Annotated[str, AppointmentStatus]
    provider_id: str
    external_id: str | None
    can_reschedule: bool
    appointment_notes: str | None
    event_status: Annotated[str, AppointmentEventStatus]
    event_data: dict[str, Any] | None
    events: list[AppointmentEventAnswer]


# Data of labtest.appointment.created and .updated (contract 8.2).
APPOINTMENT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": sorted(AppointmentAnswer.__required_keys__),
    "properties": {
        "id": {"type": "string", "format": "uuid"},
        "user_id": {"type": "string", "format": "uuid"},
        "order_id": {"type": "string", "format": "uuid"},
        "address": {
            "type": "object",
            "required": ["first_line", "city", "state", "zip_code"],
        },
        "location": {
            "type": "object",
            "required": ["lng", "lat"],
            "properties": {"lng": {"type": "number"}, "lat": {"type": "number"}},
        },
        "type": {"type": "string"},
        "provider": {"type": "string"},
        "status": {"type": "string"},
        "provider_id": {"type": "string"},
        "can_reschedule": {"type": "boolean"},
        "event_status": {"type": "string"},
        "events": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["created_at", "status", "data"],
                "properties": {
                    "created_at": {"type": "string", "format": "date-time"},
                    "status": {"type": "string"},
                    "data": {"type": ["object", "null"]},
                },
            },
        },
    },
}


def build_appointment(appointment: Appointment) -> AppointmentAnswer:
    """Build an appointment read by labs.queries.appointments.appointments."""
    order = appointment.order
    events = list(appointment.events.all())
    return {
        "id": appointment.pk,
        "user_id": order.user.uuid,
        "order_id": order.pk,
        "order_transaction_id": order.transaction_id,
        "address": build_us_address(appointment.address),
        "location": {"lng": appointment.longitude, "lat": appointment.latitude},
        "start_at": appointment.start_at,
        "end_at": appointment.end_at,
        "iana_timezone": appointment.time_zone or None,
        "type": appointment.type,
        "provider": appointment.provider,
        "status": appointment.status,
        "provider_id": appointment.site_code or appointment.provider,
        "external_id": appointment.external_id or None,
        "can_reschedule": appointment.can_reschedule(timezone.now()),
        "appointment_notes": appointment.notes or None,
        "event_status": get_appointment_event_status(appointment.status),
        "event_data": appointment.event_data,
        "events": [
            {"created_at": e.created_at, "status": e.status, "data": e.data}
            for e in events
        ],
    }


def build_appointment_location(site: Site) -> AppointmentLocation:
    """Build the location of a site."""
    return {
        "location": {"lng": site.longitude, "lat": site.latitude},
        "distance": None if site.miles is None else round(site.miles),
        "address": build_us_address(site.address),
        "code": site.code,
        "name": site.name,
        "iana_timezone": site.time_zone or None,
    }


def build_us_address(address: Mapping[str, Any]) -> UsAddress:
    """Build a stored address with every key."""
    return {
        "first_line": address["first_line"],
        "second_line": address.get("second_line"),
        "city": address["city"],
        "state": address["state"],
        "zip_code": address["zip_code"],
        "unit": address.get("unit"),
        "access_notes": address.get("access_notes"),
    }
