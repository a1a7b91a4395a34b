"""Results on cards, one below another or side by side."""

from __future__ import annotations

from pathlib import Path

from tests.reports.parser.drawing import Drawn, Ink, printed, read, row


def test_cards_side_by_side_are_read_each_by_itself(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            [(40, "Sodium"), (320, "Potassium"), (515, "High")],
            [
                (40, "Normal range: 135 - 145 mmol/L"),
                (320, "Normal range: 3.5 - 5.1 mmol/L"),
            ],
            [(132, "140"), (470, "5.6")],
            [
                Ink(94, "135", size=7),
                Ink(184, "145", size=7),
                Ink(375, "3.5", size=7),
                Ink(465, "5.1", size=7),
            ],
        ],
    )

    assert printed(report) == [
        ("Sodium", "140", "mmol/L", "135 - 145"),
        ("Potassium", "5.6", "mmol/L", "3.5 - 5.1"),
    ]


def test_the_value_of_a_card_is_larger_than_the_numbers_of_its_scale(
    tmp_path: Path,
) -> None:
    report = read(
        tmp_path,
        [
            [(40, "Triglycerides"), (320, "HDL Cholesterol")],
            [(40, "Normal range: < 150 mg/dL"), (320, "Normal range: > 40 mg/dL")],
            [
                Ink(132, "171", size=12),
                Ink(184, "200", size=7),
                Ink(420, "51", size=12),
                Ink(465, "80", size=7),
            ],
        ],
    )

    assert [r.value for r in report.results] == ["171", "51"]


def test_a_card_whose_numbers_are_alike_gives_no_value(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            "Glucose",
            "Normal range: 70 - 99 mg/dL",
            [(60, "88"), (160, "92"), (260, "101")],
            "",
            "Sodium",
            "Normal range: 135 - 145 mmol/L",
            "140",
            "",
            "Potassium",
            "Normal range: 3.5 - 5.1 mmol/L",
            "4.1",
        ],
    )

    assert [r.test_name for r in report.results] == ["Sodium", "Potassium"]


def test_a_range_may_be_named_in_a_cell_of_its_own(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            "Ferritin",
            [(40, "Your value"), (140, "14 ng/mL")],
            [(40, "Normal range"), (140, "15 - 150 ng/mL")],
            "",
            "Triglycerides",
            [(40, "Your value"), (140, "165 mg/dL")],
            [(40, "Normal range"), (140, "Less than 150 mg/dL")],
        ],
    )

    assert printed(report) == [
        ("Ferritin", "14", "ng/mL", "15 - 150"),
        ("Triglycerides", "165", "mg/dL", "Less than 150"),
    ]


def test_names_set_as_known_ones_open_cards_too(tmp_path: Path) -> None:
    def card(name: str, status: str, value: str, below: str) -> list[list[Drawn] | str]:
        return [[(40, name), (240, status)], [Ink(40, value, size=15)], below]

    report = read(
        tmp_path,
        [
            *card("Ferritin", "Normal", "122", "µg/L · range 13 - 150"),
            *card("Iron", "Normal", "19.4", "µmol/L · range 5.8 - 34.5"),
            *card("Unheardine", "Low", "48", "nmol/L · range 50 - 175"),
        ],
    )

    assert printed(report) == [
        ("Ferritin", "122", "µg/L", "13 - 150"),
        ("Iron", "19.4", "µmol/L", "5.8 - 34.5"),
        ("Unheardine", "48", "nmol/L", "50 - 175"),
    ]


def test_labels_over_value_and_range_are_read_by_place(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            "Prolactin",
            [(40, "Result"), (120, "Range"), (200, "Status")],
            [(40, "611 mIU/L"), (120, "86 - 324"), (200, "High")],
            "LH",
            [(40, "Result"), (120, "Unit"), (200, "Range")],
            [(40, "6.2"), (120, "IU/L"), (200, "1.7 - 8.6")],
        ],
    )

    assert printed(report) == [
        ("Prolactin", "611", "mIU/L", "86 - 324"),
        ("LH", "6.2", "IU/L", "1.7 - 8.6"),
    ]


