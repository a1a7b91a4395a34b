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

from reports.parser.loinc.catalogue import load_loinc_catalogue, normalize_name_text

_SHORTEST = 5
_LONG = 10  # from so many letters on, two may be wrong
_WORD = re.compile(rf"[^\W\d_]{{{_SHORTEST},}}")


def count_misspelled_test_words(text: str) -> int:
    """Count the words of a line that nearly, but not quite, are words of test names."""
    return sum(_is_near(word) for word in _WORD.findall(normalize_name_text(text)))


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
        for names in load_loinc_catalogue().aliases.values()
        for name in names
        for word in _WORD.findall(normalize_name_text(name))
    )
    return sorted(known), known
