from __future__ import annotations

import pytest

from labs.documents.typeface import (
    MISSING,
    break_text_into_lines,
    cut_line_to_width,
    measure_text_width,
    replace_unprintable_characters,
)

SIZE = 9.0


@pytest.mark.parametrize(
    "text", ["Ærøskøbing Żółć", "Παπαδοπούλου", "Щербакова", "Nguyễn", "100 µmol/L"]
)
def test_latin_greek_and_cyrillic_are_drawn(text):
    assert replace_unprintable_characters(text) == text


def test_a_sign_that_is_not_drawn_is_plainly_missing():
    assert replace_unprintable_characters("Tokyo 東京") == f"Tokyo {MISSING}{MISSING}"
    assert replace_unprintable_characters("≤5\tx\x07y") == "<=5 x y"


def test_an_accent_that_stands_apart_joins_its_letter():
    assert replace_unprintable_characters("e\N{COMBINING ACUTE ACCENT}") == "é"


def test_lines_break_between_words_and_no_line_is_too_wide():
    text = "one two three four five six seven eight nine ten " * 4

    lines = break_text_into_lines(text, SIZE, 100)

    assert " ".join(lines).split() == text.split()
    assert max(measure_text_width(line, SIZE) for line in lines) <= 100


def test_a_word_that_is_too_wide_is_cut_and_whole():
    word = "W" * 60

    lines = break_text_into_lines(f"a {word} b", SIZE, 100)

    assert "".join(lines) == f"a{word}b"
    assert max(measure_text_width(line, SIZE) for line in lines) <= 100


def test_line_feeds_stay_and_nothing_is_one_line():
    assert break_text_into_lines("a\n\nb", SIZE, 100) == ["a", "", "b"]
    assert break_text_into_lines("", SIZE, 100) == [""]


def test_a_line_that_is_cut_says_so():
    cut = cut_line_to_width("W" * 60, SIZE, 100)

    assert cut.endswith("W…")
    assert measure_text_width(cut, SIZE) <= 100
    assert cut_line_to_width("short", SIZE, 100) == "short"
