"""Builds the ParsingJob of the contract (7.2 and 7.4) for the API and for events.

Explicit builders from rows to dicts; every listed key is always there, null for none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from reports.queries import list_report_results
from reports.states import (
    DocumentReason,
    DocumentStatus,
    HoldReason,
    ParsingJobFailureReason,
    ParsingJobStatus,
    UnreadScript,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reports.models import ParsingJob, ReportResult, UnmatchedDocument


class LoincMatchAnswer(TypedDict):
    """A LOINC candidate; `loinc_name` is the LOINC long common name."""

    loinc_code: str
    loinc_name: str
    display_name: str | None
    aliases: list[str]
    confidence_score: float


class ReportMetadataAnswer(TypedDict):
    """The report's header; dates are YYYY-MM-DD if they could be parsed."""

    patient_first_name: str | None
    patient_last_name: str | None
    dob: str | None
    gender: str | None
    lab_name: str | None
    date_reported: str | None
    date_collected: str | None
    specimen_number: str | None


class PlaceAnswer(TypedDict):
    """Position of a text: page from 1, corners in points from the top left."""

    page: int
    polygon: list[list[float]]


class ConfidenceAnswer(TypedDict):
    """Confidence of each part from 0 to 1; null if the row has no such part.

    Calibrated: about 90% of rows with `overall` 0.9 are right in name, value, unit
    and range.
    """

    text: float | None
    row: float | None
    loinc: float | None
    unit: float | None
    range: float | None
    overall: float | None


class CandidateReasonsAnswer(TypedDict):
    """Reasons for and against a LOINC candidate; may gain values."""

    loinc_code: str
    reasons: list[str]


class ProvenanceAnswer(TypedDict):
    """Position and confidence of each part of a row, and its review state.

    `ucum` is the unit in UCUM, `flag` the lab's flag as printed, `state` whether the
    row needs review: auto (no), look (yes) or contradiction (yes, a check failed).
    """

    name: PlaceAnswer | None
    value: PlaceAnswer | None
    units: PlaceAnswer | None
    reference_range: PlaceAnswer | None
    confidence: ConfidenceAnswer
    ucum: str | None
    flag: str | None
    state: str
    loinc_reasons: list[CandidateReasonsAnswer]


class _ReportResult(TypedDict):
    """One biomarker row; `is_reviewed` is false until a person signed the report."""

    test_name: str
    value: str
    type: str | None
    units: str | None
    min_reference_range: float | None
    max_reference_range: float | None
    reference_range: str | None
    source_panel_name: str | None
    sample_type: str | None
    measurement_kind: str | None
    sensitivity: str | None
    loinc_matches: list[LoincMatchAnswer]
    loinc_match_status: str
    interpretation: str
    is_above_max_range: bool | None
    is_below_min_range: bool | None
    is_reviewed: bool


class ReportResultAnswer(_ReportResult, total=False):
    """A biomarker row, with its position if requested (contract 10)."""

    provenance: ProvenanceAnswer


class PageSizeAnswer(TypedDict):
    """The size of a page in points, to which all polygons on it refer."""

    page: int
    width: float
    height: float


class NoteAnswer(TypedDict):
    """A finding of a check; `rows` are positions in `results` from 0.

    `facts` are the numbers and texts that describe it, by name.
    """

    code: str
    severity: str
    rows: list[int]
    facts: dict[str, float | str]


class ReportProvenanceAnswer(TypedDict):
    """Provenance of the whole report; `unread` places may contain missed results.

    `findings` are the checks that the report failed, those that hold it and those that
    your team only marks, also after its release. May gain values.
    """

    pages: list[PageSizeAnswer]
    notes: list[NoteAnswer]
    unread: list[PlaceAnswer]
    findings: list[str]


class _ParsedLabReportData(TypedDict):
    """The values parsed from a report.

    `hold_reasons` say why a report with status `pending_review` is held: its values
    must not be used until someone releases it. Empty if it is not held; may gain
    values.
    """

    metadata: ReportMetadataAnswer
    results: list[ReportResultAnswer]
    hold_reasons: list[Annotated[str, HoldReason]]


class ParsedLabReportData(_ParsedLabReportData, total=False):
    """The values parsed from a report, with provenance if requested (contract 10)."""

    provenance: ReportProvenanceAnswer


class ParsingJobAnswer(TypedDict):
    """A parsing job, in responses and in events.

    `order_id` is the order whose results it holds, null for a report without one.
    `unread_script` is the script that could not be read, of a job that failed by it.
    """

    id: str
    status: Annotated[str, ParsingJobStatus]
    failure_reason: Annotated[str, ParsingJobFailureReason] | None
    data: ParsedLabReportData | None
    needs_human_review: bool
    is_reviewed: bool
    order_id: str | None
    unread_script: Annotated[str, UnreadScript] | None


