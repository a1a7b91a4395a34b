"""Critical results of lab reports, or parts of them, that wait for a person.

They start the same clock as an order's, so that none waits unseen until somebody finds
the order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q
from django.utils import timezone

from accounts.models import Tenant
from labs.gateways.hl7.deliveries import build_result_delivery_from_report
from labs.models import InboundReport
from labs.operations.results.critical import open_critical_alert_without_order
from labs.states.orders import Interpretation
from labs.states.results import interpret_lab_flag

if TYPE_CHECKING:
    from labs.gateways.hl7.reports import Report
    from labs.models import CriticalAlert


def open_alert_of_unmatched_report(*, row: InboundReport, report: Report) -> None:
    """Open an alert if an unmatched report has critical results; set it on `row`.

    In the caller's transaction, which saves `critical_results`, `alert` and
    `critical_checked_at`. A result is critical by the lab's flag, as it is for a report
    with an order; one that is held too. A message of the same results, sent again,
    joins the alert of the first, also an acknowledged one; whatever differs opens its
    own. Source: Ours: one alert too many costs a minute.
    """
    row.critical_checked_at = timezone.now()
    row.critical_results = _list_critical_results(row, report)
    if not row.critical_results:
        return
    # Two messages of the same results, processed at once, must not both be the first.
    Tenant.objects.select_for_update(no_key=True).get(pk=row.tenant_id)
    row.alert = _find_alert_of_same_results(row) or open_critical_alert_without_order(
        tenant=row.tenant
    )


def _list_critical_results(
    row: InboundReport, report: Report
) -> list[dict[str, str | None]]:
    """Return the critical results of a report, those in doubt among them."""
    delivery = build_result_delivery_from_report(
        report, is_final=False, received_at=row.received_at
    )
    found = [
        {
            "name": one.name,
            "code": one.provider_id or one.ordered_code,
            "loinc": one.loinc,
            "sub_id": one.sub_id,
            "result": one.text,
            "unit": one.unit,
            "reference_range": one.reference_range,
            "flag": one.flag,
            "observed_at": one.observed_at.isoformat() if one.observed_at else None,
        }
        for one in delivery.results
    ]
    found += [
        {
            "name": one.name or test.name,
            "code": one.code or test.code,
            "loinc": one.loinc,
            "sub_id": one.sub_id,
            "result": one.text,
            "unit": one.unit,
            "reference_range": one.reference_range,
            "flag": "~".join(one.flags),
            "observed_at": one.observed_at.at.isoformat() if one.observed_at else None,
        }
        for test in report.tests
        for one in test.held
    ]
    return [
        one
        for one in found
        if interpret_lab_flag(one["flag"] or "") == Interpretation.CRITICAL
    ]


def _find_alert_of_same_results(row: InboundReport) -> CriticalAlert | None:
    """Return the alert of an earlier report of these results.

    The same values of the same sample times, a number in common and the same patient as
    the lab writes them.
    """
    has_same_number = (
        Q(fillers__overlap=row.fillers)
        | Q(placers__overlap=row.placers)
        | Q(samples__overlap=row.samples)
    )
    earlier = (
        InboundReport.objects.for_tenant(row.tenant)
        .filter(
            has_same_number,
            message__lab=row.message.lab,
            message__lab_account=row.message.lab_account,
            alert__isnull=False,
            critical_results__contains=row.critical_results,
        )
        .select_related("alert")
        .order_by("-received_at", "-position")
    )
    patient = _list_patient_segments(row)
    return next(
        (one.alert for one in earlier if _list_patient_segments(one) == patient), None
    )


def _list_patient_segments(row: InboundReport) -> list[str]:
    return [line for line in row.text.split("\r") if line.startswith("PID")]
