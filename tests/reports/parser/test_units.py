"""Spellings of units: what they are read as, what they measure, what is refused."""

from __future__ import annotations

import pytest

from reports.parser.units import looks_like_units, normalise_units, unit_agrees


@pytest.mark.parametrize(
    "text",
    (
        "x10E3/uL",
        "10^3/uL",
        "x10^3/uL",
        "X 10³ / µL",
        "K/mcL",
        "K/µL",
        "thou/mm3",
        "thou/µL",
        "10~3/uL",
        "x1000/uL",
        "10*3/mm3",
        "thousands/cmm",
    ),
)
def test_a_thousand_per_microlitre_is_one_unit_however_spelt(text: str) -> None:
    assert normalise_units(text) == "10*3/uL"
    assert looks_like_units(text)
