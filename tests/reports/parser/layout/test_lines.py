"""Words grouped into lines, exact from a text layer and shaken from a picture."""

from __future__ import annotations

import pytest

from reports.parser.layout.lines import (
    Line,
    are_lines_of_same_font_size,
    build_line_from_words,
    clip_lines_to_columns,
    group_words_into_lines,
    join_lines_at_same_height,
)
from reports.parser.pages import Word

SIZE = 9.0


def word(text: str, x: float, y: float, size: float = SIZE) -> Word:
    wide = 0.5 * size * len(text)
    return Word(text, x, y - size / 2, x + wide, y + size / 2, size)


def texts(lines: list[Line]) -> list[str]:
    return [line.text for line in lines]


def test_words_of_one_height_are_one_line_from_left_to_right() -> None:
    words = [word("140", 200, 50), word("Sodium", 40, 50.5), word("Urea", 40, 62)]

    assert texts(group_words_into_lines(words, page=1)) == ["Sodium 140", "Urea"]


def test_lines_of_a_picture_are_followed_where_they_fall_by_half_a_line() -> None:
    fall = 0.012
    words = [
        word(text, x, y + fall * x)
        for y in (50, 62, 74)
        for x, text in ((40, f"a{y}"), (200, f"b{y}"), (360, f"c{y}"), (520, f"d{y}"))
    ]

    found = group_words_into_lines(words, page=1, drawn=True)

    assert texts(found) == [f"a{y} b{y} c{y} d{y}" for y in (50, 62, 74)]


def test_a_word_of_a_picture_joins_the_nearer_of_two_lines() -> None:
    words = [
        word("Sodium", 40, 50),
        word("Urea", 40, 61),
        word("140", 200, 51.4),
        word("5.1", 200, 59.7),
    ]

    found = group_words_into_lines(words, page=1, drawn=True)

    assert texts(found) == ["Sodium 140", "Urea 5.1"]


def test_a_page_without_words_has_no_lines() -> None:
    assert group_words_into_lines([], page=1, drawn=True) == []


def test_words_a_blank_apart_are_one_cell_and_words_wide_apart_two() -> None:
    (line,) = group_words_into_lines(
        [word("Serum", 40, 50), word("urea", 65.5, 50), word("5.1", 120, 50)], page=1
    )

    assert [cell.text for cell in line.cells] == ["Serum urea", "5.1"]


def test_blanks_of_a_typewriter_do_not_part_cells() -> None:
    pitch = 0.6 * SIZE
    words = [
        Word(text, x, 45, x + pitch * len(text), 54, SIZE)
        for text, x in (("Serum", 40.0), ("urea", 40 + 6 * pitch))
    ]

    line = build_line_from_words(words, page=1)

    assert line.tight == 0.75
    assert build_line_from_words([word("Serum", 40, 50)], page=1).tight == 0.5


@pytest.mark.parametrize(
    ("sizes", "drawn", "alike"),
    [
        ((9, 9.5), False, True),
        ((9, 8), False, False),
        ((9, 10.6), True, True),
        ((9, 14), True, False),
    ],
)
def test_sizes_are_compared_looser_in_pictures(
    sizes: tuple[float, float], drawn: bool, alike: bool
) -> None:
    a, b = (
        build_line_from_words([word("Urea", 40, 50, size)], page=1, drawn=drawn)
        for size in sizes
    )

    assert are_lines_of_same_font_size(a, b) is alike


def test_a_line_is_clipped_by_the_middle_of_its_words() -> None:
    (line,) = group_words_into_lines(
        [word("Sodium", 40, 50), word("ALT", 320, 50)], page=1
    )

    assert texts(clip_lines_to_columns([line], left=0, right=300)) == ["Sodium"]
    assert texts(clip_lines_to_columns([line], left=300, right=600)) == ["ALT"]


def test_a_raised_mark_does_not_part_a_name_from_its_value() -> None:
    words = [
        mark
        for y in (50, 61)
        for mark in (
            word("WBC", 40, y + 1.4, 6.3),
            word("01", 58, y - 1, 4.5),
            word("6.1", 200, y, 6.3),
        )
    ]

    assert texts(group_words_into_lines(words, page=1)) == ["WBC 01 6.1"] * 2


def test_a_larger_value_on_a_picture_is_on_the_line_it_stands_in_a_gap_of() -> None:
    words = [word("Glucose", 40, 50), word("102", 200, 55.5), word("99", 400, 51)]

    found = join_lines_at_same_height(
        group_words_into_lines([*words, word("Sugar", 40, 62)], page=1, drawn=True)
    )

    assert texts(found) == ["Glucose 102 99", "Sugar"]


def test_half_a_line_between_words_over_one_another_keeps_two_lines_of_a_picture() -> (
    None
):
    words = [word("Vitamin", 40, 50), word("30", 200, 56), word("(25-OH)", 40, 62)]

    assert (
        len(
            join_lines_at_same_height(group_words_into_lines(words, page=1, drawn=True))
        )
        == 3
    )


def test_a_menu_far_beside_a_row_of_a_picture_is_no_part_of_it() -> None:
    words = [word("Billing", 40, 50), word("WBC", 300, 54.4), word("11.6", 420, 54.4)]

    filler = [word(f"row{n}", 300, 80 + 20 * n) for n in range(4)]

    assert texts(
        join_lines_at_same_height(
            group_words_into_lines([*words, *filler], page=1, drawn=True)
        )
    )[:2] == [
        "Billing",
        "WBC 11.6",
    ]


def test_dots_set_apart_are_one_leader_of_their_name() -> None:
    dots = [word(".", x, 50, size=4) for x in range(100, 160, 6)]
    words = [word("Hématies", 40, 50), *dots, word("4,52", 200, 50)]

    assert texts(group_words_into_lines(words, page=1)) == ["Hématies .......... 4,52"]
