"""The only writer of an appointment's status, its events and its order's steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from accounts.operations.audit.entries import record_change
from accounts.webhooks.operations.emitting import emit_event
from labs.models import Appointment, AppointmentEvent
from labs.operations.order_status.status import advance_order
from labs.payloads.appointments import build_appointment
from labs.queries.appointments.appointments import appointments_with_details
from labs.queries.orders.history import find_last_known_order_status
from labs.states.appointments import (
    APPOINTMENT_MOVES,
    AppointmentStatus,
    AppointmentType,
    get_appointment_event_status,
)
from labs.states.orders import (
    build_order_status,
    get_allowed_order_transitions,
    has_status_passed_requisition,
    split_order_status,
)
from portal.lib.database.transitions import move_status
from users.queries import lock_user

if TYPE_CHECKING:
    from collections.abc import Mapping

    from labs.models import Order
    from portal.lib.actor import Actor

_PENDING, _SCHEDULED = "appointment_pending", "appointment_scheduled"


@transaction.atomic
def store_appointment(
    *, appointment: Appointment, order: Order, actor: Actor, data: Mapping[str, Any]
) -> Appointment:
    """Store a new appointment of a locked order and emit its first event.

    The order takes the steps that belong to it. Raises: not_found, of a user who is
    deleted: their visits are cancelled behind the order's lock, which a booking may
    have waited for. Source: Contract 6.18.
    """
    order.user.tenant = order.tenant
    lock_user(order.user)
    appointment.event_data = dict(data)
    appointment.save(force_insert=True)
    _advance_order_with_appointment(appointment, order, actor, moved=False)
    _store_appointment_event(appointment, actor)
    _record_appointment_change(appointment, order, actor, "book_appointment")
    _emit_appointment_event(appointment, order, "created")
    return appointment


@transaction.atomic
def change_appointment_status(
    *,
    appointment: Appointment,
    order: Order,
    actor: Actor,
    to: AppointmentStatus,
    verb: str,
    data: Mapping[str, Any],
    changes: Mapping[str, object] | None = None,
) -> Appointment:
    """Change an appointment's status: check, store, emit; the only writer.

    `order` is the visit's, locked; it takes the steps that belong to the visit's, as
    far as it still can. `changes` are columns that are set with the status. Raises:
    transition_not_allowed. Source: Contract 6.18.
    """
    before = appointment.status
    move_status(
        appointment,
        moves=APPOINTMENT_MOVES,
        to=to,
        updated_at=timezone.now(),
        event_data=dict(data),
        **(changes or {}),
    )
    _advance_order_with_appointment(appointment, order, actor, moved=before == to)
    _store_appointment_event(appointment, actor)
    _record_appointment_change(
        appointment, order, actor, verb, {"status": [before, str(to)]}
    )
    _emit_appointment_event(appointment, order, "updated")
    return appointment


def _advance_order_with_appointment(
    appointment: Appointment, order: Order, actor: Actor, *, moved: bool
) -> None:
    """Advance the order with its appointment where it can (contract 6.18)."""
    match appointment.status:
        case AppointmentStatus.PENDING:
            _advance_order_if_possible(order, actor, _PENDING)
        case AppointmentStatus.CONFIRMED if moved:
            _advance_order_if_possible(order, actor, _SCHEDULED)
        case AppointmentStatus.CONFIRMED:
            _advance_order_if_possible(order, actor, _PENDING)
            _advance_order_if_possible(order, actor, _SCHEDULED)
        case AppointmentStatus.CANCELLED:
            if has_status_passed_requisition(find_last_known_order_status(order)):
                _advance_order_if_possible(order, actor, "appointment_cancelled")
        case AppointmentStatus.COMPLETED:
            if appointment.type == AppointmentType.PHLEBOTOMY:
                _advance_order_if_possible(order, actor, "draw_completed")
        case _:
            pass


def _advance_order_if_possible(order: Order, actor: Actor, low: str) -> None:
    moves = get_allowed_order_transitions(
        order.method, registrable=order.is_registrable
    )
    try:
        status = build_order_status(order.method, low)
    except KeyError:
        return
    if moves.allows(find_last_known_order_status(order), status):
        advance_order(order=order, actor=actor, to=low)


def _store_appointment_event(appointment: Appointment, actor: Actor) -> None:
    AppointmentEvent(
        tenant=appointment.tenant,
        appointment=appointment,
        status=get_appointment_event_status(appointment.status),
        data=appointment.event_data,
        actor_kind=str(actor.kind),
        actor_label=actor.label,
    ).save(force_insert=True)


def _emit_appointment_event(appointment: Appointment, order: Order, what: str) -> None:
    found = appointments_with_details(tenant=order.tenant).get(pk=appointment.pk)
    emit_event(
        tenant=order.tenant,
        user=order.user.ref,
        event_type=f"labtest.appointment.{what}",
        data=build_appointment(found),
    )


def _record_appointment_change(
    appointment: Appointment,
    order: Order,
    actor: Actor,
    verb: str,
    changes: Mapping[str, object] | None = None,
) -> None:
    record_change(
        tenant=order.tenant,
        actor=actor,
        verb=verb,
        subject="appointment",
        subject_id=appointment.pk,
        user_uuid=order.user.uuid,
        changes=changes,
    )


def get_last_known_low_level_status(order: Order) -> str:
    """Return an order's last known low-level status."""
    return split_order_status(find_last_known_order_status(order)).low
