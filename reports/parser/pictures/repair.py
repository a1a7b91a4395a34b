"""Corrects signs of OCR words with only one possible reading.

Look-alikes of other alphabets and widths become the signs that are printed, and a few
names of substances whose letters look like digits get them back. No digit of a value
is ever changed: a doubtful number stays as it was read.
"""

from __future__ import annotations

import re
import unicodedata

_LOOKALIKES = str.maketrans("。，、﹣−‐‑＂〈〉《》″′’‘", ".,,----\"<><>\"'''")
_GREEK = re.compile("[ά-λν-ώ]")
_NAMES = (
    # glycated haemoglobin: one c, never l c
    (re.compile(r"(?:(?<=\bA)|(?<=[Hh]bA)|(?<=[Hh]gbA))[lI|](?=[cC]\b)"), "1"),
    # carbon dioxide and the hydroxy group have no zero
    (re.compile(r"\b(p?C)0(?=2\b)"), r"\1O"),
    (re.compile(r"\b(25-?|\()0(?=H\b)"), r"\1O"),
    (re.compile(r"\bB[lI|](?=2\b)"), "B1"),
    # words of ranges and names that begin with what looks like a digit or a letter
    (re.compile(r"^0R$"), "OR"),
    (re.compile(r"^[lI|](?=[èe]re$)"), "1"),
)


def repair_misread_word(text: str) -> str:
    """Return a word as printed, from how it was read."""
    if not text.isascii():
        mu = "μ" if _GREEK.search(text) else "µ"  # a unit has the micro sign
        text = text.translate(_LOOKALIKES).replace("μ", mu).replace("µ", mu)
        if not text.isascii():
            text = "".join(map(_narrow, text))
    for pattern, right in _NAMES:
        text = pattern.sub(right, text)
    return text


def _narrow(sign: str) -> str:
    """A full-width sign as the plain one."""
    if unicodedata.east_asian_width(sign) == "F":
        return unicodedata.normalize("NFKC", sign)
    return sign
