"""Parses a reviewer's text as the parser would, and runs the checks on rows.

Nothing here is stored.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any

from portal.lib.units import normalize_unit, parse_printed_unit
from reports.operations.reading.parsed_rows import serialize_check_notes
from reports.operations.reading.parsed_values import build_parsed_value_from_json
from reports.parser.assembly.interpretation import interpret_result_against_range
from reports.parser.checks import (
    choose_likely_unit,
    find_likely_catalogue_entry,
    run_report_checks,
)
from reports.parser.checks.critical import mark_critical_result
from reports.parser.loinc import rank_loinc_matches
from reports.parser.report import (
    Confidence,
    Interpretation,
    LoincMatch,
    LoincMatchStatus,
    MeasurementKind,
    Metadata,
    NoteCode,
    ParsedReport,
    ParsedResult,
    ResultType,
    RowState,
    SampleType,
)
from reports.parser.text.fields import find_unit_in_range
from reports.parser.text.ranges import Bounds, parse_range_bounds
from reports.parser.text.values import (
    has_decimal_commas,
    infer_value_type,
    parse_printed_number,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reports.models import ReviewRow
    from reports.parser.checks.critical import CriticalCriteria
    from reports.parser.report import Note

# What is said of the header no change of a row takes back.
_OF_THE_HEADER = {
    NoteCode.SECOND_PERSON,
    NoteCode.DATE_IN_FUTURE,
    NoteCode.DATES_OUT_OF_ORDER,
    NoteCode.HIDDEN_TEXT,
}


@dataclass(frozen=True, slots=True)
class RowText:
    """The texts of a row that a reviewer types; empty or None if not printed."""

    test_name: str
    value: str
    units: str | None = None
    reference_range: str | None = None
    flag: str | None = None
    source_panel_name: str | None = None
    sample_type: SampleType | None = None


def convert_stored_row_to_parsed_result(row: ReviewRow) -> ParsedResult:
    """Return a stored row as the parser's value type."""
    found: ParsedResult = build_parsed_value_from_json(ParsedResult, row.values)
    return found


def parse_typed_row_text(
    text: RowText,
    *,
    before: ParsedResult,
    metadata: Metadata,
    criteria: CriticalCriteria,
    decimal_comma: bool,
) -> ParsedResult:
    """Parse the text that a reviewer typed into a row; its position is unchanged.

    LOINC candidates are sought anew where name, unit, panel or specimen changed; bounds
    where the range or the unit did. Confidence in what was changed is gone: it told of
    the machine. Source: Contract 7.4; Ours (workflow D1).
    """
    named = ("test_name", "units", "source_panel_name", "sample_type")
    matches, status = before.loinc_matches, before.loinc_match_status
    kind = before.measurement_kind
    if any(getattr(text, name) != getattr(before, name) for name in named):
        verdict = rank_loinc_matches(
            name=text.test_name,
            units=text.units,
            value=text.value,
            panel=text.source_panel_name,
            sample_type=text.sample_type,
        )
        matches, status = verdict.matches, verdict.status
        kind = verdict.measurement_kind
    bounds = _bounds(text, before, metadata, decimal_comma=decimal_comma)
    judged = interpret_result_against_range(
        value=text.value,
        bounds=bounds,
        has_range=text.reference_range is not None,
        flag=text.flag,
        decimal_comma=decimal_comma,
    )
    readings = parse_printed_unit(text.units) if text.units else ()
    number = parse_printed_number(text.value, decimal_comma=decimal_comma)
    ucum = readings[0] if readings else None
    if len(readings) > 1 and number is not None:
        entry = find_likely_catalogue_entry(matches, status)
        ucum = choose_likely_unit(readings, entry=entry, number=number)
    read = replace(
        before,
        test_name=text.test_name,
        value=text.value,
        type=infer_value_type(text.value),
        units=text.units,
        min_reference_range=bounds.low,
        max_reference_range=bounds.high,
        reference_range=text.reference_range,
        source_panel_name=text.source_panel_name,
        sample_type=text.sample_type,
        measurement_kind=kind,
        sensitivity=before.sensitivity if text.value == before.value else None,
        loinc_matches=matches,
        loinc_match_status=status,
        interpretation=judged.interpretation,
        is_above_max_range=judged.above,
        is_below_min_range=judged.below,
        confidence=_left_of(before, text),
        ucum=ucum,
        flag=text.flag,
    )
    return mark_critical_result(read, criteria=criteria, decimal_comma=decimal_comma)


def uses_report_decimal_commas(rows: Sequence[ReviewRow]) -> bool:
    """Return whether the report's numbers use decimal commas only."""
    texts = [f"{r.values['value']} {r.values['reference_range'] or ''}" for r in rows]
    return has_decimal_commas(texts)


