"""The form of LOINC codes."""

from __future__ import annotations

import re

_CODE = re.compile(r"([0-9]{1,7})-([0-9])")


def is_loinc_code(text: str) -> bool:
    """Return whether a text is a LOINC code with its right check digit (mod 10)."""
    found = _CODE.fullmatch(text)
    if found is None:
        return False
    total = 0
    for place, digit in enumerate(reversed(found[1])):
        doubled = int(digit) * (2 if place % 2 == 0 else 1)
        total += doubled // 10 + doubled % 10
    return (10 - total % 10) % 10 == int(found[2])
