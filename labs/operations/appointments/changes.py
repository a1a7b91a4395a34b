"""Changes to a booked appointment: reschedule, cancel, schedule, complete.

The provider is called outside any transaction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from labs.models import Order
from labs.operations.appointments.booking import (
    book_claimed_slot_at_provider,
    claim_slot_for_booking,
    copy_slot_fields_for_appointment,
    enqueue_booking_cancellation,
    find_bookable_slot,
    undo_slot_claim,
)
from labs.operations.appointments.slot_places import assign_slot_place_to_appointment
from labs.operations.appointments.slots import build_slot_taken_error
from labs.operations.appointments.status import change_appointment_status
from labs.operations.order_status.lab_steps import require_plausible_time
from labs.operations.order_status.status import lock_order
from labs.queries.appointments.appointments import (
    appointments_with_details,
    find_active_appointment,
    list_appointments_of_order,
)
from labs.states.appointments import (
    REFUNDED_BEFORE,
    SYNC_TIMEOUT,
    TYPE_OF_METHOD,
    AppointmentStatus,
    AppointmentType,
    CancellationReason,
    find_appointment_cancellation_reason,
)
from labs.states.service_centers import VisitConfirmation
from portal.lib.errors import DomainError, NotFound

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from accounts.models import Tenant
    from labs.models import Appointment
    from labs.operations.appointments.booking_keys import OfferedSlot
    from portal.lib.actor import Actor

_NOT_BEGUN = (
    AppointmentStatus.PENDING,
    AppointmentStatus.RESERVED,
    AppointmentStatus.CONFIRMED,
)


def reschedule_appointment(
    *, order: Order, actor: Actor, booking_key: str, notes: str | None = None
) -> Appointment:
    """Reschedule an appointment; the old slot stays until the new one is confirmed.

    Call it outside any transaction. Notes of None stay as they were; a move to the slot
    that it has changes nothing. Raises: appointment_not_found (404);
    appointment_not_reschedulable; site_confirms_visits; those of
    find_bookable_slot; slot_taken, with alternatives; provider_silent (503).
    Source: Contract 6.18.
    """
    current = get_reschedulable_appointment(order=order)
    slot = find_bookable_slot(order=order, booking_key=booking_key)
    if slot.site.confirmed_by != VisitConfirmation.BOOK:
        raise DomainError(
            "site_confirms_visits",
            _("This site confirms each visit. Cancel yours and book a new one."),
        )
    with transaction.atomic():
        order = lock_order(order)
        current = get_reschedulable_appointment(order=order)
        if _is_at_slot(current, slot):
            return current
        claim = claim_slot_for_booking(
            order=order,
            slot=slot,
            reference=None,
            notes=current.notes if notes is None else notes,
        )
    if claim is None:
        raise build_slot_taken_error(tenant=order.tenant, lost=slot, order_id=order.pk)
    external_id = book_claimed_slot_at_provider(claim=claim, within=SYNC_TIMEOUT)
    try:
        with transaction.atomic():
            order = lock_order(order)
            moved = get_reschedulable_appointment(order=order)
            if moved.reference == claim.request.reference:
                return moved
            before = moved.start_at, moved.reference
            if not assign_slot_place_to_appointment(
                place_id=claim.place_id, appointment=moved
            ):
                raise build_slot_taken_error(
                    tenant=order.tenant, lost=slot, order_id=order.pk
                )
            change_appointment_status(
                appointment=moved,
                order=order,
                actor=actor,
                to=AppointmentStatus.CONFIRMED,
                verb="reschedule_appointment",
                data={
                    "is_reschedule": True,
                    "previous_start_at": _format_moment(before[0]),
                },
                changes={
                    **copy_slot_fields_for_appointment(slot),
                    "reference": claim.request.reference,
                    "external_id": external_id,
                    "notes": claim.request.notes,
                },
            )
            enqueue_booking_cancellation(order=order, reference=before[1])
            return moved
    except DomainError:
        undo_slot_claim(claim=claim)
        raise


def get_reschedulable_appointment(*, order: Order) -> Appointment:
    """Return the order's appointment if it can be rescheduled.

    Raises: appointment_not_found (404); appointment_not_reschedulable.
    """
    found = find_active_appointment(order=order)
    if found is None:
        raise NotFound("appointment_not_found", _("This order has no visit."))
    if not found.can_reschedule(timezone.now()):
        raise DomainError(
            "appointment_not_reschedulable", _("This visit can't be rescheduled.")
        )
    return found


@transaction.atomic
def cancel_appointment(
    *,
    order: Order,
    actor: Actor,
    reason_id: str,
    note: str = "",
    kind: AppointmentType | None = None,
) -> Appointment:
    """Cancel an appointment, free its slot and enqueue the provider's cancellation.

    With `kind` a visit of that kind alone. Raises: appointment_not_found (404);
    appointment_cancelled, where it is already cancelled; cancellation_reason_unknown;
    transition_not_allowed. Source: Contract 6.18.
    """
    order = lock_order(order)
    past = [
        one
        for one in list_appointments_of_order(order=order)
        if kind is None or one.type == kind
    ]
    if past and past[0].status == AppointmentStatus.CANCELLED:
        raise DomainError(
            "appointment_cancelled", _("This visit is already cancelled.")
        )
    if not past:
        raise NotFound("appointment_not_found", _("This order has no visit."))
    found = past[0]
    reason = find_appointment_cancellation_reason(found.type, reason_id)
    if reason is None:
        raise DomainError(
            "cancellation_reason_unknown",
            _("Choose a listed cancellation reason."),
            "reason",
        )
    return cancel_appointment_of_locked_order(
        appointment=found,
        order=order,
        actor=actor,
        reason_id=reason.id,
        note=note,
        is_refundable=_is_refundable(found, reason),
    )


def cancel_appointment_of_locked_order(
    *,
    appointment: Appointment,
    order: Order,
    actor: Actor,
    reason_id: str,
    note: str = "",
    is_refundable: bool = True,
) -> Appointment:
    """Cancel an appointment of a locked order for any reason.

    Raises: transition_not_allowed.
    """
    data: dict[str, Any] = {
        "cancellation_reason": reason_id,
        "is_refundable": is_refundable,
    }
    change_appointment_status(
        appointment=appointment,
        order=order,
        actor=actor,
        to=AppointmentStatus.CANCELLED,
        verb="cancel_appointment",
        data={**data, "note": note} if note else data,
        changes={
            "cancellation_reason": reason_id,
            "cancellation_note": note,
            "confirm_by": None,
        },
    )
    appointment.places.all().delete()
    enqueue_booking_cancellation(order=order, reference=appointment.reference)
    return appointment


def cancel_home_appointment_of_order(*, order: Order, actor: Actor) -> None:
    """Cancel the at-home appointment of a locked, cancelled order.

    A visit to a service center stays, as the person may come for another order.
    Source: Contract 6.12.
    """
    found = find_active_appointment(order=order)
    if found is not None and found.type == AppointmentType.PHLEBOTOMY:
        cancel_appointment_of_locked_order(
            appointment=found,
            order=order,
            actor=actor,
            reason_id="order_cancelled",
            is_refundable=_is_refundable(found, None),
        )


@transaction.atomic
def cancel_visits_of_deleted_user(
    tenant: Tenant, actor: Actor, user_uuid: UUID
) -> None:
    """Cancel the upcoming visits of a user who is being deleted, while events are sent.

    Locks the orders first: one that is being booked is seen here, or sees that its user
    is gone. A visit that has begun, or should have, is left. Source: Ours: a
    phlebotomist would come in vain, and the place at a site would stay taken.
    """
    orders = Order.objects.for_tenant(tenant).filter(user__uuid=user_uuid)
    rows = orders.filter(method__in=TYPE_OF_METHOD).select_for_update(of=("self",))
    list(rows.order_by("pk").values_list("pk", flat=True))
    ahead = Q(start_at=None) | Q(start_at__gt=timezone.now())
    visits = appointments_with_details(tenant=tenant).filter(
        ahead, order__user__uuid=user_uuid, status__in=_NOT_BEGUN
    )
    for one in visits.order_by("order_id"):
        one.order.tenant = tenant
        order = lock_order(one.order)
        visit = find_active_appointment(order=order)
        # Of two deletions at once the other has done it.
        if visit is None or visit.status not in _NOT_BEGUN or order.user.deleted_at:
            continue
        cancel_appointment_of_locked_order(
            appointment=visit,
            order=order,
            actor=actor,
            reason_id="user_deleted",
            is_refundable=_is_refundable(visit, None),
        )


@transaction.atomic
def schedule_requested_appointment(
    *,
    order: Order,
    actor: Actor,
    start_at: datetime,
    end_at: datetime,
    external_id: str = "",
) -> Appointment:
    """Confirm a requested appointment at the time its provider set.

    Raises: appointment_not_found (404); appointment_has_time; visit_time_invalid.
    Source: Ours: contract 6.18 leaves open how a request is answered.
    """
    order = lock_order(order)
    found = find_active_appointment(order=order)
    if found is None:
        raise NotFound("appointment_not_found", _("This order has no visit."))
    if found.start_at is not None or found.status != AppointmentStatus.PENDING:
        raise DomainError("appointment_has_time", _("This visit already has a time."))
    if not timezone.now() < start_at < end_at:
        raise DomainError(
            "visit_time_invalid",
            _("Enter a start in the future and an end after it."),
            "start_at",
        )
    return change_appointment_status(
        appointment=found,
        order=order,
        actor=actor,
        to=AppointmentStatus.CONFIRMED,
        verb="schedule_visit",
        data={"origin": "request"},
        changes={"start_at": start_at, "end_at": end_at, "external_id": external_id},
    )


@transaction.atomic
def start_appointment(
    *, order: Order, actor: Actor, occurred_at: datetime, note: str = ""
) -> Appointment:
    """Record that an order's visit is in progress.

    Raises: appointment_not_found (404); occurred_in_future, occurred_too_early;
    transition_not_allowed.
    Source: Contract 6.18.
    """
    return _record_visit(
        order, actor, AppointmentStatus.IN_PROGRESS, "start_visit", occurred_at, note
    )


@transaction.atomic
def complete_appointment(
    *,
    order: Order,
    actor: Actor,
    occurred_at: datetime | None = None,
    note: str = "",
) -> Appointment:
    """Complete an order's appointment; an at-home one completes the draw.

    Raises: appointment_not_found (404); occurred_in_future, occurred_too_early;
    transition_not_allowed.
    Source: Contract 6.18.
    """
    return _record_visit(
        order,
        actor,
        AppointmentStatus.COMPLETED,
        "complete_appointment",
        occurred_at,
        note,
    )


def _record_visit(
    order: Order,
    actor: Actor,
    to: AppointmentStatus,
    verb: str,
    occurred_at: datetime | None,
    note: str,
) -> Appointment:
    """Change a visit's status; its event says when it happened, and the note."""
    order = lock_order(order)
    found = find_active_appointment(order=order)
    if found is None:
        raise NotFound("appointment_not_found", _("This order has no visit."))
    if occurred_at is not None:
        require_plausible_time(occurred_at)
    said = {"occurred_at": _format_moment(occurred_at), "note": note}
    return change_appointment_status(
        appointment=found,
        order=order,
        actor=actor,
        to=to,
        verb=verb,
        data={name: value for name, value in said.items() if value},
    )


def _is_at_slot(appointment: Appointment, slot: OfferedSlot) -> bool:
    mine = appointment.provider, appointment.site_code, appointment.start_at
    return mine == (slot.site.provider, slot.site.code, slot.start)


def _is_refundable(appointment: Appointment, reason: CancellationReason | None) -> bool:
    """Return whether a cancellation is refunded (contract 6.18)."""
    if reason is not None and not reason.is_refundable:
        return False
    if appointment.type != AppointmentType.PHLEBOTOMY or appointment.start_at is None:
        return True
    return appointment.start_at - timezone.now() >= REFUNDED_BEFORE


def _format_moment(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
