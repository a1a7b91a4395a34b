"""The known name that a misspelt one is nearest to.

Exact lookups come before, in names.py. Near is not enough: words that make another
test of a name, its numbers and its abbreviations have to be the same.
"""

from __future__ import annotations

import re
from functools import lru_cache

from rapidfuzz import fuzz

from reports.parser.word_lists import read_word_lists

from .catalogue import (
    Catalogue,
    Sense,
    build_name_key,
    load_loinc_catalogue,
    normalize_name_text,
)

_SHORTEST = 6
_LONG = 10
_CUTOFF = 84.0
_MARGIN = 5.0

_SHORT_WORD = re.compile(r"\b[a-z]{1,4}\b")
_LETTER = re.compile(r"[a-z]|[ivx]+")
_SMALL = frozenset(("de", "di", "do", "du", "in", "of", "the", "la", "le"))

# Words whose presence on one side only makes two near spellings different tests.
_DECIDING = read_word_lists("words.txt")["deciding"]


@lru_cache(maxsize=1)
def _buckets() -> dict[str, tuple[str, ...]]:
    """Keys of printed names by their first and last three characters."""

    buckets: dict[str, list[str]] = {}
    printed = {
        build_name_key(name)
        for known in load_loinc_catalogue().aliases.values()
        for name in known
    }
    for key in sorted(printed):
        if len(key) >= _SHORTEST - 1:
            buckets.setdefault("^" + key[:3], []).append(key)
            buckets.setdefault(key[-3:] + "$", []).append(key)
    return {end: tuple(keys) for end, keys in buckets.items()}


def _is_same_test(one: str, other: str) -> bool:
    if re.findall(r"\d+", one) != re.findall(r"\d+", other):
        return False
    return all((word in one) == (word in other) for word in _DECIDING)


def _keeps_short_words(text: str, known: str) -> bool:
    """Whether a near name has the abbreviations of the text: MPO is no misspelt TPO."""
    short = [
        word
        for word in _SHORT_WORD.findall(normalize_name_text(text))
        if word not in _SMALL
    ]
    letters = _letters_of().get(known, frozenset())
    return letters == set(filter(_LETTER.fullmatch, short)) and all(
        word in known for word in short
    )


@lru_cache(maxsize=1)
def _letters_of() -> dict[str, frozenset[str]]:
    """The letters and Roman numbers that are words of a printed name, by its key."""
    return {
        build_name_key(name): frozenset(
            filter(_LETTER.fullmatch, _SHORT_WORD.findall(normalize_name_text(name)))
        )
        for known in load_loinc_catalogue().aliases.values()
        for name in known
    }


def find_nearest_catalogue_name(
    text: str, catalogue: Catalogue
) -> tuple[tuple[Sense, ...], float]:
    """Return the nearest catalogue name if it is clearly nearest."""

    key = build_name_key(text)
    if len(key) < _SHORTEST:
        return (), 0.0
    buckets = _buckets()
    pool = {*buckets.get("^" + key[:3], ()), *buckets.get(key[-3:] + "$", ())}
    best: dict[str, tuple[float, str]] = {}
    for known in pool:
        if abs(len(known) - len(key)) > (3 if len(key) > _LONG else 1):
            continue
        score = fuzz.ratio(key, known, score_cutoff=_CUTOFF)
        if not score or not _is_same_test(key, known):
            continue
        if not _keeps_short_words(text, known):
            continue
        for sense in catalogue.senses[known]:
            if score > best.get(sense.analyte, (0.0, ""))[0]:
                best[sense.analyte] = (score, known)
    ranked = sorted(best.values(), reverse=True)
    if not ranked:
        return (), 0.0
    rivals = [score for score, known in ranked if known != ranked[0][1]]
    if rivals and ranked[0][0] - rivals[0] < _MARGIN:
        return (), 0.0
    score, known = ranked[0]
    return catalogue.senses[known], score / 100
