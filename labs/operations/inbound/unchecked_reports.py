"""Search unmatched reports for critical results that no clock runs for yet."""

from __future__ import annotations

import logging

from django.db import transaction
from django.utils import timezone

from labs.models import InboundReport
from labs.operations.inbound.critical_reports import open_alert_of_unmatched_report
from labs.operations.inbound.review import parse_stored_lab_report
from labs.states.inbound import MatchStatus
from portal.lib.errors import Unavailable

logger = logging.getLogger(__name__)

CHECKED_AT_MOST = 200


def open_alerts_of_unchecked_reports() -> int:
    """Search unmatched reports that never were, oldest first; return how many.

    Over all tenants, at most CHECKED_AT_MOST a run, each report in a transaction of its
    own. They were taken before critical results of unmatched reports had a clock, which
    starts now. One that can't be read any more is logged and left to the queue; long
    ones wait for their turn. Source: Ours: no critical value waits in silence.
    """
    rows = InboundReport.unscoped.filter(
        status=MatchStatus.UNMATCHED,
        critical_checked_at=None,
        tenant__team__deleted_at=None,
    )
    number = 0
    oldest = rows.order_by("received_at", "pk").values_list("pk", flat=True)
    for key in list(oldest[:CHECKED_AT_MOST]):
        with transaction.atomic():
            row = (
                rows.select_for_update(of=("self",), skip_locked=True)
                .select_related("tenant__team", "message__lab", "message__lab_account")
                .filter(pk=key)
                .first()
            )
            if row is not None and _check(row):
                number += 1
    return number


def _check(row: InboundReport) -> bool:
    try:
        report = parse_stored_lab_report(row)
    except Unavailable:
        return False
    except Exception as fault:  # noqa: BLE001 - one report must not hold up the others
        # The type alone: its text may hold health data.
        logger.warning("report %s can't be read: %s", row.pk, type(fault).__name__)
        row.critical_checked_at = timezone.now()
    else:
        open_alert_of_unmatched_report(row=row, report=report)
    row.save(update_fields=["critical_results", "alert", "critical_checked_at"])
    return True
