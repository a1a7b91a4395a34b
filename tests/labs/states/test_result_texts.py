from __future__ import annotations

from decimal import Decimal

import pytest

from labs.states.result_texts import (
    Interval,
    get_reference_range_bounds,
    parse_reference_range,
    parse_result_value,
)


def interval(low=None, high=None, **fields):
    bounds = [None if one is None else Decimal(one) for one in (low, high)]
    return Interval(*bounds, **fields)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("<5", interval(high="5", with_high=False)),
        ("<=10.5", interval(high="10.5")),
        (">3", interval(low="3", with_low=False)),
        (">=7.25", interval(low="7.25")),
        ("1-10", interval("1", "10")),
        ("< OR = 9.9", interval(high="9.9")),
        ("> or = 2", interval(low="2")),
        ("<or=1.0", interval(high="1.0")),
        ("65-99", interval("65", "99")),
        (" 3.5 - 5.1 ", interval("3.5", "5.1")),
        ("(0.4-4.5)", interval("0.4", "4.5")),
        ("-2.0-2.0", interval("-2.0", "2.0")),
        ("-5 to -1", interval("-5", "-1")),
        ("1–10", interval("1", "10")),
        ("≤ 5", interval(high="5")),
        (".5-1.", interval("0.5", "1")),
        ("65-99 mg/dL", interval("65", "99")),
    ],
)
def test_a_range_is_read_in_every_written_form(text, read):
    assert parse_reference_range(text, "mg/dL") == read


@pytest.mark.parametrize(
    "text",
    [
        "",
        "NEGATIVE",
        "See note",
        "99-65",
        "1,250-4,000",
        "65-99 mmol/L",
        "<5 or >10",
        "1-2-3",
        "10",
        f"1-{'9' * 60}",
    ],
)
def test_a_text_that_is_no_plain_range_has_no_bounds(text):
    assert parse_reference_range(text, "mg/dL") is None
    assert get_reference_range_bounds(parse_reference_range(text)) == (None, None)


@pytest.mark.parametrize(
    ("result", "reference", "above", "below"),
    [
        ("99", "65-99", False, False),
        ("99.1", "65-99", True, False),
        ("64.9", "65-99", False, True),
        ("5", "<5", True, False),
        ("5", "<=5", False, False),
        ("3", ">3", False, True),
        ("3", ">=3", False, False),
        ("<5", "10-20", False, True),
        ("<5", "1-10", False, None),
        ("<5", "<5", False, False),
        ("<=5", "<5", None, False),
        (">60", ">=60", False, False),
        (">200", "100-200", True, False),
        (">=200", "100-200", None, False),
        ("0-2", "0-5", False, False),
        ("0-9", "0-5", None, False),
        ("6-9", "0-5", True, False),
    ],
)
def test_a_result_lies_above_or_below_only_where_that_is_certain(
    result, reference, above, below
):
    amount, limits = parse_result_value(result).amount, parse_reference_range(reference)

    assert amount.exceeds(limits) is above
    assert amount.falls_below(limits) is below


@pytest.mark.parametrize(
    ("text", "declared", "kind", "written", "number"),
    [
        ("12.30", "", "numeric", "12.30", 12.3),
        ("+.5", "", "numeric", "0.5", 0.5),
        ("-3", "", "numeric", "-3", -3.0),
        ("< 5", "", "range", "<5", None),
        (">= 7.25", "numeric", "range", ">=7.25", None),
        ("< OR = 9.9", "", "range", "<=9.9", None),
        ("0 - 2", "", "range", "0-2", None),
        ("NEGATIVE", "", "coded_value", "NEGATIVE", None),
        ("Not detected", "coded_value", "coded_value", "NOT DETECTED", None),
        ("Not detected", "", "comment", "Not detected", None),
        ("1,250", "", "comment", "1,250", None),
        ("12.3", "comment", "comment", "12.3", None),
        ("12.3", "picture", "picture", "12.3", None),
        ("", "", "comment", "", None),
    ],
)
def test_a_result_is_written_in_the_form_of_its_type(
    text, declared, kind, written, number
):
    told = parse_result_value(text, declared)

    assert (told.type, told.text, told.number) == (kind, written, number)
