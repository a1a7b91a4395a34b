"""Results quoted in running text."""

from __future__ import annotations

from pathlib import Path

from tests.reports.parser.drawing import printed, read


def test_results_are_read_from_a_sentence_and_doses_are_not(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            "Laboratory of 11.03.2024: Hb 11.9 g/dl (12-16), Potassium 3.9 mmol/l",
            "(3.5-5.1), CRP 48 mg/l (<5), TSH 1.8 mU/l (0.3-4.2).",
            "",
            "Discharged with Ramipril 5 mg 1-0-0.",
        ],
    )

    assert printed(report) == [
        ("Hb", "11.9", "g/dl", "(12-16)"),
        ("Potassium", "3.9", "mmol/l", "(3.5-5.1)"),
        ("CRP", "48", "mg/l", "(<5)"),
        ("TSH", "1.8", "mU/l", "(0.3-4.2)"),
    ]


def test_a_grid_has_a_whole_result_in_each_cell(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            [(40, "Na 139 mmol/L (135-145)"), (220, "K 4.4 mmol/L (3.5-5.1)")],
            [(40, "Urea 6.1 mmol/L (2.5-7.8)"), (220, "Albumin 41 g/L (35-50)")],
        ],
    )

    assert sorted(printed(report)) == [
        ("Albumin", "41", "g/L", "(35-50)"),
        ("K", "4.4", "mmol/L", "(3.5-5.1)"),
        ("Na", "139", "mmol/L", "(135-145)"),
        ("Urea", "6.1", "mmol/L", "(2.5-7.8)"),
    ]
