"""Ranges that stand apart from the value of their row."""

from __future__ import annotations

from pathlib import Path

from tests.reports.parser.drawing import printed, read, row

XS = (40, 250, 330, 400)


def test_ranges_over_their_rows_are_told_from_ranges_under_them(
    tmp_path: Path,
) -> None:
    report = read(
        tmp_path,
        [
            "Reference range: 136 - 145",
            [(40, "Sodium"), (200, "139"), (260, "mmol/L")],
            "Reference range: 3.5 - 5.1",
            [(40, "Potassium"), (200, "4.2"), (260, "mmol/L")],
        ],
    )

    assert printed(report) == [
        ("Sodium", "139", "mmol/L", "136 - 145"),
        ("Potassium", "4.2", "mmol/L", "3.5 - 5.1"),
    ]


def test_an_ideal_under_a_value_is_its_range(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            [(40, "Ferritin"), (300, "96 µg/L")],
            [(300, "Ideal: 30 - 150 µg/L")],
            [(40, "Homocysteine"), (300, "8.9 µmol/L")],
            [(300, "Ideal: < 10.4 µmol/L")],
        ],
    )

    assert [r.reference_range for r in report.results] == ["30 - 150", "< 10.4"]


def test_a_plain_range_under_a_name_is_that_of_its_value(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            [(40, "Ferritin"), (400, "12 µg/L")],
            "(15 - 150 µg/L)",
            [(40, "Platelets"), (400, "244 10^9/L")],
            "(150 - 410 10^9/L)",
        ],
    )

    assert printed(report) == [
        ("Ferritin", "12", "µg/L", "15 - 150"),
        ("Platelets", "244", "10^9/L", "150 - 410"),
    ]


def test_a_range_in_front_of_its_value_is_not_read_as_one(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            row(XS, "Ferritin", "15 - 150", "12", "µg/L"),
            row(XS, "Glucose", "3.9 - 5.5", "5.0", "mmol/L"),
        ],
    )

    assert printed(report) == [
        ("Ferritin", "12", "µg/L", "15 - 150"),
        ("Glucose", "5.0", "mmol/L", "3.9 - 5.5"),
    ]


def test_what_announces_a_range_in_another_language_is_left_out(
    tmp_path: Path,
) -> None:
    report = read(
        tmp_path,
        [
            row(XS, "Hémoglobine", "12,1 g/dl", "(VN : 12,0 - 16,0)"),
            row(XS, "Plaquettes", "244 G/L", "(VN : 150 - 400)"),
        ],
    )

    assert [r.reference_range for r in report.results] == ["12,0 - 16,0", "150 - 400"]
