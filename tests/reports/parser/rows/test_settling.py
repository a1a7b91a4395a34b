"""What only the rows of a whole report tell."""

from __future__ import annotations

from pathlib import Path

from tests.reports.parser.drawing import printed, read, row

XS = (40, 200, 280, 360)


def test_the_laboratory_s_number_behind_every_name_is_no_part_of_it(
    tmp_path: Path,
) -> None:
    report = read(
        tmp_path,
        [
            row(XS, "Test", "Result", "Units", "Reference Interval"),
            row(XS, "WBC01", "5.9", "x10E3/uL", "3.4-10.8"),
            row(XS, "Hemoglobin 01", "14.1", "g/dL", "13.0-17.7"),
            row(XS, "Ferritin02", "41", "ng/mL", "30-400"),
        ],
    )

    assert [r.test_name for r in report.results] == ["WBC", "Hemoglobin", "Ferritin"]


def test_one_name_that_ends_in_digits_keeps_them(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            row(XS, "Test", "Result", "Units", "Reference Interval"),
            row(XS, "CA 125", "14", "U/mL", "< 35"),
            row(XS, "Panel 03", "5.9", "mg/dL", "3.4-10.8"),
            row(XS, "Ferritin", "41", "ng/mL", "30-400"),
            row(XS, "Sodium", "140", "mmol/L", "135-145"),
        ],
    )

    assert [r.test_name for r in report.results][:2] == ["CA 125", "Panel 03"]


def test_a_row_quoted_again_on_a_later_page_is_one_row(tmp_path: Path) -> None:
    titles = row(XS, "Test", "Result", "Units", "Reference Interval")
    report = read(
        tmp_path,
        [titles, row(XS, "Sodium", "140", "mmol/L", "135-145")],
        [
            titles,
            row(XS, "Sodium", "140", "mmol/L", "135-145"),
            row(XS, "Urea", "5.1", "mmol/L", "2.5-7.8"),
        ],
    )

    assert [r.test_name for r in report.results] == ["Sodium", "Urea"]


def test_numbers_that_count_the_rows_are_no_part_of_names(tmp_path: Path) -> None:
    xs = (40, 55, 220, 300, 380)

    report = read(
        tmp_path,
        [
            row(xs, "#", "Test", "Result", "Unit", "Range"),
            row(xs, "1", "Sodium", "139", "mmol/L", "136 - 145"),
            row(xs, "2", "Potassium", "3.4", "mmol/L", "3.5 - 5.1"),
            row(xs, "3", "17-OH Progesterone", "1.2", "ng/mL", "0.2 - 1.7"),
        ],
    )

    assert [r.test_name for r in report.results] == [
        "Sodium",
        "Potassium",
        "17-OH Progesterone",
    ]


def test_a_summary_before_the_results_and_a_glossary_behind_add_nothing(
    tmp_path: Path,
) -> None:
    xs = (40, 200, 300, 400)

    report = read(
        tmp_path,
        [
            "Parameters that need attention",
            row(xs, "LDL Cholesterol", "154 mg/dL", "High"),
            row(xs, "Triglycerides", "181 mg/dL", "High"),
        ],
        [
            row(xs, "Test", "Result", "Unit", "Range"),
            row(xs, "LDL Cholesterol", "154", "mg/dL", "< 100"),
            row(xs, "Triglycerides", "181", "mg/dL", "< 150"),
        ],
        [
            row(xs, "Marker", "Optimal", "Borderline", "High"),
            row(xs, "LDL Cholesterol", "< 100", "130 - 159", ">= 160"),
            row(xs, "Triglycerides", "< 150", "150 - 199", ">= 200"),
        ],
    )

    assert printed(report) == [
        ("LDL Cholesterol", "154", "mg/dL", "< 100"),
        ("Triglycerides", "181", "mg/dL", "< 150"),
    ]
