"""Pieces of one word put together, also where they run from right to left."""

from __future__ import annotations

import pytest

from reports.parser.layout.kerning import join_kerned_words, reorder_right_to_left_word
from reports.parser.pages import Word

COLOUR = "اللون"


def letter(sign: str, x: float) -> Word:
    return Word(sign, x, 10, x + 4, 20, 9, False, False)


@pytest.mark.parametrize("is_logical", [True, False])
def test_a_word_that_runs_leftwards_is_given_in_the_order_of_reading(
    is_logical: bool,
) -> None:
    drawn = [letter(sign, 50 - 4 * n) for n, sign in enumerate(COLOUR)]
    stream = drawn if is_logical else drawn[::-1]

    (joined,) = join_kerned_words([(word, -1) for word in stream], lambda _: False)

    assert reorder_right_to_left_word(joined).text == COLOUR
    assert (joined.x0, joined.x1) == (34, 54)
