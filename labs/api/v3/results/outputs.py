"""Response shapes of results, and their builders.

All values of the metadata are text. Contract 6.15, D9, D10.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from labs.api.v3.orders.outputs import TransactionAnswer
from labs.queries.appointments.zip_codes import find_zip_code_location
from labs.states.catalogue import ResultType
from labs.states.orders import Interpretation
from labs.states.results import FailureType, ResultStatus

if TYPE_CHECKING:
    from collections.abc import Mapping

    from labs.models import MissingResult, Result, SampleData
    from labs.queries.results.results import ResultSet

# The key of the laboratory's number holds a hash sign.
ResultMetadata = TypedDict(
    "ResultMetadata",
    {
        "age": str,
        "dob": str,
        "patient": str,
        "date_reported": str,
        "specimen_number": str,
        "clia_#": str | None,
        "provider": str | None,
        "laboratory": str | None,
        "date_collected": str | None,
        "date_received": str | None,
        "status": Annotated[str, ResultStatus] | None,
        "interpretation": Annotated[str, Interpretation] | None,
        "patient_id": str | None,
        "account_id": str | None,
    },
)


class SourceMarker(TypedDict):
    """The ordered marker that a result belongs to."""

    marker_id: int
    name: str
    slug: str
    provider_id: str | None


class BiomarkerResult(TypedDict):
    """A result; `type` repeats `result_type`."""

    name: str
    slug: str | None
    result: str
    result_type: Annotated[str, ResultType]
    type: Annotated[str, ResultType]
    unit: str | None
    timestamp: datetime | None
    notes: str | None
    reference_range: str | None
    min_range_value: float | None
    max_range_value: float | None
    is_above_max_range: bool | None
    is_below_min_range: bool | None
    interpretation: Annotated[str, Interpretation] | None
    source_interpretation: str | None
    loinc: str | None
    loinc_slug: str | None
    provider_id: str | None
    source_markers: list[SourceMarker]
    performing_laboratory: str | None
    source_sample_id: str | None


class MissingResultAnswer(TypedDict):
    """A result the lab could not report."""

    name: str
    slug: str
    inferred_failure_type: Annotated[str, FailureType]
    note: str | None
    loinc: str | None
    loinc_slug: str | None
    provider_id: str | None
    source_markers: list[SourceMarker]


class LabInstant(TypedDict):
    """A time with the lab's offset in seconds east of UTC."""

    timestamp: datetime
    timezone_offset: int


class LabAddress(TypedDict):
    """The address of a laboratory."""

    first_line: str
    second_line: str | None
    city: str
    state: str
    zip: str
    country: str
    access_notes: str | None


class PerformingLaboratory(TypedDict):
    """The laboratory that performed a test."""

    name: str
    phone_number: str | None
    medical_director: str | None
    address: LabAddress | None


class ClinicalInformation(TypedDict):
    """Clinical information sent to the lab with the sample."""

    fasting: bool | None
    notes: str | None
    information: str | None
    total_volume: str | None


class SampleAnswer(TypedDict):
    """A sample; a time is text where the lab gave no offset."""

    sample_id: str | None
    control_number: str | None
    date_collected: LabInstant | str | None
    date_received: LabInstant | str | None
    date_reported: LabInstant | str | None
    performing_laboratories: dict[str, PerformingLaboratory] | None
    clinical_information: ClinicalInformation | None


class LabResults(TypedDict):
    """The results of an order, or the combined results of a transaction."""

    metadata: ResultMetadata
    results: list[BiomarkerResult]
    missing_results: list[MissingResultAnswer] | None
    sample_information: dict[str, SampleAnswer] | None
    order_transaction: TransactionAnswer | None


def build_lab_results(found: ResultSet, transaction: TransactionAnswer) -> LabResults:
    """Build current results with their transaction."""
    return {
        "metadata": build_result_metadata(found),
        "results": [_build_result(row) for row in found.rows],
        "missing_results": [_build_missing_result(gap) for gap in found.gaps],
        "sample_information": {
            sample.sample_id: _build_sample(sample) for sample in found.samples
        },
        "order_transaction": transaction,
    }


