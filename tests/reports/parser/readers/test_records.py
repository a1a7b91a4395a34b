"""Results written as labelled records."""

from __future__ import annotations

from pathlib import Path

from tests.reports.parser.drawing import Drawn, printed, read


def test_a_record_is_a_test_and_what_its_labels_say(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            "Test: Hemoglobin A1c",
            "Status: Final",
            "Result: 6.1",
            "Units: %",
            "Reference range: 4.0 - 5.6",
            "",
            "Test: Rubella IgG",
            "Result: Positive",
            "Reference range: Negative",
        ],
    )

    assert printed(report) == [
        ("Hemoglobin A1c", "6.1", "%", "4.0 - 5.6"),
        ("Rubella IgG", "Positive", None, "Negative"),
    ]


def test_a_heading_names_the_record_below_it(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            "GLICOSE",
            [(40, "Resultado: 92 mg/dL"), (300, "Valores de referência: 70 a 99")],
            "CREATININA",
            [(40, "Resultado: 0,91 mg/dL"), (300, "Valores de referência: 0,60 a 1,2")],
        ],
    )

    assert printed(report) == [
        ("GLICOSE", "92", "mg/dL", "70 a 99"),
        ("CREATININA", "0,91", "mg/dL", "0,60 a 1,2"),
    ]


def test_a_record_without_a_value_or_a_test_gives_no_row(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            "Test: Ferritin",
            "Result: Pending",
            "Test: Sodium",
            "Result: 140 mmol/L",
            "Reference range: 135 - 145",
            "Measurement: 128/76",
            "Name: Pat Nobody",
            "Room: 12",
        ],
    )

    assert [(r.test_name, r.value) for r in report.results] == [("Sodium", "140")]


def test_a_record_may_follow_a_table_with_its_bands_below(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            [(40, "Exame"), (250, "Resultado"), (400, "Valores de referência")],
            [(40, "Colesterol total"), (250, "204 mg/dL"), (400, "< 190")],
            [(40, "Triglicérides"), (250, "98 mg/dL"), (400, "< 150")],
            "",
            "25-HIDROXIVITAMINA D",
            "Resultado: 23,4 ng/mL",
            "Valores de referência:",
            "Deficiência: inferior a 20 ng/mL",
            "Grupos de risco: 30 a 60 ng/mL",
        ],
    )

    assert printed(report)[-1] == (
        "25-HIDROXIVITAMINA D",
        "23,4",
        "ng/mL",
        "Deficiência: inferior a 20 ng/mL Grupos de risco: 30 a 60 ng/mL",
    )


def test_a_date_beside_the_name_is_no_part_of_it(tmp_path: Path) -> None:
    lines: list[list[Drawn] | str] = []
    for name, value in (("Sodium", "139 mmol/L"), ("Potassium", "3.3 mmol/L")):
        lines += [
            [(40, name), (400, "02/14/2024 7:12 AM")],
            f"Value: {value}",
            "Ref Range: 3.0 - 145 mmol/L",
        ]

    report = read(tmp_path, lines)

    assert [(r.test_name, r.value) for r in report.results] == [
        ("Sodium", "139"),
        ("Potassium", "3.3"),
    ]


def test_the_numbers_of_a_scale_do_not_end_a_record(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            "Platelet Count",
            "Normal range: 150 - 450 K/uL",
            [(144, "150"), (248, "450")],
            "Value: 141 K/uL",
            "MPV",
            "Normal range: 7.4 - 10.4 fL",
            [(144, "7.4"), (248, "10.4")],
            "Value: 9.9 fL",
        ],
    )

    assert [(r.test_name, r.value) for r in report.results] == [
        ("Platelet Count", "141"),
        ("MPV", "9.9"),
    ]


def test_labels_may_stand_in_cells_of_their_own_without_colons(tmp_path: Path) -> None:
    def record(name: str, value: str, unit: str, spread: str) -> list[list[Drawn]]:
        return [
            [(40, "Analyte"), (160, name)],
            [(40, "Result"), (160, value)],
            [(40, "Units"), (160, unit)],
            [(40, "Reference Range"), (160, spread)],
            [(40, "Abnormal Flag"), (160, "N")],
        ]

    report = read(
        tmp_path,
        [
            *record("Apolipoprotein B", "0.92", "g/L", "0.60 - 1.17"),
            *record("Homocysteine", "13.1", "µmol/L", "5.0 - 15.0"),
        ],
    )

    assert printed(report) == [
        ("Apolipoprotein B", "0.92", "g/L", "0.60 - 1.17"),
        ("Homocysteine", "13.1", "µmol/L", "5.0 - 15.0"),
    ]


def test_a_whole_record_takes_an_unknown_heading_for_its_name(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            "CREATININA",
            [(40, "RESULTADO: 0,88 mg/dL"), (300, "Valor de referência: 0,60 a 1,10")],
            "MARCADOR INVENTADO",
            [(40, "RESULTADO: 3,12 pg/mL"), (300, "Valor de referência: 0,40 a 4,30")],
            "HEMOGRAMA",
            [(40, "RESULTADO: 4,71 pg/mL"), (300, "Valor de referência: 4,50 a 6,10")],
        ],
    )

    assert [(r.test_name, r.value) for r in report.results][:2] == [
        ("CREATININA", "0,88"),
        ("MARCADOR INVENTADO", "3,12"),
    ]
    assert "HEMOGRAMA" not in {r.test_name for r in report.results}


def test_how_a_value_is_stands_apart_from_the_name_over_its_record(
    tmp_path: Path,
) -> None:
    report = read(
        tmp_path,
        [
            line
            for name, value, spread in (
                ("hs-CRP", "0.41 mg/L", "0.00-3.00 mg/L"),
                ("ALT (SGPT)", "14 IU/L", "0-32 IU/L"),
            )
            for line in (
                [(40, name), (500, "Normal")],
                f"Your Value: {value}",
                f"Reference Interval: {spread}",
            )
        ],
    )

    assert printed(report) == [
        ("hs-CRP", "0.41", "mg/L", "0.00-3.00"),
        ("ALT (SGPT)", "14", "IU/L", "0-32"),
    ]
