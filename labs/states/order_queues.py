"""Work states of orders: tabs, stages and what needs attention."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.states.orders import ORDER_STATUSES, OrderTopLevelStatus, split_order_status
from portal.lib.choices import OpenChoices
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class WorkState(OpenChoices):
    """A tab of the orders list; an order may be in several (design guide, Orders)."""

    IN_PROGRESS = "in_progress", gettext_lazy("In progress")
    ATTENTION = "attention", gettext_lazy("Needs attention")
    RESULTS = "results", gettext_lazy("Results available")
    CLOSED = "closed", gettext_lazy("Cancelled or failed")
    ALL = "all", gettext_lazy("All")


class Stage(OpenChoices):
    """The stage of an order in progress, first to last (design guide, Overview)."""

    ORDERED = "ordered", gettext_lazy("Ordered")
    READY = "ready", gettext_lazy("Requisition or kit")
    COLLECTING = "collecting", gettext_lazy("Collecting sample")
    WITH_LAB = "with_lab", gettext_lazy("With the lab")
    PARTIAL = "partial", gettext_lazy("Partial results")


_ENDED = {
    OrderTopLevelStatus.COMPLETED,
    OrderTopLevelStatus.CANCELLED,
    OrderTopLevelStatus.FAILED,
}
# The redraw is a separate order that replaces it.
_REDRAWN = "redraw_available"
_FIRST = {"ordered", "awaiting_registration"}
# In these the requisition is created next.
AWAITS_REQUISITION = frozenset({"ordered", "registered"})
# Someone has to act before these can continue.
_HELD_UP = {
    "problem_in_transit_customer",
    "problem_in_transit_lab",
    "lab_processing_blocked",
    "appointment_pending",
    "appointment_cancelled",
}
# The lab or the carrier ended these, so they need attention.
_ENDED_BADLY = {
    "failure_to_deliver_to_customer",
    "failure_to_deliver_to_lab",
    "sample_error",
    "lost",
    "do_not_process",
    _REDRAWN,
}


def _statuses_ending_in(lows: set[str]) -> tuple[str, ...]:
    return tuple(s for s in ORDER_STATUSES if split_order_status(s).low in lows)


HELD_UP: tuple[str, ...] = _statuses_ending_in(_HELD_UP)
ENDED_BADLY: tuple[str, ...] = _statuses_ending_in(_ENDED_BADLY)
ORDERED: tuple[str, ...] = _statuses_ending_in({"ordered"})


def is_order_in_progress(status: str) -> bool:
    """Return whether an order in this status is open; unknown statuses are."""
    top, _, low = split_order_status(status)
    return top not in _ENDED and low != _REDRAWN


def has_order_results(status: str) -> bool:
    """Return whether an order in this status has results, all or some."""
    top, _, low = split_order_status(status)
    return top == OrderTopLevelStatus.COMPLETED or low == "partial_results"


def is_order_closed_without_results(status: str) -> bool:
    """Return whether an order in this status ended without results."""
    return not (is_order_in_progress(status) or has_order_results(status))


# The tabs that a status alone decides; ALL has every order, ATTENTION needs more.
IN_STATE: Mapping[WorkState, Callable[[str], bool]] = {
    WorkState.IN_PROGRESS: is_order_in_progress,
    WorkState.RESULTS: has_order_results,
    WorkState.CLOSED: is_order_closed_without_results,
}


def get_order_stage(status: str) -> Stage | None:
    """Return the stage of an order in progress; None for others and unknown ones."""
    if not is_order_in_progress(status):
        return None
    top, _, low = split_order_status(status)
    if low == "partial_results":
        return Stage.PARTIAL
    match OrderTopLevelStatus.known(top):
        case OrderTopLevelStatus.RECEIVED:
            return Stage.ORDERED if low in _FIRST else Stage.READY
        case OrderTopLevelStatus.COLLECTING_SAMPLE:
            return Stage.COLLECTING
        case OrderTopLevelStatus.SAMPLE_WITH_LAB:
            return Stage.WITH_LAB
        case _:
            return None
