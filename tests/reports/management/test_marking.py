"""The scorer counts as the accuracy table says."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports.management.scorecard.marking import (
    is_same_name,
    mark_report,
    normalize_range,
    normalize_unit,
)
from reports.management.scorecard.truth import TrueReport, TrueRow
from reports.parser.report import (
    Interpretation,
    LoincMatch,
    LoincMatchStatus,
    ParsedResult,
)

SODIUM = TrueRow("Sodium", "140", "mmol/L", "135-145", "normal", ("2951-2",))
PENDING = TrueRow("Ferritin", "PENDING", optional=True)


def report_of(*rows):
    return TrueReport(Path("none.pdf"), "text", "made-up", rows, is_lab_report=True)


def parsed(**changes):
    fields = {
        "test_name": "Sodium",
        "value": "140",
        "units": "mmol/L",
        "reference_range": "135 - 145",
        "interpretation": Interpretation.NORMAL,
    }
    return ParsedResult(**(fields | changes))


def test_a_row_with_all_parts_right_is_strictly_right():
    marks = mark_report(report_of(SODIUM), [parsed()])

    assert (marks.rate("recall"), marks.rate("precision")) == (1, 1)
    assert (marks.rate("strict"), marks.rate("loinc")) == (1, 0)
    assert marks.faults == ("loinc    'Sodium': '2951-2' read as None",)


@pytest.mark.parametrize(
    ("part", "changes"),
    [
        ("value", {"value": "14.0"}),
        ("unit", {"units": "mg/dL"}),
        ("range", {"reference_range": "136-145"}),
    ],
)
def test_one_wrong_part_costs_that_part_and_strict(part, changes):
    marks = mark_report(report_of(SODIUM), [parsed(**changes)])

    assert marks.rate("recall") == 1
    assert marks.rate(part) == 0
    assert marks.rate("strict") == 0


def test_a_name_read_with_extra_words_costs_strict():
    marks = mark_report(report_of(SODIUM), [parsed(test_name="CHEMISTRY Sodium")])

    assert (marks.rate("recall"), marks.rate("strict")) == (1, 0)


def test_an_invented_row_costs_precision_only():
    invented = parsed(test_name="Stage G4", value="15 - 29")

    marks = mark_report(report_of(SODIUM), [parsed(), invented])

    assert (marks.rate("recall"), marks.rate("precision")) == (1, 0.5)


def test_an_optional_row_may_be_given_or_left_out():
    given = parsed(test_name="Ferritin", value="PENDING", units=None)

    with_it = mark_report(report_of(SODIUM, PENDING), [parsed(), given])
    without = mark_report(report_of(SODIUM, PENDING), [parsed()])

    assert (with_it.rate("recall"), with_it.rate("precision")) == (1, 1)
    assert (without.rate("recall"), without.rate("precision")) == (1, 1)


def test_rows_of_one_name_are_told_apart_by_value():
    percent = TrueRow("Neutrophils", "62", "%", "40-75")
    count = TrueRow("Neutrophils", "3.4", "K/uL", "1.8-7.7")
    rows = [
        parsed(
            test_name=row.name,
            value=row.value,
            units=row.unit,
            reference_range=row.range,
        )
        for row in (count, percent)
    ]

    marks = mark_report(report_of(percent, count), rows)

    assert marks.rate("strict") == 1


def test_a_wrong_code_matched_without_review_is_counted():
    match = LoincMatch("2345-7", "Glucose", None, (), 0.99)
    row = parsed(loinc_matches=(match,), loinc_match_status=LoincMatchStatus.AUTO_MATCH)

    marks = mark_report(report_of(SODIUM), [row])

    assert marks.wrong_codes == 1


@pytest.mark.parametrize(
    "spelling",
    ["x10E3/uL", "10^3/µL", "x10^3/mcL", "X 10³ / μL", "10*3/uL", "x 103/uL"],
)
def test_one_count_unit_has_one_normal_spelling(spelling):
    assert normalize_unit(spelling) == "10^3/ul"


@pytest.mark.parametrize("unit", ["mg/dL", "g/L", "%", "K/uL", "lakhs/cumm"])
def test_other_units_stay_apart(unit):
    others = {"mg/dL", "g/L", "%", "K/uL", "lakhs/cumm"} - {unit}

    assert normalize_unit(unit) not in {normalize_unit(other) for other in others}


def test_ranges_are_compared_without_brackets_spaces_and_kind_of_dash():
    assert normalize_range("(13.0 – 17.0)") == normalize_range("13.0-17.0")
    assert normalize_range("13.0-17.0") != normalize_range("13.0-17.5")
    assert normalize_range("-") == ""


def test_names_are_compared_without_signs_but_not_by_likeness():
    assert is_same_name(TrueRow("Creatinine", "1"), "Creat inine")
    assert not is_same_name(TrueRow("Hemoglobin A1c", "1"), "Hemoglobin A2")
