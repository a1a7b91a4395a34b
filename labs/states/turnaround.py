"""Lateness of results against their due dates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.states.order_queues import is_order_in_progress
from labs.states.orders import ORDER_STATUSES, split_order_status
from portal.lib.choices import OpenChoices
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date

# Statuses from which on the lab can work on the sample. Before them, it may not exist
# yet: a walk-in patient can go on any day, a kit can be unused.
_AT_LAB = {
    "draw_completed",
    "delivered_to_lab",
    "lab_processing_blocked",
    "partial_results",
}
AT_LAB: tuple[str, ...] = tuple(
    status for status in ORDER_STATUSES if split_order_status(status).low in _AT_LAB
)


class Lateness(OpenChoices):
    """How results compare with their due dates."""

    IN_TIME = "in_time", gettext_lazy("On time")
    LATE = "late", gettext_lazy("Late")
    OVERDUE = "overdue_results", gettext_lazy("Overdue")


def is_sample_drawn_or_at_lab(status: str) -> bool:
    """Return whether an order's sample was drawn or has reached the lab."""
    return split_order_status(status).low in _AT_LAB


def find_slowest_days(days: Iterable[int | None]) -> int | None:
    """Return the most days of several markers; None where no marker names any."""
    return max((day for day in days if day is not None), default=None)


def get_result_lateness(
    *, due_by: date | None, worst_case_by: date | None, on: date
) -> Lateness | None:
    """Return how late results are that arrived, or are still missing, `on` a day.

    Late after the usual day, overdue after the lab's worst case; None where no day was
    expected. The day itself is in time. Source: Ours (spec silent): the two numbers of
    contract 6.2 are what a lab promises.
    """
    if due_by is None:
        return None
    if worst_case_by is not None and on > worst_case_by:
        return Lateness.OVERDUE
    return Lateness.LATE if on > due_by else Lateness.IN_TIME


def get_current_order_lateness(
    *, status: str, due_by: date | None, worst_case_by: date | None, today: date
) -> Lateness | None:
    """Return the lateness of an order that still awaits results, else None."""
    if not is_order_in_progress(status):
        return None
    return get_result_lateness(due_by=due_by, worst_case_by=worst_case_by, on=today)
