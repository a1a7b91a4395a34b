from __future__ import annotations

import pytest

from portal.lib.choices import OpenChoices


class Colour(OpenChoices):
    DARK_RED = "dark_red", "Dark red"


@pytest.mark.parametrize("text", ["dark_red", "Dark Red", " DARK-RED ", "dark red"])
def test_a_client_may_spell_a_value_in_any_case_with_blank_or_hyphen(text):
    assert Colour.read(text) is Colour.DARK_RED


def test_an_unknown_value_is_none_and_no_error():
    assert Colour.read("blue") is None
    assert Colour.known("Dark Red") is None
    assert Colour.offered() == [("dark_red", "Dark red")]