def test_labels_of_cards_abreast_are_no_part_of_what_they_name(
    tmp_path: Path,
) -> None:
    report = read(
        tmp_path,
        [
            [(40, "Iron"), (300, "Folate")],
            [(40, "Value: 61 µg/dL"), (300, "Value: 7.1 ng/mL")],
            [(40, "Reference: 50 - 170"), (300, "Reference: > 4.0")],
        ],
    )

    assert printed(report) == [
        ("Iron", "61", "µg/dL", "50 - 170"),
        ("Folate", "7.1", "ng/mL", "> 4.0"),
    ]


def test_a_card_takes_a_compared_value_and_no_word_on_how_it_is(tmp_path: Path) -> None:
    xs = (48, 222)
    report = read(
        tmp_path,
        [
            row(xs, "Platelets", "CRP"),
            row(xs, "266 10^9/L", "< 1 mg/L"),
            row(xs, "Reference range 150 - 450", "Reference range 0 - 5"),
            row(xs, "Normal", "Normal"),
        ],
    )

    assert printed(report) == [
        ("Platelets", "266", "10^9/L", "150 - 450"),
        ("CRP", "< 1", "mg/L", "0 - 5"),
    ]


def test_levels_in_a_column_right_of_the_value_are_the_range(tmp_path: Path) -> None:
    xs = (42, 217, 351)
    report = read(
        tmp_path,
        [
            [Ink(40, "ESTRADIOL", bold=True)],
            row(xs, "Método: ECLIA", "71 pg/mL", "Fase folicular: 12,4 a 233"),
            row(xs, "Material: Soro", "", "Pós-menopausa: < 5 a 138"),
            "",
            [Ink(40, "TSH", bold=True)],
            row(xs, "Método: ECLIA", "1,92 µUI/mL", "0,27 a 4,20"),
        ],
    )

    assert printed(report) == [
        (
            "ESTRADIOL",
            "71",
            "pg/mL",
            "Fase folicular: 12,4 a 233 Pós-menopausa: < 5 a 138",
        ),
        ("TSH", "1,92", "µUI/mL", "0,27 a 4,20"),
    ]


def test_tests_with_titles_of_their_own_are_read_below_a_table(tmp_path: Path) -> None:
    def block(name: str, value: str, spread: str) -> list[list[Drawn]]:
        return [
            [name],
            [Ink(40, "Method: Enzymatic", size=7)],
            row((200, 380), "RESULT", "REFERENCE VALUES"),
            row((200, 380), value, spread),
        ]

    report = read(
        tmp_path,
        [
            row((40, 200, 380), "TEST", "RESULT", "REFERENCE VALUES"),
            row((40, 200, 380), "Hemoglobin", "14.2 g/dL", "13.5 - 17.5"),
            *block("GLUCOSE", "103 mg/dL", "70 - 99 mg/dL"),
            *block("CREATININE", "0.92 mg/dL", "0.70 - 1.30 mg/dL"),
        ],
    )

    assert [(r.test_name, r.value, r.units) for r in report.results] == [
        ("Hemoglobin", "14.2", "g/dL"),
        ("GLUCOSE", "103", "mg/dL"),
        ("CREATININE", "0.92", "mg/dL"),
    ]


def test_an_earlier_result_in_brackets_of_its_day_is_no_result(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            "Leucocytes",
            "6,42 G/L",
            "Valeurs usuelles : 4,00 - 10,00",
            "Antériorité (10/07/2025) : 6,10 G/L",
            "",
            "Plaquettes",
            "412 G/L",
            "Valeurs usuelles : 150 - 400",
            "Antériorité (10/07/2025) : 388 G/L",
        ],
    )

    assert [(r.test_name, r.value) for r in report.results] == [
        ("Leucocytes", "6,42"),
        ("Plaquettes", "412"),
    ]
