"""Whether a word of a picture may be a misread one of those that name tests.

The words are those of the catalogue's names and of what laboratories print for them,
without accents. Says only what is worth a second look: nothing is respelt.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from .loinc.catalogue import fold, load_catalogue

_SHORTEST = 5
_LONG = 10  # from so many letters on, two may be wrong
_WORD = re.compile(rf"[^\W\d_]{{{_SHORTEST},}}")


def count_misread(text: str) -> int:
    """How many words of a line are nearly, but not quite, words that name tests."""
    return sum(_is_near(word) for word in _WORD.findall(fold(text)))


@lru_cache(maxsize=4096)
def _is_near(word: str) -> bool:
    every, known = _vocabulary()
    if word in known:
        return False
    away = 2 if len(word) >= _LONG else 1
    found = process.extractOne(
        word, every, scorer=Levenshtein.distance, score_cutoff=away
    )
    return found is not None


@lru_cache(maxsize=1)
def _vocabulary() -> tuple[Sequence[str], frozenset[str]]:
    known = frozenset(
        word
        for names in load_catalogue().aliases.values()
        for name in names
        for word in _WORD.findall(fold(name))
    )
    return sorted(known), known