def run_checks_on_review_rows(
    rows: Sequence[ReviewRow], *, notes: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Run the checks on the rows; notes on the header are taken from `notes`.

    Excluded rows take no part. Rows are named by position in the review.
    """
    included = [row for row in rows if row.is_included]
    found = run_report_checks(
        metadata=Metadata(),
        by_page={},
        results=[_checked(row) for row in included],
        decimal_comma=uses_report_decimal_commas(included),
    )
    report = ParsedReport(metadata=Metadata(), results=(), pages=0, notes=found)
    fresh: list[dict[str, Any]] = [
        {**note, "rows": [included[place].position for place in _places(note)]}
        for note in serialize_check_notes(report)
    ]
    return [note for note in notes if note["code"] in _OF_THE_HEADER] + fresh


def recheck_changed_results(report: ParsedReport) -> tuple[Note, ...]:
    """Return the notes on a report whose results changed after parsing.

    What was said of its header stays.
    """
    texts = [f"{one.value} {one.reference_range or ''}" for one in report.results]
    found = run_report_checks(
        metadata=Metadata(),
        by_page={},
        results=report.results,
        decimal_comma=has_decimal_commas(texts),
    )
    header = [note for note in report.notes if note.code in _OF_THE_HEADER]
    return (*header, *found)


def get_row_review_state(notes: Sequence[dict[str, Any]], position: int) -> str:
    """Return the review state that the notes give one row."""
    severities = {note["severity"] for note in notes if position in note["rows"]}
    for state in (RowState.CONTRADICTION, RowState.LOOK):
        if state in severities:
            return state.value
    return RowState.AUTO.value


def list_row_check_notes(
    notes: Sequence[dict[str, Any]], position: int
) -> set[tuple[Any, ...]]:
    """Return the notes on one row, keyed by code, severity and rows."""
    return {
        (str(note["code"]), str(note["severity"]), tuple(note["rows"]))
        for note in notes
        if position in note["rows"]
    }


def _checked(row: ReviewRow) -> ParsedResult:
    """A row with all that a check asks of it, and no more.

    convert_stored_row_to_parsed_result proves every part of what it reads, which for a
    long report takes longer than all else that saving a row does; a stored row was
    proved when it was stored.
    """
    values = row.values
    kind, specimen = values["type"], values["sample_type"]
    return ParsedResult(
        test_name=values["test_name"],
        value=values["value"],
        type=ResultType(kind) if kind else None,
        units=values["units"],
        min_reference_range=values["min_reference_range"],
        max_reference_range=values["max_reference_range"],
        reference_range=values["reference_range"],
        source_panel_name=values["source_panel_name"],
        sample_type=SampleType(specimen) if specimen else None,
        measurement_kind=MeasurementKind(values["measurement_kind"])
        if values["measurement_kind"]
        else None,
        loinc_matches=tuple(
            LoincMatch(
                loinc_code=match["loinc_code"],
                loinc_name=match["loinc_name"],
                display_name=match["display_name"],
                aliases=(),
                confidence_score=match["confidence_score"],
            )
            for match in values["loinc_matches"]
        ),
        loinc_match_status=LoincMatchStatus(values["loinc_match_status"]),
        interpretation=Interpretation(values["interpretation"]),
        is_above_max_range=values["is_above_max_range"],
        is_below_min_range=values["is_below_min_range"],
        ucum=values["ucum"],
        flag=values["flag"],
    )


def _places(note: dict[str, object]) -> list[int]:
    rows = note["rows"]
    return list(rows) if isinstance(rows, list) else []


def _bounds(
    text: RowText, before: ParsedResult, metadata: Metadata, *, decimal_comma: bool
) -> Bounds:
    read = parse_range_bounds(
        text.reference_range or "",
        sex=metadata.gender,
        age=_age(metadata),
        decimal_comma=decimal_comma,
    )
    if (text.reference_range, text.units) == (before.reference_range, before.units):
        # The machine may have known an age that the header's dates don't tell.
        return replace(
            read, low=before.min_reference_range, high=before.max_reference_range
        )
    own = find_unit_in_range(text.reference_range or "")
    scales = [normalize_unit(unit) for unit in (own, text.units) if unit]
    if len(scales) == 2 and all(scales) and scales[0] != scales[1]:
        return Bounds()
    return read


def _age(metadata: Metadata) -> float | None:
    """Years at the collection; None where the header is silent."""
    if metadata.age is not None:
        return metadata.age
    seen = metadata.date_collected or metadata.date_reported
    if not (metadata.dob and seen):
        return None
    days = (date.fromisoformat(seen) - date.fromisoformat(metadata.dob)).days
    return days / 365.25 if days >= 0 else None


def _left_of(before: ParsedResult, text: RowText) -> Confidence:
    confidence = before.confidence
    written = (text.test_name, text.value) == (before.test_name, before.value)
    same_unit = text.units == before.units
    same_range = text.reference_range == before.reference_range
    return Confidence(
        text=confidence.text if written else None,
        row=confidence.row,
        loinc=confidence.loinc if written and same_unit else None,
        unit=confidence.unit if same_unit else None,
        range=confidence.range if same_range else None,
        overall=confidence.overall if written and same_unit and same_range else None,
    )
