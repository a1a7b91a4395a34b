"""Scheduled work on appointments: confirm, cancel and free unused slots.

Every function may run twice with the same result.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from labs.gateways.booking import (
    AppointmentRequest,
    BookingState,
    ProviderNotResponding,
    SlotUnavailable,
)
from labs.models import Appointment, SandboxVisit, SlotPlace
from labs.operations.appointments.booking import enqueue_booking_cancellation
from labs.operations.appointments.changes import cancel_appointment_of_locked_order
from labs.operations.appointments.status import (
    change_appointment_status,
    get_last_known_low_level_status,
)
from labs.operations.gateways import get_booking_gateway
from labs.operations.order_status.status import lock_order
from labs.queries.appointments.appointments import appointments_with_details
from labs.queries.appointments.bookable_sites import Site
from labs.states.appointments import (
    ACTIVE,
    EARLY_AFTER_ORDER,
    EARLY_BEFORE_START,
    SYNC_TIMEOUT,
    AppointmentStatus,
    AppointmentType,
)
from labs.states.orders import has_status_passed_requisition
from labs.states.service_centers import VisitConfirmation
from portal.lib.actor import Actor
from portal.lib.errors import DomainError
from portal.lib.jobs.jobs import enqueue_job

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from accounts.models import Tenant
    from labs.models import Order

SETTLE_JOB = "labs.settle_visit"
UPKEEP = Actor.system("labs.keep_visits")
_REMEMBERED = timedelta(days=90)
# How long after its start a visit may turn out to have taken place.
_TAKES_PLACE_WITHIN = timedelta(days=60)


def release_expired_holds_and_check_appointments(*, at: datetime) -> None:
    """Release expired slot holds and enqueue a check of each unconfirmed appointment.

    Over all tenants, each minute. A claim whose process died is freed, and given back
    to its provider, who may have said yes. Source: Contract 6.18.
    """
    ended = SlotPlace.objects.filter(expires_at__lte=at)
    ended.filter(reference=None).delete()
    for place in ended.select_related("order__tenant").iterator(chunk_size=500):
        release_expired_slot_claim(place_id=place.pk, at=at)
    waiting = Appointment.unscoped.filter(
        Q(status=AppointmentStatus.RESERVED)
        | Q(status=AppointmentStatus.PENDING, confirm_by__isnull=False),
        order__user__deleted_at=None,
    ).select_related("tenant")
    for appointment in waiting.iterator(chunk_size=500):
        enqueue_job(
            SETTLE_JOB,
            tenant=appointment.tenant,
            lock=f"visit-{appointment.reference}",
            appointment_id=str(appointment.pk),
        )


@transaction.atomic
def release_expired_slot_claim(*, place_id: int, at: datetime) -> None:
    """Release an expired claim and enqueue its cancellation at the provider."""
    place = (
        SlotPlace.objects.select_for_update(of=("self",))
        .filter(pk=place_id, appointment=None, expires_at__lte=at)
        .select_related("order__tenant")
        .first()
    )
    if place is None or place.reference is None:
        return
    place.delete()
    enqueue_booking_cancellation(order=place.order, reference=place.reference)


def cancel_unused_booking_at_provider(*, tenant: Tenant, reference: UUID) -> None:
    """Cancel a booking at its provider unless it is in use again.

    Raises: ProviderSilent (the job runs again).
    """
    in_use = (
        Appointment.objects.for_tenant(tenant)
        .filter(reference=reference, status__in=ACTIVE)
        .exists()
    )
    claimed = SlotPlace.objects.filter(reference=reference, appointment=None).exists()
    if not in_use and not claimed:
        get_booking_gateway(tenant).cancel_booking(reference)


def confirm_or_cancel_unconfirmed_appointment(
    *, tenant: Tenant, appointment_id: UUID
) -> None:
    """Confirm or cancel an unconfirmed appointment; do nothing while time is left.

    Pending until its provider answers or `confirm_by` passes; reserved until its
    requisition is made, or 8 hours have passed since the order, or 2 are left before
    it starts. Source: Contract 6.18.
    """
    found = appointments_with_details(tenant=tenant).filter(pk=appointment_id).first()
    if found is None:
        return
    found.tenant = found.order.tenant = tenant
    match found.status:
        case AppointmentStatus.RESERVED:
            reason, external_id = _check_reserved_appointment(found)
        case AppointmentStatus.PENDING if found.confirm_by is not None:
            reason, external_id = _check_pending_appointment(found)
        case _:
            return
    if reason or external_id:
        _apply_provider_answer(found, reason, external_id)


def store_appointment_confirmation(
    *, appointment: Appointment, order: Order, actor: Actor, external_id: str = ""
) -> Appointment:
    """Store that the provider confirmed an appointment of a locked order.

    Raises: transition_not_allowed.
    """
    return change_appointment_status(
        appointment=appointment,
        order=order,
        actor=actor,
        to=AppointmentStatus.CONFIRMED,
        verb="confirm_appointment",
        data=appointment.event_data or {},
        changes={"external_id": external_id, "confirm_by": None},
    )


def complete_collected_appointments(*, at: datetime) -> int:
    """Complete appointments whose samples reached the lab; return how many.

    Over all tenants. Source: Ours: contract 6.18 leaves open who completes a visit.
    """
    came = Appointment.unscoped.filter(
        Q(order__status__startswith="sample_with_lab.")
        | Q(order__status__startswith="completed."),
        status__in=(AppointmentStatus.CONFIRMED, AppointmentStatus.IN_PROGRESS),
        start_at__range=(at - _TAKES_PLACE_WITHIN, at),
        order__user__deleted_at=None,
    ).select_related("order__tenant", "tenant")
    number = 0
    for appointment in came.iterator(chunk_size=500):
        with transaction.atomic():
            change_appointment_status(
                appointment=appointment,
                order=lock_order(appointment.order),
                actor=UPKEEP,
                to=AppointmentStatus.COMPLETED,
                verb="complete_appointment",
                data={},
            )
        number += 1
    return number


def delete_old_sandbox_bookings(*, at: datetime) -> None:
    """Delete old bookings of the sandbox provider."""
    SandboxVisit.objects.filter(answers_at__lt=at - _REMEMBERED).delete()


def _check_reserved_appointment(appointment: Appointment) -> tuple[str, str]:
    """Return a reason to cancel or an id that confirms; neither means wait."""
    order, now = appointment.order, timezone.now()
    if get_last_known_low_level_status(order) == "ordered":
        starts_soon = (
            appointment.start_at is not None
            and now >= appointment.start_at - EARLY_BEFORE_START
        )
        if starts_soon or now >= order.created_at + EARLY_AFTER_ORDER:
            return "no_requisition", ""
        return "", ""
    if not has_status_passed_requisition(order.status) or order.status.startswith(
        "cancelled."
    ):
        return "order_cancelled", ""
    return _retry_booking(appointment)


def _check_pending_appointment(appointment: Appointment) -> tuple[str, str]:
    is_late = (
        appointment.confirm_by is not None and timezone.now() >= appointment.confirm_by
    )
    if appointment.confirmed_by != VisitConfirmation.BOOK:
        # Its site answers, nobody can be asked.
        return ("not_confirmed" if is_late else ""), ""
    try:
        found = get_booking_gateway(appointment.tenant).find_booking(
            appointment.reference
        )
    except ProviderNotResponding:
        found = None
    if found is not None and found.answer is BookingState.CONFIRMED:
        return "", found.external_id
    if found is not None and found.answer is BookingState.REFUSED:
        return "slot_taken", ""
    if is_late:
        return "not_confirmed", ""
    if found is not None and found.answer is BookingState.UNKNOWN:
        return _retry_booking(appointment)
    return "", ""


def _retry_booking(appointment: Appointment) -> tuple[str, str]:
    if appointment.start_at is None or appointment.end_at is None:
        return "", ""
    request = AppointmentRequest(
        reference=appointment.reference,
        site=_booked_site(appointment),
        start=appointment.start_at,
        end=appointment.end_at,
        patient_name=appointment.order.patient_name,
        notes=appointment.notes,
    )
    gateway = get_booking_gateway(appointment.tenant)
    try:
        return "", gateway.confirm_booking(request, within=SYNC_TIMEOUT)
    except SlotUnavailable:
        return "slot_taken", ""
    except ProviderNotResponding:
        return "", ""


def _booked_site(appointment: Appointment) -> Site:
    """Build the site as it was when the appointment was booked."""
    return Site(
        kind=AppointmentType(appointment.type),
        provider=appointment.provider,
        code=appointment.site_code,
        name=appointment.site_name,
        address=appointment.address,
        latitude=appointment.latitude,
        longitude=appointment.longitude,
        time_zone=appointment.time_zone,
        hours=(),
        places=0,
    )


@transaction.atomic
def _apply_provider_answer(
    appointment: Appointment, reason: str, external_id: str
) -> None:
    order = lock_order(appointment.order)
    try:
        if reason:
            cancel_appointment_of_locked_order(
                appointment=appointment, order=order, actor=UPKEEP, reason_id=reason
            )
        else:
            store_appointment_confirmation(
                appointment=appointment,
                order=order,
                actor=UPKEEP,
                external_id=external_id,
            )
    except DomainError as refused:
        # It was cancelled or confirmed in the meantime.
        if refused.code != "transition_not_allowed":
            raise
