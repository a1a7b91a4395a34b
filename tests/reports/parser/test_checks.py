"""The checks, each on rows that only differ in what the check is about."""

from __future__ import annotations

from datetime import date

import pytest

from reports.parser.assembly.interpretation import interpret_result_against_range
from reports.parser.checks import (
    check_dates_not_after,
    choose_likely_unit,
    find_likely_catalogue_entry,
    run_report_checks,
)
from reports.parser.loinc import rank_loinc_matches
from reports.parser.report import (
    Fact,
    Metadata,
    NoteCode,
    ParsedResult,
    Place,
    Point,
    Provenance,
    RowState,
)
from reports.parser.text.ranges import parse_range_bounds


def row(
    name: str,
    value: str,
    units: str | None = None,
    span: str | None = None,
    flag: str | None = None,
    *,
    panel: str | None = None,
    page: int = 1,
    comma: bool = False,
) -> ParsedResult:
    verdict = rank_loinc_matches(
        name=name, units=units, value=value, panel=panel, sample_type=None
    )
    judged = interpret_result_against_range(
        value=value,
        bounds=(bounds := parse_range_bounds(span or "", decimal_comma=comma)),
        has_range=span is not None,
        flag=flag,
        decimal_comma=comma,
    )
    return ParsedResult(
        test_name=name,
        value=value,
        units=units,
        reference_range=span,
        min_reference_range=bounds.low,
        max_reference_range=bounds.high,
        interpretation=judged.interpretation,
        is_above_max_range=judged.above,
        is_below_min_range=judged.below,
        flag=flag,
        loinc_matches=verdict.matches,
        loinc_match_status=verdict.status,
        provenance=Provenance(name=Place(page, (Point(1, 1),))),
    )


def notes_on(*rows: ParsedResult, comma: bool = False, by_page=None, metadata=None):
    return run_report_checks(
        metadata=metadata or Metadata(),
        by_page=by_page or {},
        results=rows,
        decimal_comma=comma,
    )


def found_in(*rows: ParsedResult, comma: bool = False):
    """Code, rule if any, and rows of each note."""
    return [
        (
            note.code.value,
            next((fact.text for fact in note.facts if fact.name == "rule"), None),
            note.rows,
        )
        for note in notes_on(*rows, comma=comma)
    ]


LIPIDS = (
    row("Total Cholesterol", "200", "mg/dL"),
    row("HDL Cholesterol", "50", "mg/dL"),
    row("Triglycerides", "150", "mg/dL"),
)
COUNT = (
    row("Hemoglobin", "13.5", "g/dL"),
    row("RBC", "4.5", "10^6/uL"),
    row("Hematocrit", "40.5", "%"),
)