def build_result_metadata(found: ResultSet) -> ResultMetadata:
    """Build the patient and lab of results; age in years at the draw."""
    order, version = found.order, found.version
    born = order.patient_dob
    physician = order.physician or {}
    doctor = f"{physician.get('first_name', '')} {physician.get('last_name', '')}"
    account = order.lab_account
    return {
        "age": str(_age_at(born, version.collected_at or version.reported_at))
        if born
        else "",
        "dob": str(born or ""),
        "patient": order.patient_name,
        "date_reported": version.reported_at.isoformat(),
        "specimen_number": order.sample_id,
        "clia_#": version.clia_number or None,
        "provider": doctor.strip() or None,
        "laboratory": version.laboratory or None,
        "date_collected": _instant_text(version.collected_at),
        "date_received": _instant_text(version.received_at),
        "status": found.status,
        "interpretation": found.interpretation,
        "patient_id": str(order.user.uuid),
        "account_id": account.provider_account_id if account else None,
    }


def _build_result(row: Result) -> BiomarkerResult:
    return {
        "name": row.name,
        "slug": row.slug or None,
        "result": row.result,
        "result_type": row.type,
        "type": row.type,
        "unit": row.unit or None,
        "timestamp": row.observed_at,
        "notes": _result_notes(row) or None,
        "reference_range": row.reference_range or None,
        "min_range_value": row.min_range_value,
        "max_range_value": row.max_range_value,
        "is_above_max_range": row.is_above_max_range,
        "is_below_min_range": row.is_below_min_range,
        "interpretation": row.interpretation or None,
        "source_interpretation": row.source_interpretation or None,
        "loinc": row.loinc or None,
        "loinc_slug": row.loinc_slug or None,
        "provider_id": row.provider_id or None,
        "source_markers": row.source_markers,
        "performing_laboratory": row.performing_laboratory or None,
        "source_sample_id": row.source_sample_id or None,
    }


def _result_notes(row: Result) -> str:
    """Return the lab's notes, after the text itself if it is no number (6.15)."""
    if row.type not in {ResultType.RANGE, ResultType.COMMENT}:
        return row.notes
    return "\n".join(text for text in (row.result, row.notes) if text)


def _build_missing_result(gap: MissingResult) -> MissingResultAnswer:
    return {
        "name": gap.name,
        "slug": gap.slug,
        "inferred_failure_type": gap.failure_type,
        "note": gap.note or None,
        "loinc": gap.loinc or None,
        "loinc_slug": gap.loinc_slug or None,
        "provider_id": gap.provider_id or None,
        "source_markers": gap.source_markers,
    }


def _build_sample(sample: SampleData) -> SampleAnswer:
    return {
        "sample_id": sample.sample_id,
        "control_number": sample.control_number or None,
        "date_collected": _build_instant(sample.collected_at, sample.collected_offset),
        "date_received": _build_instant(sample.received_at, sample.received_offset),
        "date_reported": _build_instant(sample.reported_at, sample.reported_offset),
        "performing_laboratories": {
            code: _build_laboratory(laboratory)
            for code, laboratory in sample.laboratories.items()
        }
        or None,
        "clinical_information": _build_clinical_information(sample),
    }


def _build_laboratory(laboratory: Mapping[str, Any]) -> PerformingLaboratory:
    return {
        "name": laboratory["name"],
        "phone_number": laboratory.get("phone_number") or None,
        "medical_director": laboratory.get("medical_director") or None,
        "address": _build_address(laboratory.get("address") or {}),
    }


def _build_address(address: Mapping[str, Any]) -> LabAddress | None:
    """Build an address, the state from the ZIP code; None where a part is missing.

    The client refuses the whole answer for an address that lacks a part.
    """
    zip_code = str(address.get("zip") or address.get("zip_code") or "")
    place = find_zip_code_location(zip_code)
    state = address.get("state") or (place.state if place else "")
    if not (address.get("first_line") and address.get("city") and state):
        return None
    return {
        "first_line": address["first_line"],
        "second_line": address.get("second_line") or None,
        "city": address["city"],
        "state": state,
        "zip": zip_code,
        "country": address.get("country") or "US",
        "access_notes": None,
    }


def _build_clinical_information(sample: SampleData) -> ClinicalInformation | None:
    information: ClinicalInformation = {
        "fasting": sample.fasting,
        "notes": sample.notes or None,
        "information": sample.information or None,
        "total_volume": sample.total_volume or None,
    }
    return None if all(value is None for value in information.values()) else information


def _build_instant(at: datetime | None, offset: int | None) -> LabInstant | str | None:
    if at is None or offset is None:
        return _instant_text(at)
    return {"timestamp": at, "timezone_offset": offset}


def _instant_text(at: datetime | None) -> str | None:
    return at.isoformat() if at else None


def _age_at(born: date, at: datetime) -> int:
    day = at.date()
    return day.year - born.year - ((day.month, day.day) < (born.month, born.day))
