"""Observations of the results that a lab reported of an order.

The id of a result is the same in every version of the order's results; what a lab could
not report is an Observation without a value. Source: US Core Laboratory Result
Observation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from accounts.states import Area
from exchange.resources.base import Json, TableSource, list_uuids
from exchange.resources.datatypes import (
    LOINC,
    US_CORE,
    build_absent_reason,
    build_category,
    build_coding,
    build_compared_quantity,
    build_concept,
    build_interpretation,
    build_meta,
    build_own_url,
    build_patient_reference,
    build_quantity,
    build_reference,
    build_reference_range,
    drop_empty,
    hash_id_part,
    write_time,
)
from exchange.resources.organization import build_lab_reference
from exchange.resources.specimen import build_specimen_id
from labs.queries.population import current_missing_results, current_results
from labs.queries.results.results import get_result_identity_key
from labs.states.catalogue import ResultType
from labs.states.results import FailureType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from accounts.models import Tenant
    from labs.gateways.results import ReportedGap, ReportedResult
    from labs.models import MissingResult, Order, Result, ResultVersion

LABORATORY = "laboratory"
LAB_RESULT_PROFILE = f"{US_CORE}observation-lab"
LAB_CATEGORY = build_category(LABORATORY, "Laboratory")
# Codes of FHIR's data-absent-reason; a failure that is not here was not performed.
_ABSENT = {
    FailureType.UNKNOWN.value: "unknown",
    FailureType.INTERNAL_LAB.value: "error",
    FailureType.NON_FAILURE.value: "not-applicable",
}


def build_result_id(
    order: Order, row: Result | MissingResult | ReportedResult | ReportedGap
) -> str:
    """Return the id of a result or of what is missing, the same in all versions."""
    return f"result-{order.pk.hex}-{hash_id_part(*get_result_identity_key(row))}"


def build_results(tenant: Tenant, rows: Sequence[Result]) -> list[list[Json]]:
    """Build the Observation of each result."""
    return [[_build_result(row)] for row in rows]


def build_missing_results(
    tenant: Tenant, rows: Sequence[MissingResult]
) -> list[list[Json]]:
    """Build an Observation without a value for each missing result."""
    return [[_build_missing_result(row)] for row in rows]


def _build_result(row: Result) -> Json:
    version, order = row.version, row.version.order
    collected = row.observed_at or version.collected_at
    quantity = build_value(
        row.type, row.result, row.value, row.unit, is_number=ResultType.NUMERIC
    )
    return drop_empty(
        {
            **_build_frame(row, order, version),
            "status": "preliminary" if row.is_preliminary else "final",
            "effectiveDateTime": write_time(collected),
            "issued": write_time(row.reported_at),
            "performer": _build_performers(row, version, order),
            **quantity,
            "interpretation": build_interpretation(
                row.interpretation,
                above=row.is_above_max_range,
                below=row.is_below_min_range,
                flag=row.source_interpretation,
            ),
            "note": [{"text": row.notes}] if row.notes else None,
            "specimen": build_reference(
                "Specimen", build_specimen_id(order, row.source_sample_id)
            )
            if row.source_sample_id
            else None,
            "referenceRange": build_reference_range(
                row.reference_range, row.min_range_value, row.max_range_value, row.unit
            ),
        }
    )


def _build_missing_result(row: MissingResult) -> Json:
    version, order = row.version, row.version.order
    return drop_empty(
        {
            **_build_frame(row, order, version),
            "status": "cancelled",
            "effectiveDateTime": write_time(version.collected_at),
            "issued": write_time(version.reported_at),
            "performer": [build_lab_reference(order.lab)],
            "dataAbsentReason": build_absent_reason(
                _ABSENT.get(row.failure_type, "not-performed")
            ),
            "note": [{"text": row.note}] if row.note else None,
        }
    )


def _build_frame(
    row: Result | MissingResult, order: Order, version: ResultVersion
) -> Json:
    system = build_own_url(f"lab/{order.lab.slug}/result")
    return {
        "resourceType": "Observation",
        "id": build_result_id(order, row),
        "meta": build_meta(version.created_at, version.number, LAB_RESULT_PROFILE),
        "basedOn": [build_reference("ServiceRequest", order.pk)],
        "category": LAB_CATEGORY,
        "code": build_concept(
            row.name,
            build_coding(LOINC, row.loinc),
            build_coding(system, row.provider_id, row.name),
        ),
        "subject": build_patient_reference(order.user.uuid),
    }


def _build_performers(row: Result, version: ResultVersion, order: Order) -> list[Json]:
    performed = row.performing_laboratory or version.laboratory
    here = build_lab_reference(order.lab)
    if performed and performed != order.lab.name:
        return [here, {"display": performed}]
    return [here]


def build_value(
    type_: str,
    text: str,
    value: float | None,
    unit: str,
    *,
    is_number: str,
    ucum: str | None = None,
) -> dict[str, Any]:
    """Return the value[x] of a result as printed, or why there is none."""
    if not text.strip() and value is None:
        return {"dataAbsentReason": build_absent_reason("unknown")}
    quantity = (
        build_quantity(text, value, unit, ucum=ucum)
        if type_ == is_number or value is not None
        else build_compared_quantity(text, unit, ucum)
    )
    if quantity:
        return {"valueQuantity": quantity}
    if type_ == ResultType.CODED_VALUE:
        return {"valueCodeableConcept": build_concept(text)}
    return {"valueString": text}


ORDER_RESULTS = TableSource(
    area=Area.ORDERS,
    rows=current_results,
    build=build_results,
    by_ids=lambda rows, ids: rows.filter(version__order__in=list_uuids(ids, part=1)),
    category=LABORATORY,
    patient="version__order__user__uuid",
    updated="version__created_at",
)
MISSING_RESULTS = TableSource(
    area=Area.ORDERS,
    rows=current_missing_results,
    build=build_missing_results,
    by_ids=lambda rows, ids: rows.filter(version__order__in=list_uuids(ids, part=1)),
    category=LABORATORY,
    patient="version__order__user__uuid",
    updated="version__created_at",
)