AGREEING = {
    "ldl": (*LIPIDS, row("LDL Cholesterol", "120", "mg/dL")),
    "ldl by another formula": (*LIPIDS, row("LDL Cholesterol", "126", "mg/dL")),
    "ldl with high triglycerides": (
        *LIPIDS[:2],
        row("Triglycerides", "410", "mg/dL"),
        row("LDL Cholesterol", "120", "mg/dL"),
    ),
    "ldl in moles": (
        row("Total Cholesterol", "5.2", "mmol/L"),
        row("HDL Cholesterol", "1.3", "mmol/L"),
        row("Triglycerides", "1.7", "mmol/L"),
        row("LDL Cholesterol", "3.1", "mmol/L"),
    ),
    "non-hdl": (*LIPIDS[:2], row("Non-HDL Cholesterol", "150", "mg/dL")),
    "ratio": (*LIPIDS[:2], row("Chol/HDL Ratio", "4.0")),
    "red cells": (
        *COUNT,
        row("MCV", "90", "fL"),
        row("MCH", "30", "pg"),
        row("MCHC", "33.3", "g/dL"),
    ),
    "proteins": (
        row("Total Protein", "7.0", "g/dL"),
        row("Albumin", "4.2", "g/dL"),
        row("Globulin", "2.8", "g/dL"),
        row("A/G Ratio", "1.5"),
    ),
    "bilirubin": (
        row("Total Bilirubin", "1.0", "mg/dL"),
        row("Direct Bilirubin", "0.3", "mg/dL"),
        row("Indirect Bilirubin", "0.7", "mg/dL"),
    ),
    "hba1c": (
        row("HbA1c", "6.2", "%"),
        row("HbA1c (IFCC)", "44", "mmol/mol"),
        row("Estimated Average Glucose", "131", "mg/dL"),
    ),
    "iron": (
        row("Iron", "80", "ug/dL"),
        row("TIBC", "320", "ug/dL"),
        row("Iron Saturation", "25", "%"),
    ),
    "anion gap": (
        row("Sodium", "140", "mmol/L"),
        row("Chloride", "104", "mmol/L"),
        row("Bicarbonate", "24", "mmol/L"),
        row("Anion Gap", "12", "mmol/L"),
    ),
}
DIFFERING = {
    "ldl_friedewald": ((*LIPIDS, row("LDL Cholesterol", "185", "mg/dL")), (3, 0, 1, 2)),
    "non_hdl": ((*LIPIDS[:2], row("Non-HDL Cholesterol", "15", "mg/dL")), (2, 0, 1)),
    "chol_hdl_ratio": ((*LIPIDS[:2], row("Chol/HDL Ratio", "4.6")), (2, 0, 1)),
    "mcv": ((*COUNT, row("MCV", "60", "fL")), (3, 2, 1)),
    "mch": ((*COUNT, row("MCH", "20", "pg")), (3, 0, 1)),
    "mchc": ((*COUNT, row("MCHC", "28", "g/dL")), (3, 0, 2)),
    "globulin": (
        (
            row("Total Protein", "7.0", "g/dL"),
            row("Albumin", "4.2", "g/dL"),
            row("Globulin", "3.2", "g/dL"),
        ),
        (2, 0, 1),
    ),
    "bilirubin_indirect": (
        (
            row("Total Bilirubin", "1.0", "mg/dL"),
            row("Direct Bilirubin", "0.3", "mg/dL"),
            row("Indirect Bilirubin", "0.1", "mg/dL"),
        ),
        (2, 0, 1),
    ),
    "iron_saturation": (
        (
            row("Iron", "80", "ug/dL"),
            row("TIBC", "320", "ug/dL"),
            row("Iron Saturation", "52", "%"),
        ),
        (2, 0, 1),
    ),
    "hba1c_units": (
        (row("HbA1c", "6.2", "%"), row("HbA1c (IFCC)", "74", "mmol/mol")),
        (1, 0),
    ),
    "eag": (
        (
            row("HbA1c", "6.2", "%"),
            row("Estimated Average Glucose", "161", "mg/dL"),
        ),
        (1, 0),
    ),
    "anion_gap": (
        (
            row("Sodium", "140", "mmol/L"),
            row("Chloride", "104", "mmol/L"),
            row("Bicarbonate", "24", "mmol/L"),
            row("Anion Gap", "20", "mmol/L"),
        ),
        (3, 0, 1, 2),
    ),
    "part_exceeds_whole": (
        (
            row("Total Bilirubin", "1.0", "mg/dL"),
            row("Direct Bilirubin", "3.0", "mg/dL"),
        ),
        (1, 0),
    ),
}


@pytest.mark.parametrize("rows", AGREEING.values(), ids=AGREEING.keys())
def test_numbers_that_agree_are_left_alone(rows):
    assert found_in(*rows) == []


@pytest.mark.parametrize("rule", DIFFERING)
def test_a_number_the_others_speak_against_is_noted(rule):
    rows, positions = DIFFERING[rule]

    assert found_in(*rows) == [("arithmetic", rule, positions)]


def test_a_note_tells_what_was_printed_and_what_expected():
    rows, _ = DIFFERING["mcv"]

    (note,) = notes_on(*rows)

    assert note.severity is RowState.CONTRADICTION
    assert note.facts == (
        Fact("rule", text="mcv"),
        Fact("printed", number=60.0),
        Fact("expected", number=90.0),
        Fact("unit", text="fL"),
    )


def test_rules_hold_over_units_of_one_kind():
    count = (
        row("Hämoglobin", "135", "g/L"),
        row("Erythrozyten", "4,5", "10^12/L"),
        row("MCH", "20", "pg"),
    )

    assert found_in(*count, comma=True) == [("arithmetic", "mch", (2, 0, 1))]


def differential(*shares: str) -> tuple[ParsedResult, ...]:
    cells = ("Neutrophils", "Lymphocytes", "Monocytes", "Eosinophils", "Basophils")
    return tuple(
        row(cell, share, "%") for cell, share in zip(cells, shares, strict=True)
    )