def build_parsing_job_payload(
    job: ParsingJob, *, with_provenance: bool = False
) -> ParsingJobAnswer:
    """Return the job in the shape of the contract; one query if it has data.

    `data` is null unless completed or pending_review. Source: Contract 7.2, 10.
    """
    return {
        "id": str(job.id),
        "status": job.status,
        "failure_reason": job.failure_reason or None,
        "data": _data(job, with_provenance=with_provenance),
        "needs_human_review": job.needs_human_review,
        "is_reviewed": job.is_reviewed,
        "order_id": str(job.order_id) if job.order_id else None,
        "unread_script": job.unread_script or None,
    }


def _data(job: ParsingJob, *, with_provenance: bool) -> ParsedLabReportData | None:
    if not job.has_data:
        return None
    rows = list_report_results(job)
    data = build_report_data(
        job.metadata or {},
        rows,
        with_provenance=with_provenance,
        is_reviewed=job.is_reviewed,
        hold_reasons=job.hold_reasons,
    )
    if with_provenance:
        data["provenance"] = {
            "pages": job.page_sizes or [],
            "notes": job.notes or [],
            "unread": job.unread or [],
            "findings": job.findings,
        }
    return data


def build_report_data(
    metadata: Mapping[str, str | None],
    rows: Iterable[ReportResult],
    *,
    with_provenance: bool = False,
    is_reviewed: bool = False,
    hold_reasons: Sequence[str] = (),
) -> ParsedLabReportData:
    """Return the values of a report, stored or not. Source: Contract 7.4, D14."""
    results: list[ReportResultAnswer] = []
    for row in rows:
        result = _result(row, is_reviewed=is_reviewed)
        if with_provenance:
            result["provenance"] = _provenance(row)
        results.append(result)
    return {
        "metadata": build_report_metadata(metadata),
        "results": results,
        "hold_reasons": list(hold_reasons),
    }


def _provenance(row: ReportResult) -> ProvenanceAnswer:
    return {
        "name": row.provenance.get("name"),
        "value": row.provenance.get("value"),
        "units": row.provenance.get("units"),
        "reference_range": row.provenance.get("reference_range"),
        "confidence": {
            "text": row.confidence.get("text"),
            "row": row.confidence.get("row"),
            "loinc": row.confidence.get("loinc"),
            "unit": row.confidence.get("unit"),
            "range": row.confidence.get("range"),
            "overall": row.confidence.get("overall"),
        },
        "ucum": row.ucum,
        "flag": row.flag,
        "state": row.state,
        "loinc_reasons": [
            {"loinc_code": match["loinc_code"], "reasons": match.get("reasons", [])}
            for match in row.loinc_matches
        ],
    }


def _match(match: Mapping[str, Any]) -> LoincMatchAnswer:
    return {
        "loinc_code": match["loinc_code"],
        "loinc_name": match["loinc_name"],
        "display_name": match["display_name"],
        "aliases": match["aliases"],
        "confidence_score": match["confidence_score"],
    }


def build_report_metadata(read: Mapping[str, str | None]) -> ReportMetadataAnswer:
    """Return a report's header. Source: Contract 7.4."""
    return {
        "patient_first_name": read.get("patient_first_name"),
        "patient_last_name": read.get("patient_last_name"),
        "dob": read.get("dob"),
        "gender": read.get("gender"),
        "lab_name": read.get("lab_name"),
        "date_reported": read.get("date_reported"),
        "date_collected": read.get("date_collected"),
        "specimen_number": read.get("specimen_number"),
    }


def _result(row: ReportResult, *, is_reviewed: bool) -> ReportResultAnswer:
    return {
        "test_name": row.test_name,
        "value": row.value,
        "type": row.type,
        "units": row.units,
        "min_reference_range": row.min_reference_range,
        "max_reference_range": row.max_reference_range,
        "reference_range": row.reference_range,
        "source_panel_name": row.source_panel_name,
        "sample_type": row.sample_type,
        "measurement_kind": row.measurement_kind,
        "sensitivity": row.sensitivity,
        "loinc_matches": [_match(match) for match in row.loinc_matches],
        "loinc_match_status": row.loinc_match_status,
        "interpretation": row.interpretation,
        "is_above_max_range": row.is_above_max_range,
        "is_below_min_range": row.is_below_min_range,
        "is_reviewed": is_reviewed,
    }


class DocumentAnswer(TypedDict):
    """A document without an order, without patient details, in events and lists.

    `reason` says why no order was found, null while it is read. `source` is `mail` or
    `upload`. Enumerations may gain values.
    """

    id: str
    status: Annotated[str, DocumentStatus]
    reason: Annotated[str, DocumentReason] | None
    source: str
    order_id: str | None
    job_id: str | None
    received_at: str
    resolved_at: str | None


def build_document_event(document: UnmatchedDocument) -> DocumentAnswer:
    """Return a document without an order; no patient details."""
    return {
        "id": str(document.pk),
        "status": document.status,
        "reason": document.reason or None,
        "source": "mail" if document.mail_id else "upload",
        "order_id": str(document.order_id) if document.order_id else None,
        "job_id": str(document.job_id) if document.job_id else None,
        "received_at": document.received_at.isoformat(),
        "resolved_at": document.resolved_at.isoformat()
        if document.resolved_at
        else None,
    }
