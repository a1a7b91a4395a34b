from __future__ import annotations

import pytest

from labs.states.physicians import is_npi


# 1234567893 is the example of CMS's description of the check digit.
@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("1234567893", True),
        ("1234567890", False),
        ("1243567893", False),  # two neighbors swapped
        ("123456789", False),
        ("12345678930", False),
        ("3234567899", False),  # check digit is right, but none starts with 3
        ("١٢٣٤٥٦٧٨٩٣", False),
        ("", False),
    ],
)
def test_an_npi_is_told_by_its_check_digit(text, valid):
    assert is_npi(text) is valid