@pytest.mark.parametrize(
    "shares", [("60", "30", "6", "3", "1"), ("60.4", "30.3", "5.8", "2.9", "0.9")]
)
def test_a_differential_of_a_hundred_is_left_alone(shares):
    assert found_in(*differential(*shares)) == []


def test_a_differential_that_sums_otherwise_is_noted():
    rows = differential("60", "43", "6", "3", "1")

    (note,) = notes_on(*rows)

    assert note.code is NoteCode.ARITHMETIC
    assert note.rows == (0, 1, 2, 3, 4)
    assert Fact("printed", number=113.0) in note.facts


def test_a_differential_printed_in_part_is_no_contradiction():
    assert found_in(*differential("60", "30", "5", "1", "1")[:4]) == []


@pytest.mark.parametrize(("count", "is_noted"), [("4.2", False), ("42", True)])
def test_a_count_is_its_share_of_the_white_cells(count, is_noted):
    found = found_in(
        row("WBC", "7.0", "10^3/uL"),
        row("Neutrophils", "60", "%"),
        row("Absolute Neutrophils", count, "10^3/uL"),
    )

    noted = ("arithmetic", "count_of_share", (2, 1, 0)) in found
    assert noted is is_noted


UNITS_IN_DOUBT = {
    "platelets in thousands": (row("Platelets", "370", "/uL"), "10*3/uL"),
    "platelets in lakhs": (row("Platelets", "0.35", "10^3/uL"), "10*5/uL"),
    "tsh per litre": (row("TSH", "2.5", "mIU/mL"), "u[IU]/mL"),
    "mchc as a share": (row("MCHC", "33", "%"), "g/dL"),
}


@pytest.mark.parametrize(
    ("doubtful", "fits"), UNITS_IN_DOUBT.values(), ids=UNITS_IN_DOUBT.keys()
)
def test_a_unit_the_number_does_not_fit_is_noted_and_kept(doubtful, fits):
    (note,) = notes_on(doubtful)

    assert (note.code, note.severity) == (NoteCode.UNIT_SUSPECT, RowState.LOOK)
    assert fits in {fact.text for fact in note.facts}


def test_a_missing_unit_is_noted_with_those_that_fit():
    (note,) = notes_on(row("Glucose", "5.4"))

    assert note.code is NoteCode.UNIT_MISSING
    assert [f.text for f in note.facts if f.name.startswith("fits")] == [
        "mg/dL",
        "mmol/L",
    ]


@pytest.mark.parametrize(
    "unitless", [row("INR", "1.1"), row("A/G Ratio", "1.5"), row("Urine pH", "6.0")]
)
def test_what_has_no_unit_misses_none(unitless):
    assert found_in(unitless) == []


def test_a_number_no_one_lives_with_is_noted():
    (note,) = notes_on(row("Potassium", "41", "mmol/L"))

    assert (note.code, note.severity) == (
        NoteCode.IMPLAUSIBLE,
        RowState.CONTRADICTION,
    )
    assert Fact("most", number=14.0) in note.facts


@pytest.mark.parametrize(
    ("doubtful", "fits"),
    [
        (row("Hemoglobin", "138", "g/L", "13.0 - 17.0"), 13.8),
        (row("Potassium", "0.41", "mmol/L", "3.5 - 5.1"), 4.1),
        (row("Sodium", "14.1", "mmol/L", "135 - 145"), 141.0),
    ],
)
def test_a_point_that_may_have_moved_is_noted(doubtful: ParsedResult, fits: float):
    (note,) = [
        note for note in notes_on(doubtful) if note.code is NoteCode.DECIMAL_SUSPECT
    ]

    assert note.severity is RowState.LOOK
    assert Fact("fits", number=fits) in note.facts


@pytest.mark.parametrize(
    "high",
    [
        row("Creatinine", "8.5", "mg/dL", "0.7 - 1.3"),
        row("CRP", "42", "mg/L", "< 5"),
        row("Potassium", "6.4", "mmol/L", "3.5 - 5.1"),
    ],
)
def test_what_may_be_ten_times_as_much_is_left_alone(high: ParsedResult):
    assert found_in(high) == []


@pytest.mark.parametrize(
    ("value", "flag", "severity"),
    [
        ("150", "H", None),
        ("140", None, None),
        ("140", "*", None),
        ("140", "H", RowState.LOOK),
        ("120", "H", RowState.CONTRADICTION),
    ],
)
def test_a_mark_is_held_against_the_range(value, flag, severity):
    notes = notes_on(row("Sodium", value, "mmol/L", "135 - 145", flag))

    assert [note.severity for note in notes] == ([severity] if severity else [])


