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
