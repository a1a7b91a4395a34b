"""Backdating of demo results, which are stored at load time."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db.models import F

from labs.models import CriticalAlert, Result, ResultVersion, SampleData
from labs.states.orders import split_order_status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labs.models import Order, OrderEvent

_REPORTS = {"partial_results", "completed", "corrected"}
_DRAWN_BEFORE = timedelta(hours=20)


def backdate_demo_results(*, order: Order, events: Sequence[OrderEvent]) -> None:
    """Backdate when an order's results were collected, reported and stored.

    Each version is as old as the step it took, the sample as old as the day before the
    first of them, or the step before it. `events` are all of the order's, first to
    last, their times set. Source: Ours (a newcomer sees weeks of work).
    """
    tenant = order.tenant
    of_order = ResultVersion.objects.for_tenant(tenant).filter(order=order)
    versions = list(of_order.order_by("number"))
    if not versions:
        return
    steps = [e for e in events if split_order_status(e.status).low in _REPORTS]
    before = [e for e in events if e not in steps][-1]
    first = steps[0].created_at
    drawn = max(before.created_at, first - _DRAWN_BEFORE)
    received = drawn + (first - drawn) / 2
    rows = Result.objects.for_tenant(tenant).filter(version__order=order)
    for version, step in zip(versions, steps, strict=True):
        at = step.created_at
        # Rows of earlier reports are repeated in later versions.
        rows.filter(reported_at=version.reported_at).update(
            reported_at=at, observed_at=drawn
        )
        if version.has_new_critical:
            _backdate_critical_alert(version, version.created_at - at)
        version.created_at = version.reported_at = at
        version.collected_at, version.received_at = drawn, received
    ResultVersion.objects.for_tenant(tenant).bulk_update(
        versions, ["created_at", "reported_at", "collected_at", "received_at"]
    )
    SampleData.objects.for_tenant(tenant).filter(version__order=order).update(
        collected_at=drawn, received_at=received, reported_at=first
    )


def _backdate_critical_alert(version: ResultVersion, by: timedelta) -> None:
    CriticalAlert.objects.for_tenant(version.tenant).filter(version=version).update(
        opened_at=F("opened_at") - by,
        due_at=F("due_at") - by,
        escalate_at=F("escalate_at") - by,
    )
