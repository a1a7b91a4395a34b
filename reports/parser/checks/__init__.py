"""Checks of a parsed report against itself: notes, never changes of a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reports.parser.checks.quantities import (
    build_numeric_readings,
    find_likely_catalogue_entry,
)
from reports.parser.loinc.decision import withhold_loinc_code
from reports.parser.report import Metadata, Note, NoteCode, ParsedResult

from .arithmetic import check_result_arithmetic
from .flags import check_flags_against_ranges
from .header import check_dates_not_after, check_header_patient_and_dates
from .plausibility import check_value_plausibility, choose_likely_unit
from .repeats import check_repeated_tests

__all__ = [
    "check_dates_not_after",
    "choose_likely_unit",
    "find_likely_catalogue_entry",
    "require_review_for_other_patients",
    "run_report_checks",
]


def run_report_checks(
    *,
    metadata: Metadata,
    by_page: Mapping[int, Metadata],
    results: Sequence[ParsedResult],
    decimal_comma: bool,
) -> tuple[Note, ...]:
    """Run all checks on a report; return the notes, the worst first.

    by_page: the header of each page that has one, by number. Source: Ours; a
    reviewer is shown each note beside its rows.
    """
    readings = build_numeric_readings(results, decimal_comma=decimal_comma)
    doubts = check_value_plausibility(readings, results)
    # Of a number whose unit is in doubt nothing can be reckoned.
    doubted = {
        position
        for note in doubts
        if note.code is NoteCode.UNIT_SUSPECT
        for position in note.rows
    }
    sound = [r for r in readings if r.position not in doubted]
    return (
        *check_header_patient_and_dates(metadata, by_page, results),
        *check_result_arithmetic(sound),
        *doubts,
        *check_flags_against_ranges(results),
        *check_repeated_tests(results),
    )


def require_review_for_other_patients(
    results: Sequence[ParsedResult], notes: Sequence[Note]
) -> tuple[ParsedResult, ...]:
    """Require review of the matches of rows under another patient's name.

    Source: Ours; the wire of contract 7.4 has no other sign for a row in doubt, and
    a job asks for review only as it was submitted (7.2).
    """
    held = {
        n for note in notes if note.code is NoteCode.SECOND_PERSON for n in note.rows
    }
    return tuple(
        withhold_loinc_code(result) if n in held else result
        for n, result in enumerate(results)
    )