def test_a_missing_mark_is_noted_where_the_laboratory_marks():
    marked = (
        row("Sodium", "150", "mmol/L", "135 - 145", "H"),
        row("Potassium", "6.1", "mmol/L", "3.5 - 5.1", "H"),
    )
    bare = row("Chloride", "115", "mmol/L", "98 - 107")

    assert found_in(*marked, bare) == [("flag_disagrees", None, (2,))]
    assert found_in(marked[0], bare) == []


def test_two_answers_to_one_test_are_noted():
    one, other = row("TSH", "2.1", "mIU/L"), row("TSH", "21", "mIU/L")

    assert found_in(one, other) == [("duplicate", None, (1, 0))]
    assert found_in(one, one) == []


def test_one_test_in_two_units_is_no_duplicate():
    assert found_in(row("HbA1c", "6.2", "%"), row("HbA1c", "44", "mmol/mol")) == []


ROSA = Metadata("Rosa", "Sample", "1980-02-01")


@pytest.mark.parametrize(
    ("other", "is_another"),
    [
        (ROSA, False),
        (Metadata("ROSA M", "SAMPLE"), False),
        (Metadata("Sample", "Rosa"), False),
        (Metadata("Rasa", "Sample"), False),
        (Metadata("Rosa", "Sample", "1991-05-05"), True),
        (Metadata("Peter", "Sample"), True),
        (Metadata("Rasa", "Sarnple", "1980-02-01"), False),
        (Metadata(), False),
    ],
)
def test_rows_under_another_persons_name_are_noted(other, is_another):
    notes = notes_on(
        row("Sodium", "140", "mmol/L"),
        row("Potassium", "4.0", "mmol/L", page=2),
        metadata=ROSA,
        by_page={1: ROSA, 2: other},
    )

    found = [(note.code, note.severity, note.rows) for note in notes]
    expected = [(NoteCode.SECOND_PERSON, RowState.CONTRADICTION, (1,))]
    assert found == (expected if is_another else [])


def test_a_page_without_a_header_goes_on_with_the_last_person():
    notes = notes_on(
        *(row(f"Test {n}", "140", "mmol/L", page=n) for n in (1, 2, 3, 4)),
        metadata=ROSA,
        by_page={2: Metadata("Peter", "Sample"), 4: ROSA},
    )

    assert [note.rows for note in notes if note.code is NoteCode.SECOND_PERSON] == [
        (1, 2)
    ]


def test_a_note_never_tells_a_name():
    notes = notes_on(
        row("Potassium", "4.0", "mmol/L", page=2),
        metadata=ROSA,
        by_page={2: Metadata("Peter", "Example")},
    )

    assert [fact.text for note in notes for fact in note.facts] == [None]


def test_dates_in_an_impossible_order_are_noted():
    (note,) = notes_on(
        metadata=Metadata(date_collected="2025-03-09", date_reported="2025-03-04")
    )

    assert note.code is NoteCode.DATES_OUT_OF_ORDER
    assert note.facts == (
        Fact("earlier", text="date_collected"),
        Fact("later", text="date_reported"),
    )


def test_a_date_after_today_is_noted():
    metadata = Metadata(date_collected="2026-04-02", date_reported="2026-04-01")

    notes = check_dates_not_after(metadata, today=date(2026, 4, 1))

    assert [note.facts for note in notes] == [(Fact("date", text="date_collected"),)]


@pytest.mark.parametrize(
    ("name", "value", "ucum"),
    [
        ("RBC", "4.5", "10*6/uL"),
        ("WBC", "6.5", "10*3/uL"),
        ("Platelets", "250", "10*3/uL"),
    ],
)
def test_a_unit_of_two_readings_is_the_one_the_number_is_possible_in(
    name: str, value: str, ucum: str
) -> None:
    verdict = rank_loinc_matches(
        name=name, units="mil/mm3", value=value, panel=None, sample_type=None
    )
    entry = find_likely_catalogue_entry(verdict.matches, verdict.status)

    found = choose_likely_unit(("10*6/uL", "10*3/uL"), entry=entry, number=float(value))

    assert found == ucum


def test_a_unit_of_an_unknown_test_is_its_first_reading() -> None:
    assert choose_likely_unit(("10*9/L", "g/L"), entry=None, number=5.0) == "10*9/L"
