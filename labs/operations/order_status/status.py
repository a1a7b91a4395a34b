"""The only writer of an order's status, its events, audit entries and webhooks."""

from __future__ import annotations

import re
from contextlib import nullcontext
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_change
from accounts.webhooks.operations import emit_event
from labs.models import Order, OrderEvent
from labs.operations.catalogue.kit_stock import take_sent_kit_from_stock
from labs.operations.order_status.approval_gate import require_approved
from labs.operations.order_status.due_dates import compute_result_due_dates
from labs.operations.order_status.lab_cancellations import (
    enqueue_order_cancellation_at_lab,
)
from labs.operations.order_status.patient_notices import queue_patient_order_notices
from labs.operations.order_status.tracking import watch_order_tracking
from labs.payloads import build_order
from labs.queries.orders.history import (
    find_last_known_order_status,
    has_order_ended,
)
from labs.queries.orders.orders import get_order_with_details
from labs.states.order_queues import is_order_closed_without_results
from labs.states.orders import (
    STATUS_DETAILS,
    build_order_status,
    get_allowed_order_transitions,
    split_order_status,
)
from portal.lib.database.transitions import Transitions, move_status
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from portal.lib.actor import Actor

# Steps that show a sample collected or at the lab; results are watched on their own.
_TRACKED = {
    "draw_completed",
    "transit_lab",
    "delivered_to_lab",
    "lab_processing_blocked",
}
# These are cancelled at their lab.
_NOT_TO_PROCESS = {"cancelled", "do_not_process"}
_WORD = re.compile(r"[A-Za-z0-9_.]{1,100}")


@transaction.atomic
def advance_order(
    *,
    order: Order,
    actor: Actor,
    to: str,
    detail: str = "",
    why: str = "",
    occurred_at: datetime | None = None,
    changes: Mapping[str, object] | None = None,
) -> OrderEvent:
    """Change an order's status: check, store, write the event, emit; the only writer.

    `to` is a low-level status of the order's method, or a full one; `changes` are
    columns that are set with it, `occurred_at` is when it happened if not now. From a
    status that we do not know an order goes on as from the last one that we did.
    Raises: transition_not_allowed; status_detail_invalid; order_not_approved, where a
    physician has yet to approve; order_is_history. Source: Contract 6.11, 6.12, 6.19.
    """
    require_order_is_no_history(order)
    status = to if "." in to else _full_status_of(order, to)
    low = split_order_status(status).low
    if detail and detail not in STATUS_DETAILS.get(low, frozenset()):
        raise DomainError(
            "status_detail_invalid",
            _("Status %(status)s has no detail %(detail)s.")
            % {"status": low, "detail": detail},
            "status_detail",
        )
    if low == "requisition_created":
        require_approved(order)
    with watch_order_tracking(order) if _is_watched(order, status) else nullcontext():
        return _take_step(order, actor, status, detail, why, occurred_at, changes)


def _is_watched(order: Order, status: str) -> bool:
    """Return whether a step may change the tracking, and the team is sent it."""
    low = split_order_status(status).low
    if low == "partial_results":
        return order.tenant.partial_webhooks_enabled
    return low in _TRACKED or (
        order.due_by is not None and is_order_closed_without_results(status)
    )


def _take_step(
    order: Order,
    actor: Actor,
    status: str,
    detail: str,
    why: str,
    occurred_at: datetime | None,
    changes: Mapping[str, object] | None,
) -> OrderEvent:
    low, now = split_order_status(status).low, timezone.now()
    move_status(
        order,
        moves=_possible_moves(order),
        to=status,
        updated_at=now,
        **compute_result_due_dates(
            order=order, status=status, today=(occurred_at or now).date()
        ),
        **(changes or {}),
    )
    event = store_order_event(
        order, actor, detail=detail, why=why, occurred_at=occurred_at
    )
    if low in _NOT_TO_PROCESS:
        enqueue_order_cancellation_at_lab(order)
    take_sent_kit_from_stock(order)
    queue_patient_order_notices(order=order, event=event)
    if low != "partial_results" or order.tenant.partial_webhooks_enabled:
        emit_order_event(order, "updated")
    return event


