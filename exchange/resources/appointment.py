"""Appointment: a visit at which an order's sample is collected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accounts.states import Area
from exchange.resources.base import Json, ResourceType, TableSource, list_uuids
from exchange.resources.datatypes import (
    build_concept,
    build_meta,
    build_patient_reference,
    build_reference,
    drop_empty,
    write_time,
)
from exchange.resources.matching import Kind, Param
from labs.queries.population import appointments
from labs.states.appointments import AppointmentStatus, AppointmentType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from accounts.models import Tenant
    from labs.models import Appointment

_STATUSES = {
    AppointmentStatus.PENDING.value: "pending",
    AppointmentStatus.RESERVED.value: "pending",
    AppointmentStatus.CONFIRMED.value: "booked",
    AppointmentStatus.IN_PROGRESS.value: "arrived",
    AppointmentStatus.COMPLETED.value: "fulfilled",
    AppointmentStatus.CANCELLED.value: "cancelled",
}


def build_appointments(tenant: Tenant, rows: Sequence[Appointment]) -> list[list[Json]]:
    """Build the Appointment of each visit."""
    return [[_build_appointment(row)] for row in rows]


def _build_appointment(row: Appointment) -> Json:
    status = _STATUSES.get(row.status, "pending")
    # FHIR takes no other status without a time.
    if row.start_at is None and status != "cancelled":
        status = "proposed"
    has_both = row.start_at is not None and row.end_at is not None
    participants = [
        {
            "actor": build_patient_reference(row.order.user.uuid),
            "status": "accepted" if status != "proposed" else "tentative",
        }
    ]
    if row.type == AppointmentType.SERVICE_CENTER and row.site_name:
        participants.append(
            {
                "actor": {"display": row.site_name},
                "status": "accepted"
                if status in {"booked", "arrived", "fulfilled"}
                else "needs-action",
            }
        )
    return drop_empty(
        {
            "resourceType": "Appointment",
            "id": str(row.pk),
            "meta": build_meta(row.updated_at),
            "status": status,
            "cancelationReason": build_concept(row.cancellation_reason)
            if status == "cancelled"
            else None,
            "serviceType": [build_concept("Sample collection")],
            "start": write_time(row.start_at) if has_both else None,
            "end": write_time(row.end_at) if has_both else None,
            "created": write_time(row.created_at),
            "basedOn": [build_reference("ServiceRequest", row.order_id)],
            "participant": participants,
        }
    )


APPOINTMENT = ResourceType(
    name="Appointment",
    sources=(
        TableSource(
            area=Area.BOOKINGS,
            rows=appointments,
            build=build_appointments,
            by_ids=lambda rows, ids: rows.filter(pk__in=list_uuids(ids)),
            patient="order__user__uuid",
            updated="updated_at",
        ),
    ),
    params=(
        Param("patient", Kind.REFERENCE, ("participant.actor",)),
        Param("status", Kind.TOKEN, ("status",)),
        Param("date", Kind.DATE, ("start",)),
    ),
    references={"patient": "participant.actor", "based-on": "basedOn"},
)
