"""Folds text for comparison: ignores case, accents and signs."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from reports.parser.cyrillic import write_cyrillic_in_latin

_LATIN = re.compile("[a-z]")
_OTHERS = re.compile(r"[^a-z0-9\u4e00-\u9fff]+")
# Beside Latin other letters are a gloss; one or two in Greek are signs: "micro".
_BETWEEN = re.compile(
    "[^a-z0-9\u4e00-\u9fff\u0621-\u064a\u0900-\u097fα-ω]+|(?<![α-ω])[α-ω]{1,2}(?![α-ω])"
)


@lru_cache(maxsize=32768)
def normalize_letters_and_digits(text: str) -> str:
    """Return lower-case letters and digits without accents, others as blanks.

    Cyrillic is written in Latin; Greek, Arabic, Devanagari and Chinese stay.
    """
    plain = (
        write_cyrillic_in_latin(text)
        .replace("ß", "ss")
        .replace("ı", "i")
        .replace("ø", "o")
    )
    if not plain.isascii():
        plain = unicodedata.normalize("NFKD", plain)
        plain = "".join(sign for sign in plain if not unicodedata.combining(sign))
    between = _OTHERS if plain.isascii() or _LATIN.search(plain) else _BETWEEN
    return " ".join(between.sub(" ", plain).split())
