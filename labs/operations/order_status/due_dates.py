"""Due dates of an order's results."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db.models import Max

from labs.models import LabTest
from labs.states.turnaround import is_sample_drawn_or_at_lab

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
    markers = LabTest.markers.through._default_manager.filter(labtest=order.lab_test)
    slowest = markers.aggregate(
        usual=Max("marker__common_tat_days"), worst=Max("marker__worst_case_tat_days")
    )
    if slowest["usual"] is None:
        return {}
    worst = max(slowest["usual"], slowest["worst"] or 0)
    return {
        "due_by": today + timedelta(days=slowest["usual"]),
        "worst_case_due_by": today + timedelta(days=worst),
    }
