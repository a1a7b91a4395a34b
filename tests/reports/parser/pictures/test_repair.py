from __future__ import annotations

import pytest

pytest.importorskip("cv2", reason="pictures need the OCR group")

from reports.parser.pictures.repair import repair_misread_word


@pytest.mark.parametrize(
    ("read", "printed"),
    [
        ("μg/dL", "µg/dL"),
        ("＜5．0", "<5.0"),
        ("−0.4", "-0.4"),
        ("HbAlc", "HbA1c"),
        ("AIC", "A1C"),
        ("C02", "CO2"),
        ("pC02", "pCO2"),
        ("25-0H", "25-OH"),
        ("Bl2", "B12"),
        ("0R", "OR"),
        ("lère", "1ère"),
    ],
)
def test_a_look_alike_becomes_the_sign_that_is_printed(read, printed):
    assert repair_misread_word(read) == printed


@pytest.mark.parametrize(
    "text",
    ["103", "0.02", "C3", "10O", "l0", "4,2", "x10⁹/L", "5·0", "Al", "ALT", "0RH"],
)
def test_a_number_and_what_might_be_meant_stay_as_read(text):
    assert repair_misread_word(text) == text
