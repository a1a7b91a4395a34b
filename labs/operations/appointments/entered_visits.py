"""Visits that staff agreed on with a center, at any time and any place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from labs.models import Appointment
from labs.operations.appointments.booking import (
    require_matching_appointment_type,
    require_order_bookable,
)
from labs.operations.appointments.status import store_appointment
from labs.operations.order_status.status import lock_order
from labs.queries.appointments.zip_codes import find_zip_code_location
from labs.states.appointments import (
    NOTES_MAX_LENGTH,
    AppointmentStatus,
    AppointmentType,
)
from labs.states.service_centers import AgreedBy, VisitConfirmation
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from datetime import datetime

    from labs.models import Order
    from labs.queries.appointments.zip_codes import ZipPlace
    from portal.lib.actor import Actor


@dataclass(frozen=True, slots=True)
class EnteredVisit:
    """A visit as agreed: the center's name and address, and who there agreed, and how.

    `start_at` and `end_at` are UTC. `external_id` is the center's number for the visit,
    empty where it has none.
    """

    site_name: str
    first_line: str
    city: str
    state: str
    zip_code: str
    start_at: datetime
    end_at: datetime
    agreed_with: str
    agreed_by: str
    external_id: str = ""
    notes: str = ""


def get_visit_place(zip_code: str) -> ZipPlace:
    """Return where a center lies, with its time zone. Raises: zip_code_unknown."""
    place = find_zip_code_location(zip_code)
    if place is None or not place.time_zone:
        raise DomainError(
            "zip_code_unknown",
            _("Enter a 5-digit US ZIP code that is in use."),
            "zip_code",
        )
    return place


@transaction.atomic
def enter_agreed_visit(
    *, order: Order, actor: Actor, visit: EnteredVisit
) -> Appointment:
    """Store a visit at a center that a person there agreed to; it is confirmed.

    No directory has to offer its time or place, and nobody is asked: the event says who
    agreed and how. Its place lies where its ZIP code does. Raises: those of
    require_order_bookable; requisition_missing; kind_of_visit_wrong; zip_code_unknown,
    zip_code_elsewhere; visit_time_invalid; agreed_with_missing; agreed_by_unknown.
    Source: Ours: contract 6.18 leaves open how a visit is booked elsewhere.
    """
    place = get_visit_place(visit.zip_code)
    if place.state != visit.state:
        # The ZIP code gives the clock: a slip would send the patient at a wrong hour.
        raise DomainError(
            "zip_code_elsewhere",
            _("This ZIP code is in %(state)s.") % {"state": place.state},
            "zip_code",
        )
    _require_agreement(visit)
    if not timezone.now() < visit.start_at < visit.end_at:
        raise DomainError(
            "visit_time_invalid",
            _("Enter a start in the future and an end after it."),
            "start_at",
        )
    order = lock_order(order)
    if require_order_bookable(order=order):
        raise DomainError(
            "requisition_missing", _("The requisition has not been created yet.")
        )
    require_matching_appointment_type(order=order, kind=AppointmentType.SERVICE_CENTER)
    appointment = Appointment(
        tenant=order.tenant,
        order=order,
        type=AppointmentType.SERVICE_CENTER,
        provider=order.lab.slug,
        status=AppointmentStatus.CONFIRMED,
        confirmed_by=VisitConfirmation.STAFF,
        site_name=visit.site_name.strip(),
        address=_build_address(visit),
        latitude=place.latitude,
        longitude=place.longitude,
        time_zone=place.time_zone,
        start_at=visit.start_at,
        end_at=visit.end_at,
        external_id=visit.external_id.strip(),
        notes=visit.notes.strip(),
    )
    return store_appointment(
        appointment=appointment,
        order=order,
        actor=actor,
        data={
            "origin": "booking",
            "confirmed_by": "staff",
            "confirmed_with": visit.agreed_with.strip()[:NOTES_MAX_LENGTH],
            "agreed_by": visit.agreed_by,
        },
    )


def _require_agreement(visit: EnteredVisit) -> None:
    if not visit.agreed_with.strip():
        raise DomainError(
            "agreed_with_missing",
            _("Enter who at the center agreed to the visit."),
            "agreed_with",
        )
    if AgreedBy.known(visit.agreed_by) is None:
        raise DomainError(
            "agreed_by_unknown", _("Choose how the center agreed."), "agreed_by"
        )


def _build_address(visit: EnteredVisit) -> dict[str, Any]:
    return {
        "first_line": visit.first_line.strip(),
        "second_line": None,
        "city": visit.city.strip(),
        "state": visit.state,
        "zip_code": visit.zip_code.strip(),
        "unit": None,
        "access_notes": None,
    }
