"""Writes Cyrillic letters in Latin, so that titles and names in them can be looked up.

What is shown stays as printed. Source: the simplified BGN/PCGN romanization of Russian.
"""

from __future__ import annotations

import re

_LETTERS = str.maketrans(
    dict(zip("абвгдезиклмнопрстуфыэ", "abvgdeziklmnoprstufye", strict=True))
    | {"й": "i", "ё": "e", "ж": "zh", "х": "kh", "ц": "ts", "ч": "ch", "ш": "sh"}
    | {"щ": "shch", "ю": "yu", "я": "ya", "ъ": "", "ь": "", "і": "i", "ї": "i"}
    | {"є": "e", "ґ": "g"}
)
_CYRILLIC = re.compile("[а-яёіїєґ]")
# Russian writes the h of the Greek names of blood as g.
_BLOOD = re.compile(r"\bgem(?=o|a)")


def write_cyrillic_in_latin(text: str) -> str:
    """Return a text in lower case with its Cyrillic letters in Latin."""
    plain = text.lower()
    if plain.isascii() or not _CYRILLIC.search(plain):
        return plain
    return _BLOOD.sub("hem", plain.translate(_LETTERS))


# Usual abbreviations of Russian reports. Letter by letter, 'ТТГ' (thyrotropin) would be
# the abbreviation of another test.
_ABBREVIATIONS = {
    "алт": "alt",
    "аст": "ast",
    "ггт": "ggt",
    "пса": "psa",
    "лдг": "ldh",
    "ттг": "tsh",
    "лг": "lh",
    "фсг": "fsh",
    "срб": "crp",
    "соэ": "esr",
    "мно": "inr",
    "т": "t",
}
_RUN = re.compile("[а-яёіїєґ]+")
_SHORT = 5


def write_cyrillic_name_in_latin(text: str) -> str:
    """Return a test's name in lower case, its Cyrillic words in Latin.

    A short word is an abbreviation: it stays as it is unless it is known.
    """
    plain = text.lower()
    return _RUN.sub(_write_word, plain) if not plain.isascii() else plain


def _write_word(word: re.Match[str]) -> str:
    if len(word[0]) < _SHORT:
        return _ABBREVIATIONS.get(word[0], word[0])
    return write_cyrillic_in_latin(word[0])
