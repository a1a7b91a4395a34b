"""Results given again in another unit, on the line of the first."""

from __future__ import annotations

import pytest

from tests.reports.parser.test_odd_places import TITLES, rows_of

GLUCOSE = ("Glucose", "5.2", "mmol/L", "3.9 - 5.6")
SODIUM = ("Sodium", "140", "mmol/L", "135 - 145")


@pytest.mark.parametrize("titles", [TITLES, ""], ids=["titled", "untitled"])
@pytest.mark.parametrize(
    ("value", "spread"),
    [
        ("5.2 mmol/L (94 mg/dL)", "3.9 - 5.6"),
        ("5.2 mmol/L [94 mg/dL]", "3.9 - 5.6"),
        ("5.2 mmol/L / 94 mg/dL", "3.9 - 5.6"),
        ("5.2 H mmol/L (94 mg/dL)", "3.9 - 5.6"),
    ],
)
def test_a_second_reading_is_a_row_and_leaves_the_first_whole(titles, value, spread):
    rows = rows_of(
        titles
        + f"Glucose              {value}      {spread}\n"
        + "Sodium               140 mmol/L                 135 - 145\n"
        + "Urea                 5.1 mmol/L                 2.5 - 7.8\n"
    )

    assert rows == [
        GLUCOSE,
        ("Glucose", "94", "mg/dL", ""),
        SODIUM,
        ("Urea", "5.1", "mmol/L", "2.5 - 7.8"),
    ]


def test_a_second_range_in_brackets_is_that_of_the_second_reading():
    rows = rows_of(
        "Glucose              5.2 mmol/L (94 mg/dL)      3.9 - 5.6 (70 - 101)\n"
        "Sodium               140 mmol/L                 135 - 145\n"
    )

    assert rows == [GLUCOSE, ("Glucose", "94", "mg/dL", "70 - 101"), SODIUM]


@pytest.mark.parametrize(
    "value", ["5.2 mmol/L (5.6 mmol/L)", "5.2 mmol/L (1 hr)", "5.2 mmol/L (fasting)"]
)
def test_a_number_in_brackets_in_no_other_unit_is_no_row(value):
    rows = rows_of(
        TITLES
        + f"Glucose              {value}      3.9 - 5.6\n"
        + "Sodium               140 mmol/L                 135 - 145\n"
    )

    assert [row for row in rows if row[0] == "Glucose"][1:] == []
    assert SODIUM in rows


def test_a_limit_in_two_units_is_no_second_result():
    rows = rows_of(
        TITLES
        + "Glucose              5.2        mmol/L     < 5.6 mmol/L (101 mg/dL)\n"
        + "Sodium               140        mmol/L     135 - 145\n"
    )

    assert rows == [(*GLUCOSE[:3], "< 5.6 mmol/L (101 mg/dL)"), SODIUM]
