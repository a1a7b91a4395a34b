"""Observations of values that were read from uploaded lab reports.

Final once a person signed the report, preliminary before; amended where a signed report
was changed. Values of a report that is an order's are the order's results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from accounts.states import Area
from exchange.resources.base import Json, TableSource, list_uuids
from exchange.resources.datatypes import (
    LOINC,
    build_coding,
    build_concept,
    build_interpretation,
    build_meta,
    build_patient_reference,
    build_reference_range,
    drop_empty,
)
from exchange.resources.order_results import (
    LAB_CATEGORY,
    LAB_RESULT_PROFILE,
    LABORATORY,
    build_value,
)
from reports.parser.report import ResultType
from reports.parser.text.values import has_decimal_commas, parse_printed_number
from reports.queries.population import signatures_of_reports, usable_report_results

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from accounts.models import Tenant
    from reports.models import ParsingJob, ReportResult, Signature


def build_report_result_id(job_id: UUID, position: int) -> str:
    """Return the id of a row of a report."""
    return f"report-{job_id.hex}-{position}"


def find_report_status(job: ParsingJob) -> str:
    """Return the status of a report's values."""
    if not job.is_reviewed:
        return "preliminary"
    return "amended" if job.version > 1 else "final"


def find_report_change(job: ParsingJob, signature: Signature | None) -> datetime:
    """Return when a report's values were last changed."""
    if signature is not None:
        return signature.signed_at
    changed: datetime = job.finished_at or job.created_at
    return changed


def build_report_results(
    tenant: Tenant, rows: Sequence[ReportResult]
) -> list[list[Json]]:
    """Build the Observation of each row of reports."""
    signatures = signatures_of_reports(tenant, {row.job_id for row in rows})
    return [
        [_build_row(row, signatures.get((row.job_id, row.version)))] for row in rows
    ]


def _build_row(row: ReportResult, signature: Signature | None) -> Json:
    job = row.job
    metadata = job.metadata or {}
    comma = has_decimal_commas((row.value, row.reference_range or ""))
    number = (
        parse_printed_number(row.value, decimal_comma=comma)
        if row.type == ResultType.NUMERIC
        else None
    )
    text = row.value.replace(",", ".") if comma and number is not None else row.value
    code = row.loinc_matches[0]["loinc_code"] if row.loinc_matches else ""
    changed = find_report_change(job, signature)
    laboratory = metadata.get("lab_name")
    return drop_empty(
        {
            "resourceType": "Observation",
            "id": build_report_result_id(job.pk, row.position),
            "meta": build_meta(changed, job.version, LAB_RESULT_PROFILE),
            "status": find_report_status(job),
            "category": LAB_CATEGORY,
            "code": build_concept(row.test_name, build_coding(LOINC, code)),
            "subject": build_patient_reference(job.user.uuid),
            "effectiveDateTime": metadata.get("date_collected"),
            "performer": [{"display": laboratory}] if laboratory else None,
            **build_value(
                row.type or "",
                text,
                number,
                row.units or "",
                is_number=ResultType.NUMERIC,
                ucum=row.ucum,
            ),
            "interpretation": build_interpretation(
                row.interpretation,
                above=row.is_above_max_range,
                below=row.is_below_min_range,
                flag=row.flag or "",
            ),
            "referenceRange": build_reference_range(
                row.reference_range or "",
                row.min_reference_range,
                row.max_reference_range,
                row.units or "",
                row.ucum,
            ),
        }
    )


REPORT_RESULTS = TableSource(
    area=Area.REPORTS,
    rows=usable_report_results,
    build=build_report_results,
    by_ids=lambda rows, ids: rows.filter(job__in=list_uuids(ids, part=1)),
    category=LABORATORY,
    patient="job__user__uuid",
)
