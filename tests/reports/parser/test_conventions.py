"""One small report for each way in which real reports print their rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports.parser.report import Interpretation, SampleType, Sensitivity
from tests.reports.parser.drawing import Ink, by_name, printed, read, row

XS = (40, 220, 300, 380, 480)
TITLES = row(XS, "Test", "Result", "Unit", "Reference range")


def test_name_value_unit_and_range_are_read_from_their_columns(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            TITLES,
            row(XS, "Hemoglobin", "13.5", "g/dL", "13.00 - 17.00"),
            row(XS, "Sodium", "131", "mmol/L", "135 - 145"),
        ],
    )

    assert printed(report) == [
        ("Hemoglobin", "13.5", "g/dL", "13.00 - 17.00"),
        ("Sodium", "131", "mmol/L", "135 - 145"),
    ]
    sodium = report.results[1]
    assert (sodium.min_reference_range, sodium.max_reference_range) == (135.0, 145.0)
    assert sodium.interpretation is Interpretation.ABNORMAL
    assert (sodium.is_below_min_range, sodium.is_above_max_range) == (True, False)


def test_the_range_may_stand_before_the_unit(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            row(XS, "Investigation", "Observed value", "Normal range", "Units"),
            row(XS, "Urea", "32", "15 - 45", "mg/dl"),
            row(XS, "Creatinine", "1.1", "0.6 - 1.2", "mg/dl"),
        ],
    )

    assert printed(report) == [
        ("Urea", "32", "mg/dl", "15 - 45"),
        ("Creatinine", "1.1", "mg/dl", "0.6 - 1.2"),
    ]


@pytest.mark.parametrize("value", ["7.9 H", "7.9H", "7.9 [H]", "(H) 7.9", "7.9 *"])
def test_a_flag_beside_the_value_is_no_part_of_it(tmp_path: Path, value: str) -> None:
    report = read(tmp_path, [TITLES, row(XS, "Uric Acid", value, "mg/dl", "3.5 - 7.2")])

    assert printed(report) == [("Uric Acid", "7.9", "mg/dl", "3.5 - 7.2")]


@pytest.mark.parametrize("name", ["# Uric Acid", "*Uric Acid", "** Uric Acid"])
def test_a_mark_before_the_name_is_no_part_of_it(tmp_path: Path, name: str) -> None:
    report = read(tmp_path, [TITLES, row(XS, name, "7.9", "mg/dl", "3.5 - 7.2")])

    assert [result.test_name for result in report.results] == ["Uric Acid"]


def test_a_flag_after_the_range_is_no_part_of_it(tmp_path: Path) -> None:
    report = read(tmp_path, [TITLES, row(XS, "Glucose", "131", "mg/dL", "70 - 99 (H)")])

    assert printed(report) == [("Glucose", "131", "mg/dL", "70 - 99")]


def test_a_flag_decides_where_the_range_has_no_bounds(tmp_path: Path) -> None:
    report = read(tmp_path, [TITLES, row(XS, "Lactate", "4.4 H", "mmol/L", "See note")])

    assert report.results[0].interpretation is Interpretation.ABNORMAL


def test_normal_and_abnormal_values_may_have_a_column_each(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            row(XS, "Test Name", "In Range", "Out Of Range", "Reference Range"),
            row(XS, "CALCIUM", "", "10.6 H", "8.6-10.4 mg/dL"),
            row(XS, "SODIUM", "139", "", "135-146 mmol/L"),
        ],
    )

    assert printed(report) == [
        ("CALCIUM", "10.6", "mg/dL", "8.6-10.4 mg/dL"),
        ("SODIUM", "139", "mmol/L", "135-146 mmol/L"),
    ]


def test_previous_results_are_left_out(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            row(XS, "Test", "Result", "Previous Result", "Units", "Reference Interval"),
            row(XS, "Creatinine", "1.02", "0.97", "mg/dL", "0.76-1.27"),
            row(XS, "Sodium", "141", "139", "mmol/L", "134-144"),
        ],
    )

    assert [(r.test_name, r.value) for r in report.results] == [
        ("Creatinine", "1.02"),
        ("Sodium", "141"),
    ]


def test_of_dated_columns_the_latest_is_read(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            row(XS, "Date", "03/05/22", "19/04/23", "Reference", "Units"),
            row(XS, "Sodium", "139", "141", "(135-145)", "mmol/L"),
            row(XS, "Urea", "5.5", "5.9", "(3.0-8.5)", "mmol/L"),
        ],
    )

    assert printed(report) == [
        ("Sodium", "141", "mmol/L", "(135-145)"),
        ("Urea", "5.9", "mmol/L", "(3.0-8.5)"),
    ]


def test_tables_side_by_side_are_read_one_after_the_other(tmp_path: Path) -> None:
    xs = (30, 110, 150, 215, 300, 340, 400, 480, 520)
    report = read(
        tmp_path,
        [
            row(
                xs,
                *("BLOOD", "Result", "Range", "CHEMISTRY", "Result", "Range"),
                *("URINE", "Result", "Range"),
            ),
            row(
                xs,
                *("Hb", "14.1", "13-17 g/dL", "Urea", "28", "15-40 mg/dL"),
                *("pH", "6.0", "5-8"),
            ),
            row(
                xs,
                *("MCV", "85.7", "83-101 fL", "HDL", "44", ">40 mg/dL"),
                *("Protein", "Nil", "Nil"),
            ),
        ],
    )

    assert [(r.test_name, r.value, r.source_panel_name) for r in report.results] == [
        ("Hb", "14.1", "BLOOD"),
        ("MCV", "85.7", "BLOOD"),
        ("Urea", "28", "CHEMISTRY"),
        ("HDL", "44", "CHEMISTRY"),
        ("pH", "6.0", "URINE"),
        ("Protein", "Nil", "URINE"),
    ]
    assert report.results[4].sample_type is SampleType.URINE


def test_a_wrapped_name_is_joined(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            TITLES,
            row(XS, "Red cell Distribution Width (R.D.W.-", "16.2", "%", "11.5 - 14.5"),
            "CV)",
            row(XS, "Neutrophils", "71", "%", "40 - 75"),
        ],
    )

    assert [result.test_name for result in report.results] == [
        "Red cell Distribution Width (R.D.W.- CV)",
        "Neutrophils",
    ]


def test_a_method_below_the_name_is_no_part_of_it(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            TITLES,
            row(XS, "Urea", "32", "mg/dl", "15 - 45"),
            [Ink(44, "Method: Urease UV", size=7)],
            row(XS, "Glucose Fasting", "98", "mg/dl", "70 - 100"),
            [Ink(44, "(Hexokinase)", size=7)],
        ],
    )

    assert [result.test_name for result in report.results] == [
        "Urea",
        "Glucose Fasting",
    ]


def test_a_range_over_several_lines_is_joined_and_not_bounded(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            TITLES,
            row(XS, "Vitamin D", "17.4", "ng/mL", "Deficient : < 20"),
            row(XS, "", "", "", "Insufficient : 20 - 29"),
            row(XS, "", "", "", "Sufficient : 30 - 100"),
            row(XS, "Vitamin B12", "188", "pg/mL", "197 - 771"),
        ],
    )

    vitamin_d, b12 = report.results
    assert vitamin_d.reference_range == (
        "Deficient : < 20 Insufficient : 20 - 29 Sufficient : 30 - 100"
    )
    assert vitamin_d.min_reference_range is None
    assert vitamin_d.max_reference_range is None
    assert vitamin_d.interpretation is Interpretation.UNKNOWN
    assert b12.reference_range == "197 - 771"


def test_a_range_may_be_announced_on_the_line_below(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            row(XS, "Test", "Value", "Units"),
            row(XS, "Cholesterol", "211", "mg/dL"),
            "Reference range: 125 - 200",
            row(XS, "Triglycerides", "90", "mg/dL"),
        ],
    )

    assert [r.reference_range for r in report.results] == ["125 - 200", None]


def test_cells_set_to_the_middle_of_their_row_are_gathered(tmp_path: Path) -> None:
    def at(y: float, x: float, text: str) -> Ink:
        return Ink(x, text, y=y)

    report = read(
        tmp_path,
        [
            TITLES,
            [
                at(80, 40, "Vitamin D Total (25-Hydroxy"),
                at(91, 40, "Cholecalciferol)"),
                *(at(85.5, 220, "22.1"), at(85.5, 300, "ng/mL")),
                at(74.5, 380, "Deficiency: < 20"),
                at(85.5, 380, "Insufficiency: 20 - 30"),
                at(96.5, 380, "Sufficiency: 30 - 100"),
                at(108, 40, "Ferritin"),
                *(at(108, 220, "80"), at(108, 300, "ng/mL"), at(108, 380, "22 - 322")),
            ],
        ],
    )

    assert printed(report) == [
        (
            "Vitamin D Total (25-Hydroxy Cholecalciferol)",
            "22.1",
            "ng/mL",
            "Deficiency: < 20 Insufficiency: 20 - 30 Sufficiency: 30 - 100",
        ),
        ("Ferritin", "80", "ng/mL", "22 - 322"),
    ]


def test_titles_hold_on_the_next_page(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [TITLES, row(XS, "Sodium", "140", "mmol/L", "135 - 145")],
        [
            "Patient Name : A. Nobody",
            row(XS, "Potassium", "4.1", "mmol/L", "3.5 - 5.1"),
        ],
    )

    assert [
        (r.test_name, r.provenance.value.page)
        for r in report.results
        if r.provenance.value
    ] == [
        ("Sodium", 1),
        ("Potassium", 2),
    ]


def test_percent_and_absolute_counts_share_names(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            TITLES,
            [Ink(40, "DIFFERENTIAL", bold=True)],
            row(XS, "Neutrophils", "62", "%", "40-75"),
            [Ink(40, "ABSOLUTE COUNTS", bold=True)],
            row(XS, "Neutrophils", "3.4", "K/uL", "1.8-7.7"),
        ],
    )

    assert [(r.value, r.units, r.source_panel_name) for r in report.results] == [
        ("62", "%", "DIFFERENTIAL"),
        ("3.4", "K/uL", "ABSOLUTE COUNTS"),
    ]


def test_a_result_in_two_units_on_one_line_gives_two_rows(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [TITLES, row(XS, "HbA1c", "5.9 % (41 mmol/mol)", "", "4.0 - 5.6")],
    )

    assert [(r.test_name, r.value, r.units) for r in report.results] == [
        ("HbA1c", "5.9", "%"),
        ("HbA1c", "41", "mmol/mol"),
    ]


def test_a_unit_behind_the_name_is_the_rows_unit(tmp_path: Path) -> None:
    xs = (40, 220, 300)
    report = read(
        tmp_path,
        [
            row(xs, "Determination", "Result", "Reference values"),
            row(xs, "Glucose (mmol/L)", "6.2", "3.9 - 5.6"),
            row(xs, "Sodium (mmol/L)", "139", "136 - 145"),
        ],
    )

    assert printed(report) == [
        ("Glucose", "6.2", "mmol/L", "3.9 - 5.6"),
        ("Sodium", "139", "mmol/L", "136 - 145"),
    ]


def test_decimal_commas_are_kept_as_printed_and_compared_as_numbers(
    tmp_path: Path,
) -> None:
    report = read(
        tmp_path,
        [
            row(XS, "Analyse", "Wert", "Einheit", "Referenzbereich"),
            row(XS, "Kalium", "5,73", "mmol/l", "3,5 - 5,1"),
            row(XS, "Natrium", "140", "mmol/l", "135 - 145"),
        ],
    )

    kalium = by_name(report)["Kalium"]
    assert (kalium.value, kalium.max_reference_range) == ("5,73", 5.1)
    assert kalium.interpretation is Interpretation.ABNORMAL


def test_a_pending_test_is_no_row(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            TITLES,
            row(XS, "TSH", "0.31", "mIU/L", "0.45-4.50"),
            row(XS, "Thyroglobulin Antibody", "", "IU/mL", "0.0-0.9"),
            row(XS, "Thyroid Peroxidase Ab", "PENDING"),
            row(XS, "Vitamin B12", "In Process", "pg/mL", "200-1100"),
            "Result/s to follow: Thyroid Peroxidase Ab",
        ],
    )

    assert printed(report) == [("TSH", "0.31", "mIU/L", "0.45-4.50")]


def test_rows_without_titles_are_read_by_their_form(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            [Ink(40, "SERUM CHEMISTRY", bold=True)],
            row(XS, "Sodium ............", "143", "mmol/L", "(135-145)"),
            row(XS, "Potassium .........", "3.4 L", "mmol/L", "(3.5-5.2)"),
            row(XS, "eGFR ..............", "> 90", "mL/min/1.73m2", "(> 59)"),
            row(XS, "HBsAg .............", "Non reactive", "", "Non reactive"),
        ],
    )

    assert printed(report) == [
        ("Sodium", "143", "mmol/L", "(135-145)"),
        ("Potassium", "3.4", "mmol/L", "(3.5-5.2)"),
        ("eGFR", "> 90", "mL/min/1.73m2", "(> 59)"),
        ("HBsAg", "Non reactive", None, "Non reactive"),
    ]


def test_a_range_counted_in_lakhs_does_not_judge_a_plain_count(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [TITLES, row(XS, "Platelet Count", "2,45,000", "/cumm", "1.5 - 4.5 lakhs")],
    )

    assert report.results[0].min_reference_range is None
    assert report.results[0].interpretation is Interpretation.UNKNOWN


def test_a_culture_tells_the_sensitivity_to_each_drug(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            "URINE CULTURE AND SENSITIVITY",
            row(XS, "Antibiotic", "MIC", "Interpretation"),
            row(XS, "Amikacin", "<=2", "Sensitive"),
            row(XS, "Ciprofloxacin", ">=4", "Resistant"),
        ],
    )

    assert [(r.test_name, r.value, r.sensitivity) for r in report.results] == [
        ("Amikacin", "<=2", Sensitivity.SENSITIVE),
        ("Ciprofloxacin", ">=4", Sensitivity.INSENSITIVE),
    ]


def test_rows_before_the_first_titles_are_read_too(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            [Ink(40, "CHEMISTRY, SERUM", bold=True)],
            row(XS, "Sodium", "143", "mmol/L", "(135-145)"),
            row(XS, "Potassium", "3.4", "mmol/L", "(3.5-5.2)"),
            row(XS, "Chloride", "101", "mmol/L", "(98-107)"),
            row(XS, "Urea", "5.5", "mmol/L", "(3.0-8.5)"),
            [Ink(40, "THYROID", bold=True)],
            row(XS, "Test", "Result", "Unit", "Reference range"),
            row(XS, "TSH", "2.1", "mIU/L", "0.4 - 4.0"),
        ],
    )

    assert [result.test_name for result in report.results] == [
        "Sodium",
        "Potassium",
        "Chloride",
        "Urea",
        "TSH",
    ]
