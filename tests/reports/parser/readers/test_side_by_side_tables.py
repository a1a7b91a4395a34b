"""Tables side by side without titles."""

from __future__ import annotations

from pathlib import Path

from tests.reports.parser.drawing import printed, read, row

XS = (40, 130, 165, 215, 320, 410, 445, 490)


def test_two_tables_abreast_are_read_one_after_the_other(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            row(XS, "Sodium", "140", "mmol/L", "135-145", "WBC", "6.1", "K/uL", "4-11"),
            row(XS, "Urea", "5.1", "mmol/L", "2.5-7.8", "RBC", "4.8", "M/uL", "4-5.5"),
            row(XS, "ALT", "33", "U/L", "0-40", "Platelets", "251", "K/uL", "150-400"),
            row(XS, "AST", "28", "U/L", "0-40"),
        ],
    )

    assert printed(report) == [
        ("Sodium", "140", "mmol/L", "135-145"),
        ("Urea", "5.1", "mmol/L", "2.5-7.8"),
        ("ALT", "33", "U/L", "0-40"),
        ("AST", "28", "U/L", "0-40"),
        ("WBC", "6.1", "K/uL", "4-11"),
        ("RBC", "4.8", "M/uL", "4-5.5"),
        ("Platelets", "251", "K/uL", "150-400"),
    ]


def test_an_earlier_result_beside_the_row_is_no_second_table(tmp_path: Path) -> None:
    xs = (40, 130, 165, 215, 320, 410)
    report = read(
        tmp_path,
        [
            row(xs, "Sodium", "140", "mmol/L", "135-145", "ISE", "139"),
            row(xs, "Urea", "5.1", "mmol/L", "2.5-7.8", "Urease", "4.9"),
            row(xs, "ALT", "33", "U/L", "0-40", "IFCC", "31"),
            row(xs, "AST", "28", "U/L", "0-40", "IFCC", "27"),
        ],
    )

    assert [(r.test_name, r.value) for r in report.results] == [
        ("Sodium", "140"),
        ("Urea", "5.1"),
        ("ALT", "33"),
        ("AST", "28"),
    ]


def test_lists_of_findings_with_colons_stand_abreast(tmp_path: Path) -> None:
    xs = (40, 120, 128, 220, 300, 308)
    report = read(
        tmp_path,
        [
            "LABORATORY OF PATHOLOGY",
            "URINE ANALYSIS",
            row(xs, "Colour", ":", "Pale yellow", "Protein", ":", "Trace"),
            row(xs, "Appearance", ":", "Clear", "Glucose", ":", "Negative"),
            row(xs, "pH", ":", "6.0", "Ketones", ":", "Nil"),
        ],
    )

    assert [(r.test_name, r.value) for r in report.results] == [
        ("Colour", "Pale yellow"),
        ("Appearance", "Clear"),
        ("pH", "6.0"),
        ("Protein", "Trace"),
        ("Glucose", "Negative"),
        ("Ketones", "Nil"),
    ]


def test_untitled_tables_side_by_side_may_follow_a_titled_one(tmp_path: Path) -> None:
    xs = (40, 120, 310, 400)
    report = read(
        tmp_path,
        [
            row((40, 170, 230, 290), "Test", "Result", "Unit", "Reference Range"),
            row((40, 170, 230, 290), "Glucose", "5.7", "mmol/L", "4.1 - 5.9"),
            "URINALYSIS",
            row(xs, "Color", "Yellow", "RBC", "0-1 /hpf"),
            row(xs, "pH", "6.0", "WBC", "4-6 /hpf"),
            row(xs, "Protein", "Negative", "Bacteria", "Few"),
        ],
    )

    assert [(r.test_name, r.value) for r in report.results] == [
        ("Glucose", "5.7"),
        ("Color", "Yellow"),
        ("pH", "6.0"),
        ("Protein", "Negative"),
        ("RBC", "0-1"),
        ("WBC", "4-6"),
        ("Bacteria", "Few"),
    ]


def test_tables_abreast_may_have_their_titles_at_different_heights(
    tmp_path: Path,
) -> None:
    left, right = (40, 130, 180, 220), (310, 400, 450, 490)
    titles = ("Test", "Result", "Unit", "Reference")

    report = read(
        tmp_path,
        [
            row(left, *titles),
            row(left, "Sodium", "140", "mmol/L", "135 - 145"),
            row(right, *titles),
            row(left, "Potassium", "4.2", "mmol/L", "3.5 - 5.1"),
            row(right, "Urea", "5.1", "mmol/L", "2.5 - 7.8"),
            [
                *row(left, "Chloride", "101", "mmol/L", "98 - 107"),
                *row(right, "Glucose", "4.9", "mmol/L", "3.9 - 5.6"),
            ],
        ],
    )

    assert printed(report) == [
        ("Sodium", "140", "mmol/L", "135 - 145"),
        ("Potassium", "4.2", "mmol/L", "3.5 - 5.1"),
        ("Chloride", "101", "mmol/L", "98 - 107"),
        ("Urea", "5.1", "mmol/L", "2.5 - 7.8"),
        ("Glucose", "4.9", "mmol/L", "3.9 - 5.6"),
    ]
