"""Record events of a kit's way, whoever reports them: API, courier, file or member."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _

from labs.models import Shipment, ShipmentEvent
from labs.operations.order_status.lab_steps import require_plausible_time
from labs.operations.order_status.status import (
    advance_order,
    audit_order_change,
    lock_order,
)
from labs.queries.orders.history import find_last_known_order_status
from labs.states.catalogue import CollectionMethod
from labs.states.order_queues import is_order_in_progress
from labs.states.orders import split_order_status
from labs.states.shipments import (
    CLOCK_SKEW,
    NOTE_MAX_LENGTH,
    TRACKING_NUMBER_MAX_LENGTH,
    ShipmentDirection,
    ShipmentReporter,
    ShipmentStatus,
    get_shipment_direction,
)
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from datetime import datetime

    from labs.models import Order
    from portal.lib.actor import Actor


@dataclass(frozen=True, slots=True)
class ReportedShipment:
    """A step on a kit's way as reported; `tracking_number` of the way it is on."""

    status: ShipmentStatus
    occurred_at: datetime
    tracking_number: str = ""
    note: str = ""


@transaction.atomic
def record_shipment_event(
    *,
    order: Order,
    actor: Actor,
    reported: ReportedShipment,
    reporter: ShipmentReporter,
) -> Order:
    """Record a step on a kit's way and advance its order; return the order.

    A status and time that are recorded already change nothing. The tracking number is
    kept by direction. Raises: not_a_kit; tracking_number_too_long, note_too_long;
    occurred_in_future, occurred_too_early; order_ended; occurred_before_order;
    shipment_event_out_of_order, where it happened before the step recorded last;
    transition_not_allowed. Source: Contract 6.11, 6.12 (later steps come from lab,
    courier or operator actions); Ours: the shape.
    """
    order = lock_order(order)
    _require_valid_report(order, reported)
    recorded = ShipmentEvent.objects.for_tenant(order.tenant).filter(order=order)
    if recorded.filter(
        status=reported.status, occurred_at=reported.occurred_at
    ).exists():
        return order
    _require_in_time(order, reported, recorded.order_by("-pk").first())
    direction = get_shipment_direction(
        reported.status,
        before=split_order_status(find_last_known_order_status(order)).low,
    )
    if reported.tracking_number:
        _store_tracking_number(order, direction, reported.tracking_number)
    before = order.status
    event = advance_order(
        order=order,
        actor=actor,
        to=reported.status,
        why=reported.note,
        occurred_at=reported.occurred_at,
    )
    ShipmentEvent(
        tenant=order.tenant,
        order=order,
        event=event,
        status=reported.status,
        direction=direction,
        occurred_at=reported.occurred_at,
        tracking_number=reported.tracking_number,
        note=reported.note,
        reporter=reporter,
        actor_kind=str(actor.kind),
        actor_label=actor.label,
    ).save(force_insert=True)
    audit_order_change(
        order, actor, "record_shipment", {"status": [before, order.status]}
    )
    return order


def _require_valid_report(order: Order, reported: ReportedShipment) -> None:
    if order.method != CollectionMethod.TESTKIT:
        raise DomainError("not_a_kit", _("Only orders of test kits have shipments."))
    if len(reported.tracking_number) > TRACKING_NUMBER_MAX_LENGTH:
        raise DomainError(
            "tracking_number_too_long",
            _("Enter at most %(most)d characters.")
            % {"most": TRACKING_NUMBER_MAX_LENGTH},
            "tracking_number",
        )
    if len(reported.note) > NOTE_MAX_LENGTH:
        raise DomainError(
            "note_too_long",
            _("Enter at most %(most)d characters.") % {"most": NOTE_MAX_LENGTH},
            "note",
        )
    require_plausible_time(reported.occurred_at)


def _require_in_time(
    order: Order, reported: ReportedShipment, last: ShipmentEvent | None
) -> None:
    """Refuse what can't have happened when it is said to; people enter whole minutes.

    The way of an imported order may have begun before it was imported.
    """
    if not is_order_in_progress(order.status):
        raise DomainError(
            "order_ended",
            _("This order has ended: its status is %(status)s.")
            % {"status": order.status},
        )
    was_imported = order.events.filter(status__endswith=".requisition_bypassed")
    if (
        reported.occurred_at < order.created_at - CLOCK_SKEW
        and not was_imported.exists()
    ):
        raise DomainError(
            "occurred_before_order",
            _("Enter a time after the order was placed."),
            "occurred_at",
        )
    if last and reported.occurred_at < last.occurred_at.replace(
        second=0, microsecond=0
    ):
        raise DomainError(
            "shipment_event_out_of_order",
            _("A later step is recorded already: %(status)s.")
            % {"status": last.status},
            "occurred_at",
        )


def _store_tracking_number(
    order: Order, direction: ShipmentDirection, number: str
) -> None:
    rows = Shipment.objects.for_tenant(order.tenant)
    shipment = rows.filter(order=order).first() or Shipment(
        tenant=order.tenant, order=order
    )
    setattr(shipment, f"{direction}_tracking_number", number)
    shipment.save()
