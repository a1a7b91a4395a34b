"""Record what a lab said of a sample by another way than its results, as by phone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from labs.operations.order_status.status import (
    advance_order,
    audit_order_change,
    lock_order,
)
from labs.states.orders import LAB_STEPS
from labs.states.shipments import CLOCK_SKEW, EARLIEST_YEAR
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from datetime import datetime

    from labs.models import Order
    from portal.lib.actor import Actor


@transaction.atomic
def record_lab_step(
    *,
    order: Order,
    actor: Actor,
    step: str,
    occurred_at: datetime,
    detail: str = "",
    why: str = "",
) -> Order:
    """Record that a lab blocked, refused or could not use a sample.

    `step` is one of LAB_STEPS. An order not to be processed is cancelled at its lab.
    Raises: not_a_lab_step; occurred_in_future, occurred_too_early;
    transition_not_allowed; status_detail_invalid. Source: Contract 6.12 (lab, courier
    or operator actions).
    """
    order = lock_order(order)
    if step not in LAB_STEPS:
        raise DomainError("not_a_lab_step", _("A lab does not report this step."))
    require_plausible_time(occurred_at)
    before = order.status
    advance_order(
        order=order,
        actor=actor,
        to=step,
        detail=detail,
        why=why,
        occurred_at=occurred_at,
    )
    audit_order_change(
        order, actor, "record_lab_step", {"status": [before, order.status]}
    )
    return order


def require_plausible_time(occurred_at: datetime) -> None:
    """Refuse a time ahead of this clock, or of a century that no order is of.

    Raises: occurred_in_future, occurred_too_early. Source: Ours: a mistyped year, and
    offsets at the ends of the calendar, which no database takes.
    """
    if occurred_at.year < EARLIEST_YEAR:
        raise DomainError(
            "occurred_too_early",
            _("Enter a year from %(year)d.") % {"year": EARLIEST_YEAR},
            "occurred_at",
        )
    if occurred_at > timezone.now() + CLOCK_SKEW:
        raise DomainError(
            "occurred_in_future",
            _("Enter a time that is not in the future."),
            "occurred_at",
        )
