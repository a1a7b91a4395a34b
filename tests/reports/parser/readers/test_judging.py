"""Readings of the same words, of which one is believed."""

from __future__ import annotations

import pytest

from reports.parser.rows.grammar import swallows_row
from tests.reports.parser.drawing import read, row

LEFT = (20, 100, 130, 165)
MIDDLE = (215, 295, 325, 360)
RIGHT = (410, 490, 520, 555)
TITLES = ("Test", "Result", "Unit", "Range")


def results(report):
    return [(r.test_name, r.value, r.units, r.reference_range) for r in report.results]


def test_three_tables_abreast_that_begin_at_other_heights_are_read_whole(tmp_path):
    left = [
        ("Hemoglobin", "12.4", "g/dL", "13 - 17"),
        ("MCV", "87.8", "fL", "80 - 100"),
        ("MCH", "28.5", "pg", "27 - 32"),
        ("RDW-CV", "13.6", "%", "11 - 15"),
        ("Neutrophils", "72", "%", "40 - 70"),
        ("Lymphocytes", "20", "%", "20 - 40"),
    ]
    lines = [
        [*row(LEFT, *TITLES), *row(MIDDLE, *TITLES), *row(RIGHT, *TITLES)],
        [
            *row(LEFT, *left[0]),
            *row(MIDDLE, "Glucose", "142", "mg/dL", "70 - 100"),
            *row(RIGHT, "TSH", "5.2", "µIU/mL", "0.4 - 4"),
        ],
        [*row(LEFT, *left[1])],
        [*row(LEFT, *left[2]), *row(MIDDLE, *TITLES)],
        [*row(LEFT, *left[3]), *row(MIDDLE, "Sodium", "138", "mmol/L", "135 - 145")],
        [
            *row(LEFT, *left[4]),
            *row(MIDDLE, "Potassium", "5.1", "mmol/L", "3.5 - 5"),
            *row(RIGHT, "Albumin", "4.1", "g/dL", "3.5 - 5.2"),
        ],
        [*row(LEFT, *left[5]), *row(RIGHT, "Globulin", "3.1", "g/dL", "2 - 3.5")],
    ]

    found = results(read(tmp_path, lines))

    beside = [
        ("Glucose", "142", "mg/dL", "70 - 100"),
        ("TSH", "5.2", "µIU/mL", "0.4 - 4"),
        ("Sodium", "138", "mmol/L", "135 - 145"),
        ("Potassium", "5.1", "mmol/L", "3.5 - 5"),
        ("Albumin", "4.1", "g/dL", "3.5 - 5.2"),
        ("Globulin", "3.1", "g/dL", "2 - 3.5"),
    ]
    assert sorted(found) == sorted([*left, *beside])


def test_a_result_in_two_units_behind_a_gloss_gives_both(tmp_path):
    xs = (40, 200, 340, 400, 470)
    report = read(
        tmp_path,
        [
            [(40, "Test"), (340, "Result"), (400, "Unit"), (470, "Range")],
            row(xs, "Sodium", "", "141", "mmol/L", "(135-145)"),
            [(40, "HbA1c"), (270, "5.2 %"), (340, "33"), (400, "mmol/mol")],
            row(xs, "Potassium", "", "4.1", "mmol/L", "(3.5-5.1)"),
        ],
    )

    assert results(report) == [
        ("Sodium", "141", "mmol/L", "(135-145)"),
        ("HbA1c", "5.2", "%", None),
        ("HbA1c", "33", "mmol/mol", None),
        ("Potassium", "4.1", "mmol/L", "(3.5-5.1)"),
    ]


def test_results_under_a_title_with_its_date_beside_it_are_one_column(tmp_path):
    report = read(
        tmp_path,
        [
            [(40, "Test Name"), (200, "Results"), (240, "07/28/18"), (320, "Range")],
            [(40, "Sodium"), (205, "141"), (320, "135-145 mmol/L")],
            [(40, "SHBG"), (255, "82"), (320, "15-120 nmol/L")],
            [(40, "Albumin"), (230, "4.1"), (320, "3.5-5.2 g/dL")],
        ],
    )

    assert [(r.test_name, r.value, r.units) for r in report.results] == [
        ("Sodium", "141", "mmol/L"),
        ("SHBG", "82", "nmol/L"),
        ("Albumin", "4.1", "g/dL"),
    ]


def test_rows_of_one_table_stay_as_their_columns_have_them(tmp_path):
    xs = (40, 200, 270, 340, 430)
    report = read(
        tmp_path,
        [
            row(xs, "Test", "Result", "Unit", "Range", "Previous"),
            row(xs, "Sodium", "141", "mmol/L", "135 - 145", "139"),
            row(xs, "Potassium", "4.1", "mmol/L", "3.5 - 5.1", "4.4"),
        ],
    )

    assert results(report) == [
        ("Sodium", "141", "mmol/L", "135 - 145"),
        ("Potassium", "4.1", "mmol/L", "3.5 - 5.1"),
    ]


@pytest.mark.parametrize(
    ("text", "swallows"),
    [
        ("Lymphocytes 20 % 20 - 40 Normal VLDL Cholesterol", True),
        ("SGPT (ALT) 62 U/L 7 - 56 High 5 - 40", True),
        ("Adult 64 - 306", False),
        ("25-OH Vitamin D", False),
        ("4.0 - 5.6 Normal 5.7 - 6.4 Prediabetes", False),
    ],
)
def test_a_value_with_unit_and_range_inside_a_text_is_another_row(text, swallows):
    assert swallows_row(text) is swallows


def test_a_page_of_shares_that_no_test_can_have_gives_no_rows(tmp_path):
    xs = (40, 200, 270, 340)
    report = read(
        tmp_path,
        [
            row(xs, "Test", "Result", "Unit", "Range"),
            row(xs, "Cortisol", "15.6", "ug/dL", "8.5 - 19.8"),
            row(xs, "Sodium", "141", "mmol/L", "135 - 145"),
        ],
        [
            [(40, "Symptom"), (200, "Share")],
            [(40, "Low Cortisol"), (200, "39%")],
            [(40, "High Cortisol"), (200, "37%")],
        ],
    )

    assert [(r.test_name, r.value) for r in report.results] == [
        ("Cortisol", "15.6"),
        ("Sodium", "141"),
    ]


NAMES = ("Sodium", "Potassium", "Calcium", "Creatinine", "Urea")
GLOSSES = ("Natrium", "Kalium", "Kalzium", "Kreatinin", "Harnstoff")


def test_a_second_column_of_names_without_a_title_is_not_of_the_name(tmp_path):
    lines = [
        row((20, 120, 230, 270, 330), name, gloss, f"{n}.1", "mmol/L", "1.0 - 9.0")
        for n, (name, gloss) in enumerate(zip(NAMES, GLOSSES, strict=True), start=2)
    ]

    found = results(read(tmp_path, lines))

    assert [name for name, *_ in found] == list(NAMES)


def test_words_apart_in_a_single_name_stay_in_it(tmp_path):
    lines = [
        row((20, 230, 270, 330), name, f"{n}.1", "mmol/L", "1.0 - 9.0")
        for n, name in enumerate(NAMES, start=2)
    ]
    lines.append(
        row((20, 90, 230, 270, 330), "Glucose", "fasting", "5.1", "mmol/L", "1.0 - 9.0")
    )

    found = results(read(tmp_path, lines))

    assert [name for name, *_ in found] == [*NAMES, "Glucose fasting"]