@transaction.atomic
def store_reported_status(
    *, order: Order, actor: Actor, status: str, detail: str = ""
) -> OrderEvent:
    """Store a status reported by a lab or courier, even an unknown one.

    One we know is a step like any other. One we do not know is kept as it came, with
    its detail, and told of; an order that has ended takes none. Raises: status_invalid,
    where it is no word of letters, digits, underscores and dots;
    transition_not_allowed; status_detail_invalid. Source: Specification 3, 9
    (enumerations gain values); contract 6.11.
    """
    order = lock_order(order)
    moves = get_allowed_order_transitions(
        order.method, registrable=order.is_registrable
    )
    if any(status == known for known, _moves in moves):
        return advance_order(order=order, actor=actor, to=status, detail=detail)
    if not (_WORD.fullmatch(status) and (not detail or _WORD.fullmatch(detail))):
        raise _build_invalid_status_error()
    if has_order_ended(order):
        raise DomainError(
            "transition_not_allowed",
            _("The order can't change from %(old)s to %(new)s.")
            % {"old": order.status, "new": status},
        )
    move_status(
        order,
        moves=Transitions({order.status: {status}, status: set()}),
        to=status,
        updated_at=timezone.now(),
    )
    event = store_order_event(order, actor, detail=detail)
    emit_order_event(order, "updated")
    return event


@transaction.atomic
def record_past_step(
    *, order: Order, actor: Actor, status: str, detail: str, at: datetime
) -> OrderEvent:
    """Record a step of a moved order that was taken on its platform at `at`.

    Any status may follow any other, even an unknown one: it happened. No lab is told,
    no notice is queued and no event is emitted. The caller locked the order, or just
    stored it. Raises: status_invalid; order_not_moved. Source: Ours.
    """
    if not order.moved_from:
        raise DomainError("order_not_moved", _("This order was placed here."))
    if not (_WORD.fullmatch(status) and (not detail or _WORD.fullmatch(detail))):
        raise _build_invalid_status_error()
    moves = {status: {status}} | {order.status: {status}}
    move_status(order, moves=Transitions(moves), to=status)
    return store_order_event(order, actor, detail=detail, created_at=at)


def require_order_is_no_history(order: Order) -> None:
    """Refuse an order that was placed on another platform.

    Raises: order_is_history. Source: Ours: it goes on there, if at all.
    """
    if order.moved_from:
        raise DomainError(
            "order_is_history",
            _("This order was placed on another platform. It can't be changed here."),
        )


def lock_order(order: Order) -> Order:
    """Return the order locked until the transaction ends.

    Raises: order_is_history.
    """
    require_order_is_no_history(order)
    return lock_order_row(order)


def lock_order_row(order: Order) -> Order:
    """Return any order locked, even one of another platform's history."""
    rows = Order.objects.for_tenant(order.tenant).select_for_update(of=("self",))
    found: Order = rows.select_related("user", "lab", "lab_test", "lab_account").get(
        pk=order.pk
    )
    found.tenant = order.tenant
    return found


def store_order_event(
    order: Order,
    actor: Actor,
    *,
    detail: str = "",
    why: str = "",
    occurred_at: datetime | None = None,
    created_at: datetime | None = None,
) -> OrderEvent:
    """Store the event of an order's current status; `created_at` if not now."""
    event = OrderEvent(
        tenant=order.tenant,
        order=order,
        status=order.status,
        status_detail=detail,
        actor_kind=str(actor.kind),
        actor_label=actor.label,
        why=why,
        occurred_at=occurred_at,
        created_at=created_at or timezone.now(),
    )
    event.save(force_insert=True)
    return event


def emit_order_event(order: Order, what: str) -> None:
    """Emit an order's `created` or `updated` webhook event (contract 8.2)."""
    emit_event(
        tenant=order.tenant,
        user=order.user.ref,
        event_type=f"labtest.order.{what}",
        data=build_order(
            get_order_with_details(tenant=order.tenant, order_id=order.pk)
        ),
    )


def audit_order_change(
    order: Order,
    actor: Actor,
    verb: str,
    changes: Mapping[str, object] | None = None,
) -> None:
    """Write an audit entry of a change to an order."""
    record_change(
        tenant=order.tenant,
        actor=actor,
        verb=verb,
        subject="order",
        subject_id=order.pk,
        user_uuid=order.user.uuid,
        changes=changes,
    )


def _build_invalid_status_error() -> DomainError:
    return DomainError(
        "status_invalid",
        _("Enter a status of at most 100 letters, digits, underscores and dots."),
        "status",
    )


def _possible_moves(order: Order) -> Transitions[str]:
    moves = dict(
        get_allowed_order_transitions(order.method, registrable=order.is_registrable)
    )
    if order.status not in moves:
        moves[order.status] = moves.get(
            find_last_known_order_status(order), frozenset()
        )
    return Transitions(moves)


def _full_status_of(order: Order, low: str) -> str:
    try:
        return build_order_status(order.method, low)
    except (KeyError, ValueError):
        raise DomainError(
            "transition_not_allowed",
            _("Orders with collection method %(method)s have no status %(status)s.")
            % {"method": order.method, "status": low},
        ) from None
