"""Writing a UCUM unit as clinicians read it.

Only the letters change: `u[IU]/mL` is shown as `µIU/mL`. What is stored and sent stays
UCUM.
"""

from __future__ import annotations

import re
from functools import lru_cache

_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_POWER = re.compile(r"10\*(-?\d+)")
_SURFACE = re.compile(r"\{?1\.73_?m2\}?|\{1\.73_m2\}")
# `u` is micro only before a unit, never within a word such as `units`.
_MICRO = re.compile(r"(?<![A-Za-z])u(?=(?:g|mol|L|m|s|kat|U|V)(?![a-z])|\[IU\])")
_TOKENS = {
    "[pH]": "pH",
    "[arb'U]": "arb. U",
    "[ppth]": "‰",
    "mm[Hg]": "mmHg",
    "[degF]": "°F",
    "Cel": "°C",
    "[lb_av]": "lb",
}
# An annotation in braces says what is counted, and is no unit of its own.
_ANNOTATION = re.compile(r"\{([^}]*)\}")
_BRACKETS = re.compile(r"\[([^\]]*)\]")


@lru_cache(maxsize=512)
def format_unit(ucum: str) -> str:
    """Format a UCUM unit for people; other text comes back nearly unchanged.

    Source: Ours (DESIGN shows units as reports print them).
    """
    text = _SURFACE.sub("1.73 m²", ucum)
    for token, shown in _TOKENS.items():
        text = text.replace(token, shown)
    text = _MICRO.sub("µ", text)
    text = _POWER.sub(lambda found: f"10{found[1].translate(_RAISED)}", text)
    text = _BRACKETS.sub(r"\1", text)
    return _ANNOTATION.sub(lambda found: f" {found[1]}", text).replace("_", " ").strip()
