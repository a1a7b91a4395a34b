"""Words of pictures that are nearly those of tests."""

from __future__ import annotations

import pytest

from reports.parser.text.spelling import count_misspelled_test_words


@pytest.mark.parametrize(
    ("text", "misread"),
    [
        ("Créatinie ....", 1),
        ("Triglyceéride", 1),
        ("Mean cell haemoglobin levei", 1),
        ("Hemoglobia Potassum", 2),
        ("Créatinine", 0),
        ("HDL Cholesterol", 0),
        ("MARGARET WINSLOW", 0),
        ("Na+ 139 mmol/L", 0),
    ],
)
def test_a_word_nearly_of_a_test_is_worth_a_second_look(
    text: str, misread: int
) -> None:
    assert count_misspelled_test_words(text) == misread
