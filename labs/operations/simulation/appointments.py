"""Appointment steps of simulated orders, by the production operations."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.utils import timezone

from labs.operations.appointments.changes import (
    cancel_appointment_of_locked_order,
    cancel_home_appointment_of_order,
    complete_appointment,
    schedule_requested_appointment,
)
from labs.operations.appointments.upkeep import store_appointment_confirmation
from labs.operations.order_status.status import advance_order, lock_order
from labs.queries.appointments.appointments import find_active_appointment
from labs.states.appointments import (
    SLOT_LENGTH,
    AppointmentStatus,
    AppointmentType,
)
from labs.states.orders import split_order_status

if TYPE_CHECKING:
    from labs.models import Appointment, Order
    from portal.lib.actor import Actor

# Ours: when the sandbox's provider visits after a request.
_COMES_AFTER = timedelta(days=1)


def advance_order_and_appointment(*, order: Order, actor: Actor, status: str) -> None:
    """Advance a locked order one step, its appointment first.

    Raises: transition_not_allowed. Source: Contract 6.13, 6.18.
    """
    appointment = find_active_appointment(order=order)
    if appointment is not None:
        _advance_appointment(appointment, order, actor, split_order_status(status).low)
        order = lock_order(order)
    if order.status != status:
        advance_order(order=order, actor=actor, to=status)


def _advance_appointment(
    appointment: Appointment, order: Order, actor: Actor, low: str
) -> None:
    match low:
        case "appointment_scheduled" if appointment.status == AppointmentStatus.PENDING:
            if appointment.start_at is None:
                comes = timezone.now() + _COMES_AFTER
                schedule_requested_appointment(
                    order=order,
                    actor=actor,
                    start_at=comes,
                    end_at=comes + SLOT_LENGTH,
                )
            else:
                store_appointment_confirmation(
                    appointment=appointment, order=order, actor=actor
                )
        case "appointment_cancelled":
            cancel_appointment_of_locked_order(
                appointment=appointment, order=order, actor=actor, reason_id="other"
            )
        case "draw_completed" if (
            appointment.type == AppointmentType.PHLEBOTOMY
            and appointment.status == AppointmentStatus.CONFIRMED
        ):
            complete_appointment(order=order, actor=actor)
        case "cancelled":
            cancel_home_appointment_of_order(order=order, actor=actor)
        case _:
            pass
