"""A share and a count of one test on one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports.parser.pages import Word
from reports.parser.rows.pairs import read_percentage_and_count_pair
from tests.reports.parser.drawing import printed, read, row


def words(text: str) -> list[Word]:
    return [
        Word(piece, 40.0 * n, 0, 40.0 * n + 30, 9, 9)
        for n, piece in enumerate(text.split())
    ]


@pytest.mark.parametrize(
    ("text", "share", "count"),
    [
        (
            "61,0 % 4.526 /mm³ 1.500 a 7.000",
            ("61,0", None),
            ("4.526", "1.500 a 7.000"),
        ),
        ("58,0 % soit 4,01 Giga/L", ("58,0", None), ("4,01", None)),
        (
            "57.2 % 40 - 80 4.64 10^3/uL 2.0 - 7.0",
            ("57.2", "40 - 80"),
            ("4.64", "2.0 - 7.0"),
        ),
        ("57.2 % 4.64 10^3/uL 40 - 80", ("57.2", "40 - 80"), ("4.64", None)),
        (
            "3,0 % 220 /mm3 1 a 5 % 50 a 500 /mm3",
            ("3,0", "1 a 5"),
            ("220", "50 a 500"),
        ),
        ("61,0 % 77 /mm3 40 a 70 %", ("61,0", "40 a 70"), ("77", None)),
        ("0,7 % 0,05 Giga/L < 0,20", ("0,7", None), ("0,05", "< 0,20")),
    ],
)
def test_a_range_goes_to_the_number_it_is_of(text, share, count) -> None:
    pair = read_percentage_and_count_pair(words(text))

    assert pair is not None
    assert [(f.value, f.range) for f in pair] == [share, count]


@pytest.mark.parametrize(
    "text", ["5.2 mmol/L 5.0 mmol/L", "61 % 58 %", "5.2 mmol/L 4 %", "61 % 40 - 75"]
)
def test_an_earlier_result_or_a_change_is_no_pair(text: str) -> None:
    assert read_percentage_and_count_pair(words(text)) is None


def test_columns_of_shares_and_counts_give_two_rows_each(tmp_path: Path) -> None:
    xs = (40, 150, 220, 310, 420)

    report = read(
        tmp_path,
        [
            row(xs, "Test", "Result %", "Range", "Result 10^3/uL", "Range"),
            row(xs, "Neutrophils", "57.2", "40.0 - 80.0", "4.64", "2.00 - 7.00"),
            row(xs, "Lymphocytes", "33.0", "20.0 - 40.0", "2.68", "1.00 - 3.00"),
        ],
    )

    assert printed(report) == [
        ("Neutrophils", "57.2", "%", "40.0 - 80.0"),
        ("Neutrophils", "4.64", "10^3/uL", "2.00 - 7.00"),
        ("Lymphocytes", "33.0", "%", "20.0 - 40.0"),
        ("Lymphocytes", "2.68", "10^3/uL", "1.00 - 3.00"),
    ]
