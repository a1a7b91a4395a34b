"""Words of a picture mended where a blank was lost or put in."""

from __future__ import annotations

import pytest

from reports.parser.layout.word_repair import (
    repair_misread_range,
    repair_misread_unit,
    repair_misread_words,
)
from reports.parser.pages import Word


def word(text: str, x: float, y: float = 50) -> Word:
    return Word(text, x, y - 4, x + 5 * len(text), y + 4, 9, sure=0.9)


def test_a_number_in_two_pieces_is_one() -> None:
    (mended,) = repair_misread_words([word("1", 200), word(".94", 207)])

    assert (mended.text, mended.x0, mended.x1) == ("1.94", 200, 222)


@pytest.mark.parametrize("tail", [word(".94", 216), word(".94", 207, 58)])
def test_numbers_apart_or_on_another_line_stay_two(tail: Word) -> None:
    assert [w.text for w in repair_misread_words([word("1", 200), tail])] == [
        "1",
        ".94",
    ]


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ([word("l", 200), word("a", 210), word("5", 220)], "1"),
        ([word("I", 200), word("-", 210), word("12", 220)], "1"),
        ([word("l", 200), word("a", 240), word("5", 250)], "l"),
        ([word("I", 200), word("a", 210), word("day", 220)], "I"),
    ],
)
def test_a_range_begins_with_a_digit(words: list[Word], first: str) -> None:
    assert repair_misread_words(words)[0].text == first


@pytest.mark.parametrize(
    ("glued", "parts"),
    [
        ("140mmol/L", ["140", "mmol/L"]),
        ("<5.0mg/L", ["<5.0", "mg/L"]),
        ("g/dL13.0-17.7", ["g/dL", "13.0-17.7"]),
        ("U/L<40", ["U/L", "<40"]),
        ("mL/min/1.73m2", ["mL/min/1.73m2"]),
        ("10*9/L", ["10*9/L"]),
        ("B12", ["B12"]),
        ("1.23", ["1.23"]),
    ],
)
def test_a_unit_is_parted_from_the_numbers_beside_it(
    glued: str, parts: list[str]
) -> None:
    mended = repair_misread_words([word(glued, 100)])

    assert [w.text for w in mended] == parts
    assert mended[0].x0 == 100
    assert mended[-1].x1 == 100 + 5 * len(glued)


@pytest.mark.parametrize(
    ("read", "printed"),
    [
        ("U/I", "U/l"),
        ("mmol/I", "mmol/l"),
        ("µlU/mL", "µIU/mL"),
        ("mg/dL", "mg/dL"),
        ("x10^9/1", "x10^9/l"),
        ("1/1", "1/1"),
        ("gL", "g/L"),
    ],
)
def test_a_capital_i_in_a_unit_is_a_litre_and_an_l_before_u_is_none(
    read: str, printed: str
) -> None:
    assert repair_misread_unit(read) == printed


def test_words_that_are_no_units_keep_their_letters() -> None:
    assert repair_misread_unit("and/I") == "and/I"


@pytest.mark.parametrize(
    ("read", "printed"),
    [
        ("(0:15-0.40)", "(0.15-0.40)"),
        ("98.-", "98-"),
        ("4.0:11.0", "4.0-11.0"),
        ("10:30-11:00", "10:30-11:00"),
        ("1.5-2.5", "1.5-2.5"),
    ],
)
def test_a_speck_or_a_colon_in_a_range_is_no_part_of_its_numbers(
    read: str, printed: str
) -> None:
    assert repair_misread_range(read) == printed


def test_a_finding_in_two_pieces_is_one() -> None:
    found = repair_misread_words(
        [word("Pos", 100), word("itive", 117), word("clear", 144)]
    )

    assert [w.text for w in found] == ["Positive", "clear"]


def test_a_laboratorys_numbers_behind_most_names_are_no_part_of_them() -> None:
    names = ["Hematocrit01", "Platelets", "UIBC", "Iron"]
    marks = ["", "o1", "a²", "“2"]
    page = [
        w
        for row, (name, mark) in enumerate(zip(names, marks, strict=True))
        for w in (
            [word(name, 20, 50 + 12 * row)]
            + ([word(mark, 22 + 5 * len(name), 50 + 12 * row)] if mark else [])
        )
    ]

    assert [w.text for w in repair_misread_words(page)] == [
        "Hematocrit",
        "Platelets",
        "UIBC",
        "Iron",
    ]
    assert [w.text for w in repair_misread_words(page[:5])] == [
        w.text for w in page[:5]
    ]


def test_a_point_among_many_decimal_commas_is_one() -> None:
    commas = [word(f"{n},5", 200, 50 + 12 * n) for n in range(8)]
    point = word("<2.00", 300)

    assert repair_misread_words([*commas, point])[-1].text == "<2,00"
    assert repair_misread_words([*commas[:7], point])[-1].text == "<2.00"


@pytest.mark.parametrize(
    ("read", "printed"),
    [("Nomal", "Normal"), ("REFRENCE", "REFERENCE"), ("Norma", "Norma")],
)
def test_a_label_that_lost_a_letter_gets_it_back(read: str, printed: str) -> None:
    (mended,) = repair_misread_words([word(read, 20)])

    assert mended.text == printed


def test_half_of_a_digit_read_once_more_inside_its_number_is_left_out() -> None:
    words = [word("7.8", 28), word("8", 38), word("mIU/mL", 60)]

    assert [w.text for w in repair_misread_words(words)] == ["7.8", "mIU/mL"]


def test_a_single_digit_beside_a_number_stays() -> None:
    words = [word("7.8", 28), word("8", 60)]

    assert [w.text for w in repair_misread_words(words)] == ["7.8", "8"]


@pytest.mark.parametrize(("read", "printed"), [("I/I", "l/l"), ("µUl/mL", "µUI/mL")])
def test_letters_of_a_unit_that_look_alike_are_those_of_a_unit(
    read: str, printed: str
) -> None:
    assert repair_misread_unit(read) == printed
