"""Lines that are looked at twice, by an engine that says what it is told."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("cv2", reason="pictures need the OCR group")

from reports.parser.pictures.engine import Reading, Sign
from reports.parser.pictures.reading import read_page_from_image
from reports.parser.pictures.view import View

QUAD = np.array([[[10, 10], [410, 10], [410, 50], [10, 50]]], np.float32)


class TwoLooks:
    """Says one thing of a line as first cut, another of any other cutting of it."""

    def __init__(self, first: str, second: str) -> None:
        self.said = (first, second)

    def find_lines(self, picture):
        return QUAD

    def read_lines(self, lines):
        return [self._read(line) for line in lines]

    def _read(self, line):
        text = self.said[line.shape[1] != 480]
        signs = tuple(
            Sign(sign, (n + 0.5) / len(text), 0.99) for n, sign in enumerate(text)
        )
        return Reading(signs, 0.99)


def read(first: str, second: str) -> str:
    pixels = np.full((200, 420, 3), 255, np.uint8)
    for left in range(12, 400, 20):
        pixels[18:44, left : left + 14] = 0
    page = read_page_from_image(
        View(pixels, np.eye(3)),
        number=1,
        size=(420.0, 200.0),
        engine=TwoLooks(first, second),
    )
    return "".join(word.text for word in page.words)


def test_a_name_misread_at_first_is_as_the_second_look_says() -> None:
    assert read("Creatinie93", "Creatinine93") == "Creatinine93"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Creatinie93", "Creatinine98"),
        ("Creatinie93", "Creatinime93"),
        ("Winslow93", "Winslov93"),
    ],
)
def test_a_second_look_changes_no_digit_and_nothing_but_names(first, second) -> None:
    assert read(first, second) == first
