"""A person's text read as the parser would."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reports.models import ReviewRow
from reports.operations.review.checks import (
    RowText,
    _checked,
    convert_stored_row_to_parsed_result,
    get_row_review_state,
    list_row_check_notes,
    parse_typed_row_text,
    run_checks_on_review_rows,
    uses_report_decimal_commas,
)
from reports.operations.review.saving import convert_row_values_as_stored
from reports.parser.checks.critical import CriticalCriteria, load_critical_limits
from reports.parser.report import Confidence, Metadata, Provenance
from tests.factories.reports import make_parsed_result


def row(position=0, **changes):
    return ReviewRow(
        position=position,
        values=convert_row_values_as_stored(make_parsed_result(**changes)),
        decision=changes.pop("decision", "undecided"),
    )


def read(*, comma=False, metadata=None, **typed):
    text = RowText(**{"test_name": "Glucose", "units": "mg/dL", **typed})
    return parse_typed_row_text(
        text,
        before=make_parsed_result(),
        metadata=metadata or Metadata(),
        criteria=CriticalCriteria(load_critical_limits()),
        decimal_comma=comma,
    )


@pytest.mark.parametrize(
    ("value", "kind", "interpretation"),
    [
        ("<5", "range", "critical"),
        ("≥160", "range", "abnormal"),
        ("85", "numeric", "normal"),
        ("not done", "comment", "unknown"),
    ],
)
def test_a_value_is_read_in_every_written_form(value, kind, interpretation):
    result = read(value=value, reference_range="70 - 99")

    assert (result.type, result.interpretation) == (kind, interpretation)


def test_a_comma_is_the_decimal_mark_of_a_report_that_uses_it():
    assert uses_report_decimal_commas([row(value="6,73"), row(value="140")])
    assert not uses_report_decimal_commas([row(value="6,73"), row(value="1.5")])
    result = read(value="5,100", reference_range="4,5 - 6,5", comma=True)
    assert (result.min_reference_range, result.interpretation) == (4.5, "normal")


def test_a_range_by_age_is_read_by_the_header():
    metadata = Metadata(dob="1950-01-01", date_collected="2026-01-01", gender="male")

    result = read(
        value="85", reference_range="Male: 60 - 80; Female: 50 - 70", metadata=metadata
    )

    assert (result.min_reference_range, result.max_reference_range) == (60.0, 80.0)


def test_a_range_in_another_unit_bounds_nothing():
    result = read(value="85", reference_range="4.0 - 6.0 mmol/L")

    assert (result.min_reference_range, result.max_reference_range) == (None, None)


def test_what_was_stored_is_read_back_whole():
    result = make_parsed_result()

    assert convert_stored_row_to_parsed_result(row()) == result
    checked = replace(result, provenance=Provenance(), confidence=Confidence())
    plain = tuple(replace(match, aliases=()) for match in result.loinc_matches)
    assert _checked(row()) == replace(checked, loinc_matches=plain)


def test_excluded_rows_raise_no_doubt():
    twice = [row(0, value="85"), row(1, value="95")]

    notes = run_checks_on_review_rows(twice, notes=[])

    assert [note["code"] for note in notes] == ["duplicate"]
    assert get_row_review_state(notes, 0) == "look"
    assert list_row_check_notes(notes, 1) == {("duplicate", "look", (1, 0))}
    twice[0].decision = "excluded"
    assert run_checks_on_review_rows(twice, notes=notes) == []
