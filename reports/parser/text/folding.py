"""Folds text for comparison: ignores case, accents and signs."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from reports.parser.cyrillic import write_cyrillic_in_latin


@lru_cache(maxsize=32768)
def normalize_letters_and_digits(text: str) -> str:
    """Return lower-case letters and digits without accents, others as blanks.

    Cyrillic is written in Latin; Chinese stays.
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
    return " ".join(re.sub(r"[^a-z0-9\u4e00-\u9fff]+", " ", plain).split())
