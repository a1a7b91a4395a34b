"""DiagnosticReport: the results of an order, an uploaded report, an outside report.

A report that a check holds is none: its values must not be used. Source: US Core
DiagnosticReport for Laboratory Results Reporting.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from accounts.states import Area
from exchange.resources.base import Json, ResourceType, TableSource, list_uuids
from exchange.resources.binary import ORDER, PDF, REPORT, build_binary_url
from exchange.resources.datatypes import (
    ABSENT_EXTENSION,
    LOINC,
    US_CORE,
    build_coding,
    build_concept,
    build_meta,
    build_patient_reference,
    build_reference,
    drop_empty,
    write_time,
)
from exchange.resources.matching import Kind, Param
from exchange.resources.order_results import build_result_id
from exchange.resources.organization import build_lab_reference
from exchange.resources.outside_results import LAB_REPORT_CATEGORY, OUTSIDE_REPORTS
from exchange.resources.report_results import (
    build_report_result_id,
    find_report_change,
    find_report_status,
)
from exchange.resources.service_request import build_test_concept
from exchange.resources.specimen import build_specimen_id
from labs.queries.population import current_result_versions
from labs.queries.results.results import (
    list_missing_results_of_version,
    list_results_of_version,
)
from labs.states.results import ResultStatus
from reports.queries.population import (
    report_files,
    signatures_of_reports,
    usable_report_results,
    usable_reports,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from accounts.models import Tenant
    from labs.models import MissingResult, Result, ResultVersion
    from reports.models import ParsingJob, ReportFile, Signature

_PROFILE = f"{US_CORE}diagnosticreport-lab"
_REPORT = build_concept(
    "Laboratory report", build_coding(LOINC, "11502-2", "Laboratory report")
)
# A profile wants the time of a finished report; where nobody knows it, that is said.
_NO_TIME = {"extension": [{"url": ABSENT_EXTENSION, "valueCode": "unknown"}]}


def build_order_reports(
    tenant: Tenant, rows: Sequence[ResultVersion]
) -> list[list[Json]]:
    """Build the DiagnosticReport of each order's current results."""
    return [[_build_order_report(version)] for version in rows]


def _build_order_report(version: ResultVersion) -> Json:
    order = version.order
    results: list[Result | MissingResult] = [
        *list_results_of_version(version),
        *list_missing_results_of_version(version),
    ]
    status = "partial"
    if version.status == ResultStatus.FINAL:
        status = "corrected" if version.is_correction else "final"
    return drop_empty(
        {
            "resourceType": "DiagnosticReport",
            "id": str(order.pk),
            "meta": build_meta(version.created_at, version.number, _PROFILE),
            "basedOn": [build_reference("ServiceRequest", order.pk)],
            "status": status,
            "category": [LAB_REPORT_CATEGORY],
            "code": build_test_concept(order),
            "subject": build_patient_reference(order.user.uuid),
            **_build_effective(write_time(version.collected_at)),
            "issued": write_time(version.reported_at),
            "performer": [build_lab_reference(order.lab)],
            "specimen": [
                build_reference("Specimen", build_specimen_id(order, one.sample_id))
                for one in sorted(version.samples.all(), key=lambda one: one.sample_id)
            ],
            "result": [
                build_reference("Observation", build_result_id(order, row))
                for row in results
            ],
            "presentedForm": [
                {"contentType": PDF, "url": build_binary_url(ORDER, order.pk)}
            ],
        }
    )


def build_uploaded_reports(
    tenant: Tenant, rows: Sequence[ParsingJob]
) -> list[list[Json]]:
    """Build the DiagnosticReport of each uploaded report; three queries."""
    ids = [job.pk for job in rows]
    positions: dict[UUID, list[int]] = defaultdict(list)
    results = usable_report_results(tenant).filter(job__in=ids).order_by("position")
    for job_id, position in results.values_list("job_id", "position"):
        positions[job_id].append(position)
    files: dict[UUID, list[ReportFile]] = defaultdict(list)
    for file in report_files(tenant).filter(job__in=ids).order_by("position"):
        files[file.job_id].append(file)
    signatures = signatures_of_reports(tenant, ids)
    return [
        [
            _build_uploaded_report(
                job,
                positions[job.pk],
                files[job.pk],
                signatures.get((job.pk, job.version)),
            )
        ]
        for job in rows
    ]


def build_report_id(job_id: UUID) -> str:
    """Return the id of an uploaded report."""
    return f"report-{job_id.hex}"


def _build_uploaded_report(
    job: ParsingJob,
    positions: Sequence[int],
    files: Sequence[ReportFile],
    signature: Signature | None,
) -> Json:
    metadata = job.metadata or {}
    changed = find_report_change(job, signature)
    laboratory = metadata.get("lab_name")
    return drop_empty(
        {
            "resourceType": "DiagnosticReport",
            "id": build_report_id(job.pk),
            "meta": build_meta(changed, job.version, _PROFILE),
            "status": find_report_status(job),
            "category": [LAB_REPORT_CATEGORY],
            "code": _REPORT,
            "subject": build_patient_reference(job.user.uuid),
            **_build_effective(metadata.get("date_collected")),
            "issued": write_time(changed),
            "performer": [{"display": laboratory}] if laboratory else None,
            "resultsInterpreter": [{"display": signature.member_label}]
            if signature
            else None,
            "result": [
                build_reference("Observation", build_report_result_id(job.pk, position))
                for position in positions
            ],
            "presentedForm": [
                {
                    "contentType": file.content_type,
                    "url": build_binary_url(REPORT, job.pk, file.position),
                    "size": file.size,
                }
                for file in files
            ],
        }
    )


def _build_effective(at: str | None) -> Json:
    return {"effectiveDateTime": at} if at else {"_effectiveDateTime": _NO_TIME}


DIAGNOSTIC_REPORT = ResourceType(
    name="DiagnosticReport",
    sources=(
        TableSource(
            area=Area.ORDERS,
            rows=current_result_versions,
            build=build_order_reports,
            by_ids=lambda rows, ids: rows.filter(order__in=list_uuids(ids)),
            category="LAB",
            patient="order__user__uuid",
            updated="created_at",
        ),
        TableSource(
            area=Area.REPORTS,
            rows=usable_reports,
            build=build_uploaded_reports,
            by_ids=lambda rows, ids: rows.filter(pk__in=list_uuids(ids, part=1)),
            category="LAB",
            patient="user__uuid",
        ),
        OUTSIDE_REPORTS,
    ),
    params=(
        Param("patient", Kind.REFERENCE, ("subject",)),
        Param("category", Kind.TOKEN, ("category",)),
        Param("code", Kind.TOKEN, ("code",)),
        Param("date", Kind.DATE, ("effectiveDateTime",)),
        Param("issued", Kind.DATE, ("issued",)),
        Param("status", Kind.TOKEN, ("status",)),
    ),
    references={
        "patient": "subject",
        "result": "result",
        "specimen": "specimen",
        "based-on": "basedOn",
        "performer": "performer",
    },
    also_reads=(Area.PATIENT_DETAILS,),
    profiles=(_PROFILE,),
)
