"""Ranges and units as laboratories spell them, on whole pages."""

from __future__ import annotations

import pytest

from reports.parser.text.ranges import Bounds, parse_range_bounds
from tests.reports.parser.test_odd_places import rows_of

SODIUM = ("Sodium", "140", "mmol/L", "135 - 145")


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("Until 40", Bounds(high=40)),
        ("Not more than 40", Bounds(high=40)),
        ("40 or less", Bounds(high=40)),
        ("60 or above", Bounds(low=60)),
        ("4.0 10^3/uL - 10.0 10^3/uL", Bounds(4, 10)),
        ("3.5 … 5.1", Bounds(3.5, 5.1)),
    ],
)
def test_a_range_in_words_or_with_units_has_bounds(text, bounds):
    assert parse_range_bounds(text) == bounds


@pytest.mark.parametrize(
    ("line", "row"),
    [
        ("WBC count 7.8 th/cumm 4.0 - 10.0", ("7.8", "th/cumm", "4.0 - 10.0")),
        ("WBC count 7.8H 10^3/uL 4.0 - 10.0", ("7.8", "10^3/uL", "4.0 - 10.0")),
        ("WBC count *7.8 10^3/uL 4.0 - 10.0", ("7.8", "10^3/uL", "4.0 - 10.0")),
        ("WBC count 7.8(H) 10^3/uL 4.0 - 10.0", ("7.8", "10^3/uL", "4.0 - 10.0")),
        ("WBC count 7.8 [4.0 - 10.0 K/uL]", ("7.8", "K/uL", "[4.0 - 10.0 K/uL]")),
        ("WBC count (K/uL) 245 150 - 410", ("245", "K/uL", "150 - 410")),
        ("WBC count 7.8 K/uL N.V. 4.0 - 10.0", ("7.8", "K/uL", "4.0 - 10.0")),
        ("WBC count 7.8 K/uL Not more than 10.0",
         ("7.8", "K/uL", "Not more than 10.0")),
        ("WBC count 7.8 10^3/uL 4.0 10^3/uL - 10.0 10^3/uL",
         ("7.8", "10^3/uL", "4.0 10^3/uL - 10.0 10^3/uL")),
        ("WBC count            7.8        K/uL H     4.0 - 10.0",
         ("7.8", "K/uL", "4.0 - 10.0")),
        ("WBC count            7.8 Normal K/uL       4.0 - 10.0",
         ("7.8", "K/uL", "4.0 - 10.0")),
        ("WBC count            : 7.8      : K/uL     : 4.0 - 10.0",
         ("7.8", "K/uL", "4.0 - 10.0")),
    ],
)  # fmt: skip
def test_each_word_of_a_line_without_titles_has_its_place(line, row):
    rows = rows_of(f"{line}\nSodium               140        mmol/L     135 - 145\n")

    assert rows == [("WBC count", *row), SODIUM]


@pytest.mark.parametrize(
    "bands",
    [
        ("Desirable: <200", "Borderline: 200-239", "High: >239"),
        ("<200 Desirable", "200-239 Borderline", ">239 High"),
        ("0-12 yrs: 100-200", "13-18 yrs: 110-210", ">18 yrs: 120-220"),
        ("Men: 100-200", "Women: 110-210", "Children: 90-180"),
    ],
)
def test_bands_below_a_range_are_of_it_without_titles(bands):
    first, *below = bands
    under = "".join(f"{'':43}{band}\n" for band in below)
    rows = rows_of(
        "Sodium               140        mmol/L     135 - 145\n"
        f"Total cholesterol    212        mg/dL      {first}\n{under}"
        f"HDL cholesterol      52         mg/dL      {first}\n{under}"
        "Potassium            4.2        mmol/L     3.5 - 5.1\n"
    )

    assert rows == [
        SODIUM,
        ("Total cholesterol", "212", "mg/dL", " ".join(bands)),
        ("HDL cholesterol", "52", "mg/dL", " ".join(bands)),
        ("Potassium", "4.2", "mmol/L", "3.5 - 5.1"),
    ]
