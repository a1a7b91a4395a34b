"""Ranges and earlier results that stand apart from the row they belong to."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports.parser.parsing import parse_report
from reports.parser.report import Interpretation
from tests.reports.parser.drawing import Drawn, Ink, draw, printed, read, row

XS = (40, 220, 300, 380)
TITLES: list[Drawn] = row(XS, "Test", "Result", "Unit", "Reference Range")
COUNTS = "Absolute Values (10^9/L)"


def test_dates_beside_the_result_are_of_earlier_ones(tmp_path: Path) -> None:
    xs = (40, 180, 260, 340, 440)
    report = read(
        tmp_path,
        [
            [*row(xs, "", "", "", "Result", "02-Mar-25"), (510, "19-Oct-24")],
            row(xs, "Test(s)", "Reference Range", "Unit", "14-Sep-25 09:12", "11:40"),
            [*row(xs, "Hb", "11.5-16", "g/dl", "10.9", "11.4"), (510, "12.0")],
            [*row(xs, "MCV", "75-95", "fl", "72.6", "75.9"), (510, "80.7")],
        ],
    )

    assert printed(report) == [
        ("Hb", "10.9", "g/dl", "11.5-16"),
        ("MCV", "72.6", "fl", "75-95"),
    ]


@pytest.mark.parametrize(
    "days", [("Mar 2025", "Sep 2025"), ("Last Visit", "Today"), ("Earlier", "Result")]
)
def test_the_latest_of_two_results_is_read(
    tmp_path: Path, days: tuple[str, str]
) -> None:
    xs = (40, 200, 270, 340, 430)
    report = read(
        tmp_path,
        [
            row(xs, "Test", *days, "Unit", "Reference Range"),
            row(xs, "Haemoglobin", "12.5", "11.2", "g/dL", "12.0 - 15.0"),
            row(xs, "Sodium", "141", "139", "mmol/L", "136 - 145"),
        ],
    )

    assert printed(report) == [
        ("Haemoglobin", "11.2", "g/dL", "12.0 - 15.0"),
        ("Sodium", "139", "mmol/L", "136 - 145"),
    ]


def test_ranges_without_titles_go_with_the_result_before_them(tmp_path: Path) -> None:
    xs = (40, 200, 280, 330, 500)
    report = read(
        tmp_path,
        [
            row((40, 200, 330), "Differential Count", "Percent Values", COUNTS),
            row(xs, "Neutrophils", "57 %", "40 - 75", "5.07", "2 - 7"),
            row(xs, "Lymphocytes", "28 %", "20 - 45", "2.49", "1 - 4.8"),
            row(xs, "Monocytes", "7 %", "2 - 10", "0.62", "0.2 - 1"),
        ],
    )

    assert printed(report)[:2] == [
        ("Neutrophils", "57", "%", "40 - 75"),
        ("Neutrophils", "5.07", "10^9/L", "2 - 7"),
    ]


def test_bands_under_a_label_below_the_row_are_its_range(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            row(XS[:3], "TEST NAME", "VALUE", "UNITS"),
            row(XS[:3], "25-OH VITAMIN D (TOTAL)", "18.4", "ng/mL"),
            "Bio. Ref. Interval. :-",
            "DEFICIENCY : <20 ng/ml",
            "SUFFICIENCY : 30-100 ng/ml",
            "Clinical Significance:",
        ],
    )

    assert [r.reference_range for r in report.results] == [
        "DEFICIENCY : <20 ng/ml SUFFICIENCY : 30-100 ng/ml"
    ]


def test_a_band_as_far_below_as_the_next_row_is_of_the_row_above(
    tmp_path: Path,
) -> None:
    report = parse_report(
        draw(
            tmp_path / "report.pdf",
            [
                TITLES,
                row(XS, "HbA1c", "6.1", "%", "< 5.7 : Normal"),
                row(XS, "", "", "", "> 6.2 : Diabetes"),
                row(XS, "Sodium", "140", "mmol/L", "136 - 145"),
            ],
            lead=19,
        )
    )

    assert [r.reference_range for r in report.results] == [
        "< 5.7 : Normal > 6.2 : Diabetes",
        "136 - 145",
    ]


def test_a_long_finding_stays_whole_under_a_narrow_title(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            TITLES,
            row(XS, "Haemoglobin", "9.8", "g/dL", "12 - 16"),
            row(XS, "RBC Morphology", "Microcytic hypochromic, anisocytosis +"),
            row(XS, "Crystals", "Calcium oxalate +"),
            row(XS, "2 hours Post Prandial Glucose", "196", "mg/dL", "Up to 140"),
        ],
    )

    assert [(r.test_name, r.value) for r in report.results] == [
        ("Haemoglobin", "9.8"),
        ("RBC Morphology", "Microcytic hypochromic, anisocytosis +"),
        ("Crystals", "Calcium oxalate +"),
        ("2 hours Post Prandial Glucose", "196"),
    ]


def test_a_line_that_explains_ends_before_a_finding_with_its_number(
    tmp_path: Path,
) -> None:
    xs = (40, 180, 190, 330)
    report = read(
        tmp_path,
        [
            row(xs, "TEST", "", "RESULT", "NORMAL VALUE"),
            row(xs, "Haemoglobin", ":", "9.8 gm%", "12 - 16 gm%"),
            "Interpretation : Titre of 1:80 or more is considered significant.",
            row(xs, "C.R.P.", ":", "Positive (24 mg/L)"),
        ],
    )

    assert [(r.test_name, r.value) for r in report.results] == [
        ("Haemoglobin", "9.8"),
        ("C.R.P.", "Positive (24 mg/L)"),
    ]


def test_a_band_of_the_range_may_read_as_an_explanation(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            row(XS, "Test", "Result", "Units", "Reference Interval"),
            row(XS, "HBA1C", "5.9", "%", "Pre-diabetics: 5.7 - 6.4"),
            [Ink(380, "Therapeutic goals: < 7.0")],
            row(XS, "HDL CHOLESTEROL", "41", "mg/dL", "< 40 Low"),
            [Ink(380, ">= 60 High")],
        ],
    )

    assert [r.reference_range for r in report.results] == [
        "Pre-diabetics: 5.7 - 6.4 Therapeutic goals: < 7.0",
        "< 40 Low >= 60 High",
    ]
    assert report.results[1].interpretation is Interpretation.UNKNOWN


def test_hours_after_a_load_of_glucose_are_rows(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            "75g ORAL GLUCOSE TOLERANCE TEST",
            row(XS, "EXAMINATION", "RESULT", "UNIT", "REFERENCE RANGE"),
            row(XS, "Creatinine", "58", "umol/L", "45 - 84"),
            row(XS, "Fasting", "4.91", "mmol/L", "3.89 - 5.09"),
            row(XS, "1 hour", "9.62", "mmol/L", "< 10.0"),
            row(XS, "2 hours", "8.77", "mmol/L", "< 8.5"),
        ],
    )

    assert [r.test_name for r in report.results] == [
        "Creatinine",
        "Fasting",
        "1 hour",
        "2 hours",
    ]


def test_a_value_of_a_kind_beside_the_result_is_not_the_result(tmp_path: Path) -> None:
    xs = (40, 220, 307, 362)
    report = read(
        tmp_path,
        [
            row(xs, "Test Description", "Result", "Ct Value", "Reference Range"),
            row(xs, "HBsAg", "Reactive", "24.6", "Non Reactive"),
            row(xs, "Anti HCV", "Non Reactive", "-", "Non Reactive"),
            row(xs, "Anti HIV", "Non Reactive", "-", "Non Reactive"),
        ],
    )

    assert [(r.test_name, r.value) for r in report.results] == [
        ("HBsAg", "Reactive"),
        ("Anti HCV", "Non Reactive"),
        ("Anti HIV", "Non Reactive"),
    ]
