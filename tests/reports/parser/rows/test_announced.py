"""Ranges that stand apart from the value of their row."""

from __future__ import annotations

from pathlib import Path

from tests.reports.parser.drawing import Ink, printed, read, row

XS = (40, 250, 330, 400)


def test_an_ideal_under_a_value_is_its_range(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            [(40, "Ferritin"), (300, "96 µg/L")],
            [(300, "Ideal: 30 - 150 µg/L")],
            [(40, "Homocysteine"), (300, "8.9 µmol/L")],
            [(300, "Ideal: < 10.4 µmol/L")],
            [(40, "Kalium"), (300, "5.4 mmol/L")],
            [(40, "Referentiewaarde: 3.5 - 5.0 mmol/L")],
        ],
    )

    ranges = [r.reference_range for r in report.results]
    assert ranges == ["30 - 150", "< 10.4", "3.5 - 5.0"]


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


def test_bands_hang_below_the_beginning_of_an_announced_range(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            [(40, "CREATININEMIA"), (250, "1,02 mg/dl")],
            [(60, "V.R.:"), (85, "Hombres: 0,70 - 1,20 mg/dl")],
            [(85, "Mujeres: 0,50 - 0,90 mg/dl")],
            [(40, "GLUCEMIA"), (250, "94 mg/dl")],
            [(60, "V.R.:"), (85, "70 - 110 mg/dl")],
        ],
    )

    assert printed(report) == [
        (
            "CREATININEMIA",
            "1,02",
            "mg/dl",
            "Hombres: 0,70 - 1,20 mg/dl Mujeres: 0,50 - 0,90 mg/dl",
        ),
        ("GLUCEMIA", "94", "mg/dl", "70 - 110"),
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


def test_a_note_under_name_and_value_takes_no_range_from_its_row(
    tmp_path: Path,
) -> None:
    report = read(
        tmp_path,
        [
            [(40, "Lab test"), (250, "Result"), (400, "Reference range")],
            [Ink(40, "Glucose", y=80), Ink(250, "94 mg/dL", y=80)],
            [Ink(400, "70-99 mg/dL", y=84)],
            [
                Ink(40, "Collected 11 Mar 2024", y=90, size=7),
                Ink(250, "Normal", y=90, size=7),
            ],
            [Ink(40, "Urea", y=110), Ink(250, "33 mg/dL", y=110)],
            [Ink(400, "10-50 mg/dL", y=114)],
            [
                Ink(40, "Collected 11 Mar 2024", y=120, size=7),
                Ink(250, "Normal", y=120, size=7),
            ],
        ],
    )

    assert [(r.test_name, r.value, r.units) for r in report.results] == [
        ("Glucose", "94", "mg/dL"),
        ("Urea", "33", "mg/dL"),
    ]
    assert [r.reference_range for r in report.results] == ["70-99 mg/dL", "10-50 mg/dL"]


def test_a_range_with_its_unit_under_a_name_tells_the_unit_too(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            [(40, "Hemoglobin"), (300, "13.9")],
            [(40, "12.0-15.5 g/dL"), (300, "Normal")],
            [(40, "Platelets"), (300, "318")],
            [(40, "150-400 10^3/µL"), (300, "Normal")],
        ],
    )

    assert printed(report) == [
        ("Hemoglobin", "13.9", "g/dL", "12.0-15.5"),
        ("Platelets", "318", "10^3/µL", "150-400"),
    ]


def test_what_stands_right_of_a_range_under_its_name_is_no_part_of_it(
    tmp_path: Path,
) -> None:
    report = read(
        tmp_path,
        [
            [(40, "HDL"), (300, "38 mg/dL")],
            [(40, "Reference > 40 mg/dL"), (300, "-1 since Sep 2023")],
            [(40, "LDL"), (300, "121 mg/dL")],
            [(40, "Reference < 130 mg/dL"), (300, "+3 since Sep 2023")],
        ],
    )

    assert [r.reference_range for r in report.results] == ["> 40", "< 130"]


def test_a_range_below_the_method_is_that_of_the_row_above_it(tmp_path: Path) -> None:
    def block(y: float, name: str, value: str, unit: str, spread: str) -> list[Ink]:
        return [
            *(Ink(40, name, y), Ink(270, value, y), Ink(306, unit, y)),
            Ink(52, "Método: Enzimático   Muestra: suero", y + 12, size=7),
            Ink(52, f"Valores de referencia: {spread} {unit}", y + 22, size=7),
        ]

    report = read(
        tmp_path,
        [
            block(80, "GLUCEMIA", "0,98", "g/l", "0,70 a 1,10"),
            block(122, "CREATININA", "8,1", "mg/l", "6,0 a 11,0"),
            block(164, "COLESTEROL TOTAL", "2,31", "g/l", "hasta 2,00"),
        ],
    )

    assert [r.reference_range for r in report.results] == [
        "0,70 a 1,10",
        "6,0 a 11,0",
        "hasta 2,00",
    ]


def test_what_stands_behind_dots_and_a_colon_is_the_value(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            [(40, "Creatinine ............:"), (170, "102 umol/L (N.R: 60 - 120)")],
            [(40, "Urea ............:"), (170, "5.1 mmol/L (N.R: 2.5 - 7.1)")],
            [(40, "Malaria Parasite ............:"), (170, "Seen (+)")],
        ],
    )

    assert [(r.test_name, r.value) for r in report.results] == [
        ("Creatinine", "102"),
        ("Urea", "5.1"),
        ("Malaria Parasite", "Seen (+)"),
    ]
