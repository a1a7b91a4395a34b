"""Statuses of an appointment, its transitions and cancellation reasons."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from labs.states.catalogue import CollectionMethod
from portal.lib.choices import OpenChoices
from portal.lib.database.transitions import Transitions
from portal.lib.translation import gettext_lazy, pgettext_lazy

# Ours: a key is shown on a page that people leave open.
BOOKING_KEY_TTL = timedelta(minutes=15)
# Ours: long enough to read a visit over with its patient.
HOLD_TTL = timedelta(minutes=5)
SLOT_LENGTH = timedelta(minutes=20)  # Contract 6.18
WINDOW_DAYS = 14  # Specification 9
NOTES_MAX_LENGTH = 1000
# Contract 6.18: how long a booking waits for its provider.
SYNC_TIMEOUT = timedelta(milliseconds=2_500)
ASYNC_TIMEOUT = timedelta(milliseconds=900_000)
# A visit booked before its requisition is cancelled when either has passed.
EARLY_AFTER_ORDER = timedelta(hours=8)
EARLY_BEFORE_START = timedelta(hours=2)
# Visits to a home are refunded until this long before they start.
REFUNDED_BEFORE = timedelta(hours=24)


class AppointmentType(OpenChoices):
    """Where the sample is collected (contract 6.18)."""

    PHLEBOTOMY = "phlebotomy", gettext_lazy("At home")
    SERVICE_CENTER = "patient_service_center", gettext_lazy("Service center")


class AppointmentProvider(OpenChoices):
    """Who collects the sample (contract 6.18)."""

    GETLABS = "getlabs", "Getlabs"
    PHLEBFINDERS = "phlebfinders", "PhlebFinders"
    QUEST = "quest", "Quest"
    SONORA_QUEST = "sonora_quest", "Sonora Quest"


class AppointmentStatus(OpenChoices):
    """The status of an appointment (contract 6.18)."""

    PENDING = "pending", gettext_lazy("Not confirmed yet")
    RESERVED = "reserved", gettext_lazy("Reserved")
    CONFIRMED = "confirmed", gettext_lazy("Confirmed")
    IN_PROGRESS = "in_progress", gettext_lazy("In progress")
    COMPLETED = "completed", pgettext_lazy("visit", "Completed")
    CANCELLED = "cancelled", pgettext_lazy("visit", "Cancelled")


class AppointmentEventStatus(OpenChoices):
    """An appointment's status as named in events (contract 6.18)."""

    PENDING = "pending", gettext_lazy("Not confirmed yet")
    RESERVED = "reserved", gettext_lazy("Reserved")
    SCHEDULED = "scheduled", gettext_lazy("Scheduled")
    IN_PROGRESS = "in_progress", gettext_lazy("In progress")
    COMPLETED = "completed", pgettext_lazy("visit", "Completed")
    CANCELLED = "cancelled", pgettext_lazy("visit", "Cancelled")


_S = AppointmentStatus
# Contract 6.18.
APPOINTMENT_MOVES: Transitions[AppointmentStatus] = Transitions(
    {
        _S.PENDING: {_S.RESERVED, _S.CONFIRMED, _S.CANCELLED},
        _S.RESERVED: {_S.CONFIRMED, _S.CANCELLED},
        _S.CONFIRMED: {_S.CONFIRMED, _S.IN_PROGRESS, _S.CANCELLED, _S.COMPLETED},
        _S.IN_PROGRESS: {_S.COMPLETED, _S.CANCELLED},
        _S.COMPLETED: set(),
        _S.CANCELLED: set(),
    }
)
# An order has at most one appointment in one of these (contract 6.18).
ACTIVE = (_S.PENDING, _S.RESERVED, _S.CONFIRMED, _S.IN_PROGRESS)
TYPE_OF_METHOD: dict[str, AppointmentType] = {
    CollectionMethod.WALK_IN_TEST: AppointmentType.SERVICE_CENTER,
    CollectionMethod.AT_HOME_PHLEBOTOMY: AppointmentType.PHLEBOTOMY,
}


def get_appointment_event_status(status: str) -> str:
    """Return the event status of a status; unknown ones unchanged."""
    known = AppointmentStatus.known(status)
    if known is AppointmentStatus.CONFIRMED:
        return AppointmentEventStatus.SCHEDULED
    return status


@dataclass(frozen=True, slots=True)
class CancellationReason:
    """A cancellation reason; `is_refundable` if cancelled in time."""

    id: str
    name: str
    is_refundable: bool


# Ours: contract 6.18 gives the shape alone.
CANCELLATION_REASONS: dict[str, tuple[CancellationReason, ...]] = {
    AppointmentType.SERVICE_CENTER: (
        CancellationReason("patient_request", gettext_lazy("Patient request"), True),
        CancellationReason(
            "schedule_conflict", gettext_lazy("Scheduling conflict"), True
        ),
        CancellationReason(
            "other_site", gettext_lazy("Patient prefers another site"), True
        ),
        CancellationReason("not_prepared", gettext_lazy("Patient not prepared"), True),
        CancellationReason("order_cancelled", gettext_lazy("Order cancelled"), True),
        CancellationReason("other", gettext_lazy("Other"), True),
    ),
    AppointmentType.PHLEBOTOMY: (
        CancellationReason("patient_request", gettext_lazy("Patient request"), True),
        CancellationReason(
            "schedule_conflict", gettext_lazy("Scheduling conflict"), True
        ),
        CancellationReason("not_prepared", gettext_lazy("Patient not prepared"), True),
        CancellationReason("address_wrong", gettext_lazy("Wrong address"), True),
        CancellationReason("order_cancelled", gettext_lazy("Order cancelled"), True),
        CancellationReason("no_show", gettext_lazy("Patient not at home"), False),
        CancellationReason("other", gettext_lazy("Other"), True),
    ),
}
# Reasons that only the installation itself gives.
OWN_REASONS: dict[str, str] = {
    "site_declined": gettext_lazy("The site declined the visit"),
    "not_confirmed": gettext_lazy("Provider did not confirm in time"),
    "slot_taken": gettext_lazy("Time slot no longer available"),
    "no_requisition": gettext_lazy("Requisition not created in time"),
    "user_deleted": gettext_lazy("User deleted"),
}


def find_appointment_cancellation_reason(
    kind: str, reason_id: str
) -> CancellationReason | None:
    """Return the reason with this id for an appointment type."""
    reasons = CANCELLATION_REASONS.get(kind, ())
    return next((one for one in reasons if one.id == reason_id), None)


def get_cancellation_reason_name(kind: str, reason_id: str) -> str:
    """Return a reason's name; of an unknown one its id."""
    found = find_appointment_cancellation_reason(kind, reason_id)
    return str(found.name if found else OWN_REASONS.get(reason_id, reason_id))
