"""Turns the parser's values into database rows and notes of the wire."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from reports.models import ReportResult

if TYPE_CHECKING:
    from reports.parser.report import ParsedReport, ParsedResult, RowState


def build_unsaved_result_rows(report: ParsedReport) -> list[ReportResult]:
    """Return parsed results as rows, not saved and without a job."""
    return [
        _row(position, result, report.state_of(position))
        for position, result in enumerate(report.results)
    ]


def serialize_check_notes(report: ParsedReport) -> list[dict[str, object]]:
    """Return check notes as JSON objects, as stored and sent."""
    return [
        {
            "code": note.code,
            "severity": note.severity,
            "rows": list(note.rows),
            "facts": {
                fact.name: fact.text if fact.number is None else fact.number
                for fact in note.facts
            },
        }
        for note in report.notes
    ]


def _row(position: int, result: ParsedResult, state: RowState) -> ReportResult:
    return ReportResult(
        position=position,
        test_name=result.test_name,
        value=result.value,
        type=result.type,
        units=result.units,
        min_reference_range=result.min_reference_range,
        max_reference_range=result.max_reference_range,
        reference_range=result.reference_range,
        source_panel_name=result.source_panel_name,
        sample_type=result.sample_type,
        measurement_kind=result.measurement_kind,
        sensitivity=result.sensitivity,
        loinc_matches=[dataclasses.asdict(match) for match in result.loinc_matches],
        loinc_match_status=result.loinc_match_status,
        interpretation=result.interpretation,
        is_above_max_range=result.is_above_max_range,
        is_below_min_range=result.is_below_min_range,
        provenance=dataclasses.asdict(result.provenance),
        confidence=dataclasses.asdict(result.confidence),
        ucum=result.ucum,
        flag=result.flag,
        state=state,
    )
