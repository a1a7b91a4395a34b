"""Medicines among results."""

from __future__ import annotations

from pathlib import Path

from tests.reports.parser.drawing import Ink, printed, read, row

XS = (40, 200, 280, 360)
TITLES = row(XS, "Test", "Result", "Units", "Range")


def test_doses_between_two_tables_of_results_are_no_rows(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            TITLES,
            row(XS, "Potassium", "3.4", "mmol/L", "3.5 - 5.1"),
            [Ink(40, "Discharge Medications", bold=True)],
            row(XS, "Medication", "Dose", "Frequency", "Quantity"),
            row(XS, "Potassium chloride", "20 mEq", "Twice daily", "60"),
            row(XS, "Vitamin D3", "1000 IU", "Once daily", "90"),
            [Ink(40, "Results of the next day", bold=True)],
            TITLES,
            row(XS, "Potassium", "3.9", "mmol/L", "3.5 - 5.1"),
        ],
    )

    assert printed(report) == [
        ("Potassium", "3.4", "mmol/L", "3.5 - 5.1"),
        ("Potassium", "3.9", "mmol/L", "3.5 - 5.1"),
    ]


def test_medicines_behind_their_label_are_no_rows(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            "Labor: Natrium 138 mmol/l (136-145); Kalium 4,2 mmol/l (3,5-5,1);",
            "Kreatinin 0,94 mg/dl (0,50-0,90).",
            "",
            "Medikation bei Entlassung: Ramipril 5 mg 1-0-0, Amlodipin 5 mg 0-0-1.",
        ],
    )

    assert [r.test_name for r in report.results] == ["Natrium", "Kalium", "Kreatinin"]
