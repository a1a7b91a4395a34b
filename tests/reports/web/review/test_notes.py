"""The sentences a reviewer reads about what the checks found."""

from __future__ import annotations

import pytest

from reports.parser.report import LoincReason, NoteCode
from reports.web.review.notes import (
    describe_check_note,
    describe_loinc_candidate_reasons,
)

MMOL = {"unit": "mmol/L"}


def sentence(code, **facts):
    return describe_check_note({"code": code, "rows": [0], "facts": facts})


@pytest.mark.parametrize(
    ("flag", "found", "expected"),
    [
        ("H", "inside", "Flagged H, but within the range 3–5."),
        ("H", "low", "Flagged H, but below the range 3–5."),
        ("L", "high", "Flagged L, but above the range 3–5."),
        ("", "high", "Not flagged, but above the range 3–5."),
        ("H", "elsewhere", "The flag H does not match the range 3–5."),
    ],
)
def test_a_flag_is_compared_with_the_range(flag, found, expected):
    facts = {"flag": flag, "found": found, "range": "3 - 5"}

    assert sentence(NoteCode.FLAG_DISAGREES, **facts) == expected


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ({"least": 1, "most": 14}, "42 mmol/L is outside the plausible range (1–14)."),
        (
            {"most": 14},
            "42 mmol/L is implausible: the largest plausible value is 14.",
        ),
        ({"least": 50}, "42 mmol/L is implausible: the least plausible value is 50."),
    ],
)
def test_an_implausible_value_comes_with_the_bound_it_broke(bounds, expected):
    assert sentence(NoteCode.IMPLAUSIBLE, printed="42", **MMOL, **bounds) == expected


def test_a_lost_decimal_point_is_suggested():
    facts = {"printed": "42", "range": "3.5 - 5.1", "fits": 4.2}

    assert sentence(NoteCode.DECIMAL_SUSPECT, **facts) == (
        "Missing decimal point? 4.2 would fit 3.5–5.1."
    )


def test_units_that_would_fit_are_named():
    assert sentence(NoteCode.UNIT_MISSING) == "No unit is printed."
    assert sentence(NoteCode.UNIT_MISSING, fits="mg/dL") == (
        "No unit is printed. mg/dL would fit."
    )
    assert sentence(
        NoteCode.UNIT_SUSPECT, printed="5", fits="mg/dL", fits_2="mmol/L"
    ) == ("The unit does not fit 5. mg/dL or mmol/L would fit.")


@pytest.mark.parametrize(
    ("rule", "facts", "expected"),
    [
        (
            "differential_sum",
            {"printed": 97},
            "The differential adds up to 97%, not 100%.",
        ),
        (
            "part_exceeds_whole",
            {"printed": "9", "whole": "7"},
            "9 is greater than its total, 7.",
        ),
        (
            "anion_gap",
            {"printed": "20", "expected": 12, "unit": "mmol/L"},
            "Anion gap: 20 is printed, but the other rows give 12 mmol/L.",
        ),
    ],
)
def test_arithmetic_shows_both_numbers(rule, facts, expected):
    assert sentence(NoteCode.ARITHMETIC, rule=rule, **facts) == expected


def test_repeats_are_counted():
    assert sentence(NoteCode.DUPLICATE, other="5", value="6") == (
        "Printed twice: 5 and 6."
    )


def test_pages_of_another_patient_are_named():
    assert sentence(NoteCode.SECOND_PERSON, page_2=2.0) == (
        "Page 2 names another patient."
    )
    assert sentence(NoteCode.SECOND_PERSON, page_2=2.0, page_3=3.0) == (
        "Pages 2, 3 name another patient."
    )


def test_dates_are_named():
    assert sentence(NoteCode.DATE_IN_FUTURE, date="date_collected") == (
        "Collection date is in the future."
    )
    assert sentence(
        NoteCode.DATES_OUT_OF_ORDER, earlier="dob", later="date_reported"
    ) == ("Birth date is after report date.")


def test_an_unknown_note_shows_its_code():
    assert sentence("something_new") == "Something new."


def test_reasons_for_a_code_are_listed():
    reasons = [LoincReason.NAME, LoincReason.UNIT_CONTRADICTS, "brand_new"]

    assert (
        describe_loinc_candidate_reasons(reasons)
        == "name matches, unit conflicts, brand new"
    )
