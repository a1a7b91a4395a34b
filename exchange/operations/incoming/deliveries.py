"""Results of an order made of FHIR: what a lab's message would have said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labs.gateways.results import (
    ReportedGap,
    ReportedResult,
    ReportedSample,
    ResultDelivery,
)
from labs.states.catalogue import ResultType
from labs.states.results import FailureType, ResultStatus
from users.wearables.formats.fhir.lab_reports import read_lab_result
from users.wearables.formats.fhir.values import (
    LOINC_SYSTEM,
    parse_fhir_time,
    read_dict,
    read_dicts,
    read_text,
)

if TYPE_CHECKING:
    from datetime import datetime

    from exchange.operations.incoming.bundles import SentReport
    from exchange.resources.base import Json

_FINISHED = frozenset({"final", "amended", "corrected", "appended"})
_CORRECTED = frozenset({"amended", "corrected"})
_WITHDRAWN = frozenset({"cancelled", "entered-in-error"})
_PRELIMINARY = frozenset({"registered", "preliminary"})
# FHIR's data-absent-reason, where one of ours says the same.
_FAILURES = {
    "error": FailureType.INTERNAL_LAB,
    "not-applicable": FailureType.NON_FAILURE,
}


def build_delivery_from_fhir(
    report: SentReport, *, received_at: datetime
) -> ResultDelivery:
    """Build an order's delivery of a DiagnosticReport and its Observations.

    A final, amended or corrected report says that nothing more is expected; one that
    was cancelled or entered in error withdraws its results. A time that is missing is
    `received_at`.
    """
    resource = report.resource
    status = resource["status"]
    rows = [row for rows in list_reported_rows(report).values() for row in rows]
    return ResultDelivery(
        status=ResultStatus.FINAL if status in _FINISHED else ResultStatus.PARTIAL,
        reported_at=parse_fhir_time(read_text(resource.get("issued"))) or received_at,
        results=tuple(one for one in rows if isinstance(one, ReportedResult)),
        missing=tuple(one for one in rows if isinstance(one, ReportedGap)),
        samples=tuple(
            ReportedSample(sample_id, collected_at=_read_collection(sample))
            for sample in report.samples.values()
            if (sample_id := _read_sample_id(sample))
        ),
        is_correction=status in _CORRECTED
        or any(one["status"] in _CORRECTED for one in report.results.values()),
        laboratory=report.laboratory,
        collected_at=parse_fhir_time(read_text(resource.get("effectiveDateTime"))),
    )


def list_reported_rows(
    report: SentReport,
) -> dict[int, list[ReportedResult | ReportedGap]]:
    """Return the rows of each Observation of a report, by its index in the Bundle."""
    is_void = report.resource["status"] in _WITHDRAWN
    return {
        index: _build_rows(one, report, is_void=is_void)
        for index, one in report.results.items()
    }


def _build_rows(
    resource: Json, report: SentReport, *, is_void: bool
) -> list[ReportedResult | ReportedGap]:
    """Return the rows of an Observation: itself, or each of its components."""
    read = read_lab_result(resource)
    parts: list[tuple[dict[str, Any], str]] = [(read, "")]
    if read["components"] and not read["value"]:
        parts = [
            ({**read, **one, "name": f"{read['name']}, {one['name']}"}, str(number))
            for number, one in enumerate(read["components"], 1)
        ]
    sample = read_text(read_dict(resource.get("specimen")).get("reference"))
    return [
        _build_row(
            one,
            sub_id,
            status="entered-in-error" if is_void else resource["status"],
            sample_id=_read_sample_id(report.samples.get(sample, {})),
        )
        for one, sub_id in parts
    ]


def _build_row(
    read: dict[str, Any], sub_id: str, *, status: str, sample_id: str
) -> ReportedResult | ReportedGap:
    codes = [one for one in read["codes"] if one["system"] != LOINC_SYSTEM]
    same: dict[str, Any] = {
        "name": read["name"],
        "provider_id": codes[0]["code"] if codes else "",
        "loinc": read["loinc"],
        "sub_id": sub_id,
    }
    if status in _WITHDRAWN or not read["value"]:
        failure = _FAILURES.get(read["absent"], FailureType.UNKNOWN)
        return ReportedGap(failure_type=failure, note=read["note"], **same)
    ranges = [one for one in read["ranges"] if not one["applies_to"]] or read["ranges"]
    reference: dict[str, Any] = (
        ranges[0] if ranges else {"text": "", "low": None, "high": None}
    )
    is_number = read["type"] == "quantity" and read["number"] is not None
    return ReportedResult(
        text=read["value"],
        type=ResultType.NUMERIC if is_number else "",
        unit=read["unit"],
        reference_range=reference["text"],
        low=_float(reference["low"]),
        high=_float(reference["high"]),
        flag=read["flag"],
        notes=read["note"],
        sample_id=sample_id,
        observed_at=parse_fhir_time(read["collected"]),
        is_preliminary=status in _PRELIMINARY,
        **same,
    )


def _read_sample_id(sample: Json) -> str:
    identifiers = [
        read_dict(sample.get("accessionIdentifier")),
        *read_dicts(sample.get("identifier")),
    ]
    found = (read_text(one.get("value")) for one in identifiers)
    return next(filter(None, found), "")


def _read_collection(sample: Json) -> datetime | None:
    collection = read_dict(sample.get("collection"))
    return parse_fhir_time(read_text(collection.get("collectedDateTime")))


def _float(number: Any) -> float | None:
    return None if number is None else float(number)
