"""Values as laboratories print them."""

from __future__ import annotations

import pytest

from reports.parser.report import ResultType
from reports.parser.text.values import (
    infer_value_type,
    is_not_reported,
    is_out_of_range_flag,
    is_result_value,
    parse_number_with_comparator,
    parse_printed_number,
    split_value_and_flag,
)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("13.5", 13.5),
        ("05", 5.0),
        ("00", 0.0),
        ("5,100", 5100.0),
        ("1,45,000", 145000.0),
        ("11,400.5", 11400.5),
        ("6,73", 6.73),
        ("0,123", 0.123),
        ("-2.1", -2.1),
        ("12'500", 12500.0),
        ("12 or so", None),
        ("", None),
        ("1" * 400, None),
    ],
)
def test_a_number_is_read_as_it_is_grouped(text: str, number: float | None) -> None:
    assert parse_printed_number(text) == number


@pytest.mark.parametrize(("text", "number"), [("5,100", 5.1), ("1.234,5", 1234.5)])
def test_a_report_with_decimal_commas_has_them_in_every_number(
    text: str, number: float
) -> None:
    assert parse_printed_number(text, decimal_comma=True) == number


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("13.5", ResultType.NUMERIC),
        ("1,45,000", ResultType.NUMERIC),
        ("<10", ResultType.RANGE),
        ("< 0.1", ResultType.RANGE),
        ("1-2", ResultType.RANGE),
        ("0 - 5", ResultType.RANGE),
        ("45 %", ResultType.PERCENTAGE),
        ("1/80", ResultType.RATIO),
        ("Non reactive", ResultType.COMMENT),
        ("1+", ResultType.COMMENT),
    ],
)
def test_the_type_follows_from_the_form(text: str, kind: ResultType) -> None:
    assert infer_value_type(text) is kind


@pytest.mark.parametrize(
    ("text", "value", "flag"),
    [
        ("7.2 H", "7.2", "H"),
        ("7.2H", "7.2", "H"),
        ("9.10 [L]", "9.10", "L"),
        ("00 L", "00", "L"),
        ("131 (H)", "131", "H"),
        ("H 0.44", "0.44", "H"),
        ("10.5*", "10.5", "*"),
        ("0.05 ↓", "0.05", "↓"),
        ("6,8 +", "6,8", "+"),
        ("1+", "1+", None),
        ("Negative", "Negative", None),
        ("502+", "502", "+"),
        ("6 Alert Low", "6", "Alert Low"),
        ("0,61-", "0,61", "-"),
        ("3+", "3+", None),
    ],
)
def test_a_flag_is_parted_from_its_value(
    text: str, value: str, flag: str | None
) -> None:
    assert split_value_and_flag(text) == (value, flag)


@pytest.mark.parametrize(
    "text",
    [
        "Non reactive",
        "Reactive 1:64",
        "1+",
        "Not detected",
        "Pale yellow",
        "G1",
        "1:320 Speckled",
        "Seen (+)",
        "ujemny",
        "No se observan",
        "strohgelb",
        "1:160",
    ],
)
def test_a_finding_in_words_is_a_value(text: str) -> None:
    assert is_result_value(text)


@pytest.mark.parametrize(
    "text", ["B12", "Hemoglobin", "of the patients", "Page 1 of 3"]
)
def test_other_words_are_no_value(text: str) -> None:
    assert not is_result_value(text)


@pytest.mark.parametrize("text", ["", "-", "....", "PENDING", "Result to follow"])
def test_nothing_reported_is_blank(text: str) -> None:
    assert is_not_reported(text)


@pytest.mark.parametrize(
    "word", ["Alto", "BAJO", "Elevado", "élevé", "Hoch", "erniedrigt", "Basso", "Baixo"]
)
def test_a_flag_may_be_a_word_of_another_language(word: str) -> None:
    assert is_out_of_range_flag(word)
    assert split_value_and_flag(f"4,1 {word}") == ("4,1", word)


@pytest.mark.parametrize(
    ("text", "comparator", "size"),
    [
        ("Inferior a 0,5", "<", 0.5),
        ("less than 10", "<", 10.0),
        ("supérieur à 90", ">", 90.0),
    ],
)
def test_words_of_comparison_are_read_as_their_sign(
    text: str, comparator: str, size: float
) -> None:
    found = parse_number_with_comparator(text)

    assert is_result_value(text)
    assert found is not None
    assert (found.comparator, found.size) == (comparator, size)
