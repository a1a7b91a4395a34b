"""Due dates of an order's results."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from labs.states.turnaround import find_slowest_days, is_sample_drawn_or_at_lab

if TYPE_CHECKING:
    from datetime import date

    from labs.models import Order


def compute_result_due_dates(
    *, order: Order, status: str, today: date
) -> dict[str, date]:
    """Return `due_by` and `worst_case_due_by` as an order step sets them.

    They count from the first day on which the lab is known to have the sample, by the
    slowest marker of the panel, and stay as they were told; empty where the step says
    nothing of it, or no marker names its days. Units: days. Source: Contract 6.10;
    Ours (spec silent on the start): a promise of days can't run before the sample is
    there.
    """
    if order.due_by is not None or not is_sample_drawn_or_at_lab(status):
        return {}
    usual = find_slowest_days(m.common_tat_days for m in order.placed.markers)
    if usual is None:
        return {}
    worst = find_slowest_days(m.worst_case_tat_days for m in order.placed.markers)
    return {
        "due_by": today + timedelta(days=usual),
        "worst_case_due_by": today + timedelta(days=max(usual, worst or 0)),
    }
