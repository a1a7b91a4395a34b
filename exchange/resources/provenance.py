"""Provenance: who read and who signed a value, and where on which page it stands.

The place of a value is a fragment of the page's file, as RFC 8118 writes it: page from
1, then left, top, width and height in points. Source: US Core Provenance.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from accounts.states import Area
from exchange.resources.base import Json, ResourceType, TableSource, list_uuids
from exchange.resources.binary import REPORT, build_binary_url
from exchange.resources.datatypes import (
    build_coding,
    build_concept,
    build_meta,
    build_own_url,
    build_reference,
    drop_empty,
    write_time,
)
from exchange.resources.document_reference import build_report_file_id
from exchange.resources.matching import Kind, Param
from exchange.resources.order_results import build_result_id
from exchange.resources.report_results import build_report_result_id
from labs.queries.population import results_read_from_reports
from reports.queries.population import (
    current_outside_reports,
    report_files,
    signatures_of_reports,
    signed_rows,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from accounts.models import Tenant
    from reports.models import OutsideReport, ReportResult, Signature

_TRANSMITTER = (
    "http://hl7.org/fhir/us/core/CodeSystem/us-core-provenance-participant-type"
)
_AGENT = "http://terminology.hl7.org/CodeSystem/provenance-participant-type"
_PROFILE = "http://hl7.org/fhir/us/core/StructureDefinition/us-core-provenance"
PLACE = "place-on-page"


def build_row_provenances(
    tenant: Tenant, rows: Sequence[ReportResult]
) -> list[list[Json]]:
    """Build the Provenance of each signed row; three queries for all of them."""
    jobs = {row.job_id for row in rows}
    signatures = signatures_of_reports(tenant, jobs)
    files: dict[UUID, list[int]] = defaultdict(list)
    for job_id, position in (
        report_files(tenant)
        .filter(job__in=jobs)
        .order_by("position")
        .values_list("job_id", "position")
    ):
        files[job_id].append(position)
    of_orders = {
        (result.parsed_report_id, result.parsed_position): build_result_id(
            result.version.order, result
        )
        for result in results_read_from_reports(tenant, jobs)
    }
    built: list[list[Json]] = []
    for row in rows:
        signature = signatures.get((row.job_id, row.version))
        target = (
            of_orders.get((row.job_id, row.position))
            if row.job.order_id
            else build_report_result_id(row.job_id, row.position)
        )
        # What an order's report says and the order has not taken is nowhere a result.
        built.append(
            [_build_row(row, signature, target, files[row.job_id])]
            if signature and target
            else []
        )
    return built


def _build_row(
    row: ReportResult, signature: Signature, target: str, files: Sequence[int]
) -> Json:
    place = row.provenance.get("value") or row.provenance.get("name")
    reader = {"display": "Assay, reading of lab reports"}
    return drop_empty(
        {
            "resourceType": "Provenance",
            "id": f"row-{row.job_id.hex}-{row.position}",
            "meta": build_meta(signature.signed_at, row.version, _PROFILE),
            "target": [build_reference("Observation", target)],
            "recorded": write_time(signature.signed_at),
            "agent": [
                _build_agent("assembler", "Assembler", reader),
                _build_agent(
                    "verifier", "Verifier", {"display": signature.member_label}
                ),
            ],
            "entity": [_build_entity(row, place, files)] if files else None,
        }
    )


def _build_entity(
    row: ReportResult, place: dict[str, Any] | None, files: Sequence[int]
) -> Json:
    # Photos are a page each, a PDF holds all of them.
    page = place["page"] if place else 1
    is_page_a_file = len(files) > 1 and page <= len(files)
    position = files[page - 1] if is_page_a_file else files[0]
    url = build_binary_url(REPORT, row.job_id, position)
    fragment = _write_box(place, 1 if is_page_a_file else page) if place else ""
    return {
        "extension": [
            {
                "url": build_own_url(f"StructureDefinition/{PLACE}"),
                "valueUrl": f"{url}#{fragment}" if fragment else url,
            }
        ],
        "role": "source",
        "what": build_reference(
            "DocumentReference", build_report_file_id(row.job_id, position)
        ),
    }


def _write_box(place: dict[str, Any], page: int) -> str:
    across = [point[0] for point in place["polygon"]]
    down = [point[1] for point in place["polygon"]]
    box = (min(across), min(down), max(across) - min(across), max(down) - min(down))
    return f"page={page}&viewrect=" + ",".join(f"{side:g}" for side in box)


def _build_agent(code: str, name: str, who: Json) -> Json:
    return {"type": build_concept("", build_coding(_AGENT, code, name)), "who": who}


def build_outside_provenances(
    tenant: Tenant, rows: Sequence[OutsideReport]
) -> list[list[Json]]:
    """Build the Provenance of each outside report: who made it, by what source."""
    return [[_build_outside(report)] for report in rows]


def _build_outside(report: Any) -> Json:
    author = report.institution or report.laboratory
    recorded = report.received_at or report.created_at
    who = {"display": author or report.provider}
    return {
        "resourceType": "Provenance",
        "id": f"outside-{report.first_id.hex}",
        "meta": build_meta(report.created_at, report.number, _PROFILE),
        "target": [
            build_reference("DiagnosticReport", f"outside-{report.first_id.hex}")
        ],
        "recorded": write_time(recorded),
        "agent": [
            _build_agent("author", "Author", who),
            {
                "type": build_concept(
                    "", build_coding(_TRANSMITTER, "transmitter", "Transmitter")
                ),
                "who": {"display": report.provider},
            },
        ],
    }


SIGNED_ROWS = TableSource(
    area=Area.REPORTS,
    rows=signed_rows,
    build=build_row_provenances,
    by_ids=lambda rows, ids: rows.filter(job__in=list_uuids(ids, part=1)),
    patient="job__user__uuid",
)
PROVENANCE = ResourceType(
    name="Provenance",
    sources=(
        SIGNED_ROWS,
        TableSource(
            area=Area.REPORTS,
            rows=current_outside_reports,
            build=build_outside_provenances,
            by_ids=lambda rows, ids: rows.filter(first_id__in=list_uuids(ids, part=1)),
            patient="user__uuid",
        ),
    ),
    params=(
        Param("patient", Kind.REFERENCE, ()),
        Param("target", Kind.REFERENCE, ("target",)),
        Param("recorded", Kind.DATE, ("recorded",)),
    ),
    references={"target": "target"},
    profiles=(_PROFILE,),
)
