"""Reference ranges: the written forms of real reports."""

from __future__ import annotations

import pytest

from reports.parser.text.ranges import (
    Bounds,
    looks_like_range,
    parse_labeled_range,
    parse_range_bounds,
)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("13.00 - 17.00", 13.0, 17.0),
        ("(135-145)", 135.0, 145.0),
        ("[70-140]", 70.0, 140.0),
        ("00 - 06", 0.0, 6.0),
        ("4.5–11.0", 4.5, 11.0),
        ("6 .0 - 8.0 pH", 6.0, 8.0),
        ("(1.08-2.25", 1.08, 2.25),
        ("4,000 - 11,000", 4000.0, 11000.0),
        ("1,50,000 - 4,50,000", 150000.0, 450000.0),
        ("13.0 - 17.0 g/dL", 13.0, 17.0),
        ("3.4 - 10.8 x10E3/uL", 3.4, 10.8),
        ("<200.00", None, 200.0),
        ("(< 5.2)", None, 5.2),
        ("Upto 14", None, 14.0),
        (">59", 59.0, None),
        ("> OR = 60 mL/min/1.73m2", 60.0, None),
        ("between 70 and 110", 70.0, 110.0),
        ("-2.0 - 2.0", -2.0, 2.0),
        ("-2 to +2", -2.0, 2.0),
        ("(-3) - (+3)", -3.0, 3.0),
        ("VN: 0 - 40", 0.0, 40.0),
        ("bis 5,0", None, 5.0),
        ("70‑110", 70.0, 110.0),
        ("70 mg/dL-110 mg/dL", 70.0, 110.0),
        ("40% - 75%", 40.0, 75.0),
        ("до 5.2", None, 5.2),
        ("< a 200", None, 200.0),
        ("> de 40", 40.0, None),
        ("größer als 60", 60.0, None),
        ("inférieur à 5,0", None, 5.0),
        ("inférieure ou égale à 5", None, 5.0),
        ("supérieur à 0,40", 0.4, None),
        ("moins de 150", None, 150.0),
        ("entre 70 et 110", 70.0, 110.0),
        ("hasta 5,0", None, 5.0),
        ("menos de 200", None, 200.0),
        ("de 70 a 110", 70.0, 110.0),
        ("até 5,0", None, 5.0),
        ("superior a 40", 40.0, None),
        ("fino a 5,0", None, 5.0),
        ("maggiore di 40", 40.0, None),
        ("zwischen 3,5 und 5,1", 3.5, 5.1),
    ],
)
def test_an_unambiguous_range_has_bounds(
    text: str, low: float | None, high: float | None
) -> None:
    bounds = parse_range_bounds(text)

    assert (bounds.low, bounds.high) == (low, high)


@pytest.mark.parametrize(
    "text",
    [
        "7-5 - 12.0",
        "Not Estab.",
        "Negative",
        "",
        "<6 years:up to 50 / >6 years:up to 40",
        "Men: 25.8-60.7 Women cyclic: 12.4-398 Menopausal: <5-138",
        "Deficient : < 20 Insufficient : 20 - 29 Sufficient : 30 - 100",
        "Male 4.8-5.5 Female 4.3-4.8",
    ],
)
def test_a_range_in_doubt_has_no_bounds(text: str) -> None:
    assert parse_range_bounds(text) == Bounds()


@pytest.mark.parametrize(
    ("sex", "low", "high"), [("male", 4.8, 5.5), ("female", 4.3, 4.8)]
)
def test_the_sex_in_the_header_decides_a_range_by_sex(
    sex: str, low: float, high: float
) -> None:
    assert parse_range_bounds("Male 4.8-5.5 Female 4.3-4.8", sex=sex) == Bounds(
        low, high
    )
    assert parse_range_bounds("4.8-5.5 (M) 4.3-4.8 (F)", sex=sex) == Bounds(low, high)


def test_the_sex_does_not_decide_a_range_that_also_asks_the_phase() -> None:
    text = "Men: 25.8-60.7 Women cyclic: 12.4-398 Menopausal: <5-138"

    assert parse_range_bounds(text, sex="female") == Bounds()


def test_decimal_commas_are_read_in_ranges() -> None:
    assert parse_range_bounds("4,5 - 11", decimal_comma=True) == Bounds(4.5, 11.0)


@pytest.mark.parametrize("text", ["13 - 17", "< 5", "Not Estab.", "Non reactive"])
def test_a_range_is_known_by_its_form(text: str) -> None:
    assert looks_like_range(text)


@pytest.mark.parametrize("text", ["mg/dL", "Photometry", "Serum", "H", "1-0-0."])
def test_other_cells_are_no_range(text: str) -> None:
    assert not looks_like_range(text)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("Reference range: 70 - 99", "70 - 99"),
        ("Usual range: 0.0 - 5.0 mmol/L", "0.0 - 5.0 mmol/L"),
        ("N.R: 36 - 48 %", "36 - 48 %"),
        ("Referentie: 8,5 - 11,0 mmol/L", "8,5 - 11,0 mmol/L"),
        ("Bio. Ref. Interval. :", ""),
        ("Reference ranges differ by method", None),
        ("Sodium 140", None),
    ],
)
def test_a_line_may_announce_a_range(line: str, text: str | None) -> None:
    assert parse_labeled_range(line) == text
