"""What one cell may hold besides its value."""

from __future__ import annotations

import pytest

from reports.parser.text.fields import (
    find_unit_in_range,
    split_value_cell,
)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("13.5", ("13.5", None, None, None)),
        ("13.5 g/dL", ("13.5", "g/dL", None, None)),
        ("13.5g/dL", ("13.5", "g/dL", None, None)),
        ("13.5 13.0-17.0 g/dL", ("13.5", None, None, "13.0-17.0 g/dL")),
        ("2 min 15 sec", ("2 min 15 sec", None, None, None)),
        ("−1.2 mmol/L", ("−1.2", "mmol/L", None, None)),
        ("5.4 L*", ("5.4", None, "L*", None)),
        ("NEGATIVE *", ("NEGATIVE", None, "*", None)),
        ("1.2E+3", ("1.2E+3", None, None, None)),
        ("71.2 %", ("71.2", "%", None, None)),
        ("1.8 % mg/dl", ("1.8", "% mg/dl", None, None)),
        ("11.4 K/uL HIGH", ("11.4", "K/uL", "HIGH", None)),
        ("38 nmol/L [> 50.0]", ("38", "nmol/L", None, "[> 50.0]")),
        ("140 mmol/L (Ref range: 136-145)", ("140", "mmol/L", None, "136-145")),
        (
            "9 ug/L [22 - 322] - Below low reference limit",
            ("9", "ug/L", None, "[22 - 322]"),
        ),
        ("5.4 mmol/L Above range", ("5.4", "mmol/L", None, None)),
        ("7,1 Lav", ("7,1", None, "Lav", None)),
        ("312 ++ mg/dl", ("312", "mg/dl", "++", None)),
        ("3,1 -- mmol/l", ("3,1", "mmol/l", "--", None)),
        ("5.4 (4.8) *", ("5.4", None, "*", None)),
        ("8-10 /hpf", ("8-10", "/hpf", None, None)),
        ("Nil /hpf", ("Nil", "/hpf", None, None)),
        ("Normal 28.40", ("28.40", None, "Normal", None)),
        ("92 mg/dL (fasting)", ("92", "mg/dL", None, None)),
        ("Normal 70 - 100", ("Normal 70 - 100", None, None, None)),
        ("2.1 mmol/L (1.08-2.25", ("2.1", "mmol/L", None, "(1.08-2.25")),
        ("Non reactive", ("Non reactive", None, None, None)),
    ],
)
def test_a_cell_is_parted(
    text: str, parts: tuple[str, str | None, str | None, str | None]
) -> None:
    assert split_value_cell(text) == parts


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("13.0 - 17.0 g/dL", "g/dL"),
        ("> OR = 60 mL/min/1.73m2", "mL/min/1.73m2"),
        ("<130 mg/dL (calc)", "mg/dL (calc)"),
        ("NONE SEEN /HPF", "/HPF"),
        ("13.0 - 17.0", None),
        ("Negative", None),
        ("70 mg/dL-110 mg/dL", "mg/dL"),
        ("40% - 75%", "%"),
    ],
)
def test_a_range_may_carry_the_unit(text: str, unit: str | None) -> None:
    assert find_unit_in_range(text) == unit
