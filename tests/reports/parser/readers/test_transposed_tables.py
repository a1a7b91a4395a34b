"""Tables that lie on their side."""

from __future__ import annotations

from pathlib import Path

from tests.reports.parser.drawing import printed, read, row

XS = (40, 130, 200, 270)


def test_a_column_for_each_test_is_read_downwards(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            row(XS, "Test", "Sodium", "Potassium", "Urea"),
            row(XS, "Result", "138", "4.2", "5.4"),
            row(XS, "Unit", "mmol/L", "mmol/L", "mmol/L"),
            row(XS, "Range", "135-145", "3.5-5.1", "2.5-7.8"),
        ],
    )

    assert printed(report) == [
        ("Sodium", "138", "mmol/L", "135-145"),
        ("Potassium", "4.2", "mmol/L", "3.5-5.1"),
        ("Urea", "5.4", "mmol/L", "2.5-7.8"),
    ]


def test_of_rows_of_several_days_the_latest_is_read(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            row(XS, "Date", "Hemoglobin", "WBC", "Platelets"),
            row(XS, "Units", "g/dL", "K/uL", "K/uL"),
            row(XS, "2024-03-01", "13.2", "6.1", "244"),
            row(XS, "2023-03-01", "12.8", "5.9", "230"),
        ],
    )

    assert [(r.test_name, r.value) for r in report.results] == [
        ("Hemoglobin", "13.2"),
        ("WBC", "6.1"),
        ("Platelets", "244"),
    ]
