"""Observations and DiagnosticReports of other institutions, as their records have them.

Their status is the source's own. Nobody here reviewed them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from accounts.states import Area
from exchange.resources.base import Json, TableSource, list_uuids
from exchange.resources.datatypes import (
    ABSENT,
    LOINC,
    build_absent_reason,
    build_coding,
    build_concept,
    build_meta,
    build_patient_reference,
    build_quantity,
    build_reference,
    drop_empty,
    hash_id_part,
)
from exchange.resources.matching import find_span
from exchange.resources.order_results import (
    LAB_CATEGORY,
    LAB_RESULT_PROFILE,
    LABORATORY,
)
from reports.queries.population import current_outside_reports

if TYPE_CHECKING:
    from collections.abc import Sequence

    from accounts.models import Tenant
    from reports.models import OutsideReport

OBSERVATION_STATUSES = frozenset(
    {
        *("registered", "preliminary", "final", "amended", "corrected", "cancelled"),
        "entered-in-error",
    }
)
REPORT_STATUSES = OBSERVATION_STATUSES | {"partial", "appended"}
_ABSENT = frozenset(
    {
        *("unknown", "asked-unknown", "temp-unknown", "not-asked", "asked-declined"),
        *("masked", "not-applicable", "unsupported", "as-text", "error"),
        *("not-a-number", "negative-infinity", "positive-infinity", "not-performed"),
        "not-permitted",
    }
)
_CODED = "coded"


def build_outside_result_id(report: Any, position: int) -> str:
    """Return the id of a result, the same in every version of its report."""
    result = report.results[position]
    part = hash_id_part(result["record_id"] or str(position))
    return f"outside-{report.first_id.hex}-{part}"


def build_outside_results(
    tenant: Tenant, rows: Sequence[OutsideReport]
) -> list[list[Json]]:
    """Build the Observations of each report."""
    return [
        [_build_result(report, position) for position in range(len(report.results))]
        for report in rows
    ]


def build_code(name: str, codes: list[dict[str, str]], loinc: str) -> Json:
    """Return the codes of a record as its source gave them."""
    codings = [
        build_coding(one.get("system", ""), one.get("code", ""), one.get("display", ""))
        for one in codes
        if one.get("system", "").startswith(("http:", "https:", "urn:"))
    ]
    if loinc and not any(one.get("code") == loinc for one in codings):
        codings.append(build_coding(LOINC, loinc))
    return build_concept(name, *codings)


def write_source_time(text: str, *, instant: bool = False) -> str | None:
    """Return a time as the source wrote it, where FHIR takes it."""
    if find_span(text) is None or (instant and ("T" not in text or text[-1:] == "")):
        return None
    has_zone = text.endswith("Z") or "+" in text or text.count("-") == 3
    return None if "T" in text and not has_zone else text


def _build_result(report: Any, position: int) -> Json:
    result = report.results[position]
    status = result["status"]
    components = [_build_component(one) for one in result.get("components", [])]
    value = {} if components and not result["value"] else _build_value(result)
    return drop_empty(
        {
            "resourceType": "Observation",
            "id": build_outside_result_id(report, position),
            "meta": build_meta(
                report.source_updated_at or report.created_at,
                report.number,
                LAB_RESULT_PROFILE,
            ),
            "status": status if status in OBSERVATION_STATUSES else "unknown",
            "category": LAB_CATEGORY,
            "code": build_code(result["name"], result["codes"], result["loinc"])
            or build_concept(report.name)
            or build_absent_reason("unknown"),
            "subject": build_patient_reference(report.user.uuid),
            "effectiveDateTime": write_source_time(
                result["collected"] or report.collected
            ),
            "performer": _build_performer(report),
            **value,
            "interpretation": [
                build_concept(result["interpretation"] or result["flag"])
            ]
            if result["interpretation"] or result["flag"]
            else None,
            "note": [{"text": result["note"]}] if result["note"] else None,
            "method": build_concept(result["method"]),
            "specimen": {"display": result["specimen"]} if result["specimen"] else None,
            "referenceRange": [
                found for one in result["ranges"] if (found := _build_range(one))
            ],
            "component": components,
        }
    )


def _build_component(result: dict[str, Any]) -> Json:
    return drop_empty(
        {
            "code": build_code(result["name"], result["codes"], result["loinc"])
            or build_absent_reason("unknown"),
            **_build_value(result),
        }
    )


def _build_value(result: dict[str, Any]) -> dict[str, Any]:
    text = result["value"]
    if not text:
        absent = result["absent"]
        if absent in _ABSENT:
            return {"dataAbsentReason": build_concept("", build_coding(ABSENT, absent))}
        return {
            "dataAbsentReason": build_concept(absent)
            if absent
            else build_absent_reason("unknown")
        }
    if result["type"] == "quantity" and result["number"] is not None:
        quantity = build_quantity(
            text, result["number"], result["unit"], ucum=result["ucum"] or None
        )
        if quantity:
            return {"valueQuantity": quantity}
    if result["type"] == _CODED:
        return {"valueCodeableConcept": build_concept(text)}
    return {"valueString": f"{text} {result['unit']}".strip()}


def _build_range(given: dict[str, Any]) -> Json:
    return drop_empty(
        {
            "low": build_quantity("", given["low"], given["unit"]),
            "high": build_quantity("", given["high"], given["unit"]),
            "appliesTo": [build_concept(given["applies_to"])]
            if given["applies_to"]
            else None,
            "text": given["text"],
        }
    )


def _build_performer(report: OutsideReport) -> list[Json] | None:
    name = report.laboratory or report.institution
    return [{"display": name}] if name else None


def build_outside_reports(
    tenant: Tenant, rows: Sequence[OutsideReport]
) -> list[list[Json]]:
    """Build the DiagnosticReport of each outside report."""
    return [[_build_report(report)] for report in rows]


def _build_report(report: Any) -> Json:
    status = report.status
    return drop_empty(
        {
            "resourceType": "DiagnosticReport",
            "id": f"outside-{report.first_id.hex}",
            "meta": build_meta(
                report.source_updated_at or report.created_at, report.number
            ),
            "status": status if status in REPORT_STATUSES else "unknown",
            "category": [LAB_REPORT_CATEGORY],
            "code": build_code(report.name, report.codes, report.loinc)
            or build_absent_reason("unknown"),
            "subject": build_patient_reference(report.user.uuid),
            "effectiveDateTime": write_source_time(report.collected),
            "issued": write_source_time(report.issued, instant=True),
            "performer": _build_performer(report),
            "result": [
                build_reference(
                    "Observation", build_outside_result_id(report, position)
                )
                for position in range(len(report.results))
            ],
            "conclusion": report.conclusion,
        }
    )


LAB_REPORT_CATEGORY = build_concept(
    "",
    build_coding("http://terminology.hl7.org/CodeSystem/v2-0074", "LAB", "Laboratory"),
)
OUTSIDE_RESULTS = TableSource(
    area=Area.REPORTS,
    rows=current_outside_reports,
    build=build_outside_results,
    by_ids=lambda rows, ids: rows.filter(first_id__in=list_uuids(ids, part=1)),
    category=LABORATORY,
    patient="user__uuid",
)
OUTSIDE_REPORTS = TableSource(
    area=Area.REPORTS,
    rows=current_outside_reports,
    build=build_outside_reports,
    by_ids=lambda rows, ids: rows.filter(first_id__in=list_uuids(ids, part=1)),
    category="LAB",
    patient="user__uuid",
)
