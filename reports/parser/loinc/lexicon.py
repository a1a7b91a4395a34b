"""Words that test names are made of, in the languages reports come in.

Turns a name into a set of English words, so that a name put together in another
language, or in another order, is found by the catalogue's own names. Words alone:
nothing here knows an analyte, a code or a unit.
"""

from __future__ import annotations

import re
from functools import lru_cache

from reports.parser.word_lists import read_word_lists

from .catalogue import normalize_name_text, unify_spelling_variants

# Words that join others, or say of any test that it is one. No single letters: "a" is
# French, and a vitamin.
_JOINING_WORDS = """
    al aux da das de del dell della delle dem den der des di die do dos du el em en et
    im in l le les los of os par per the und un van von w z
    content lev lvl estim patient pacjent dosage dosagem dosaggio taux nivel niveles
    valeur valor valore wert recherche ricerca pesquisa busqueda investigacion
    bestimmung nach serologie serologia suchtest
"""
_JOINING = frozenset(_JOINING_WORDS.split())
_WORD = re.compile(r"[a-z0-9]+|[%#]")
_REFLEX = re.compile(r"(?i)[\s,]+(?:w\s?/?\s*|with\s+)?(?:reflex\w*|rfx|rflx?)\b.*$")
_PHRASES = (
    (
        re.compile(
            r"(?:\bdes )?\b24\s*-?\s*(?:h|hrs?|hours?|heures|horas|ore|std|stunden|uurs"
            r"|godz)\b"
        ),
        "24h",
    ),
    (re.compile(r"\ba jeun\b"), "fasting"),
    (re.compile(r"\bde la\b"), "de"),
    # "Ac anti-HBs" is an antibody, "Ac. urico" an acid.
    (re.compile(r"\bac\.?(?=\s*anti)"), ""),
    (re.compile(r"\banti(?!gen|corp|cuerp|korp|koerp|stoff|bod)(?=[a-z]{2})"), "anti "),
)


_ENGLISH = {
    word: tuple(english.split())
    for english, words in read_word_lists("lexicon.txt").items()
    for word in words
}


def strip_reflex_test_from_name(name: str) -> str:
    """Return a name without its reflex test: "TSH w/ reflex to FT4"."""
    return _REFLEX.sub("", name)


# Spellings that tell languages apart and names not: "fenitoina" is phenytoin.
_SPELLINGS = (
    (re.compile(r"ph"), "f"),
    (re.compile(r"(?<=[trc])h"), ""),
    (re.compile(r"qu|k|c(?=c)"), "c"),
    (re.compile(r"y"), "i"),
    (re.compile(r"ae|oe"), "e"),
    (re.compile(r"([a-z])\1"), r"\1"),
    (re.compile(r"[aeio]?s?$"), ""),
)
_SPELT_ALIKE_FROM = 6


@lru_cache(maxsize=16384)
def _skeleton(word: str) -> str:
    """What languages leave of a long word; short ones as they are."""
    if len(word) < _SPELT_ALIKE_FROM:
        return word
    for spelling, plain in _SPELLINGS:
        word = spelling.sub(plain, word)
    return word


@lru_cache(maxsize=16384)
def build_english_words_key(text: str) -> str:
    """Return a name's English words, sorted, each once; empty for letters alone."""

    found: set[str] = set()
    folded = unify_spelling_variants(
        normalize_name_text(strip_reflex_test_from_name(text))
    )
    for phrase, said in _PHRASES:
        folded = phrase.sub(said, folded)
    for word in _WORD.findall(folded):
        if word not in _JOINING:
            found.update(map(_skeleton, _ENGLISH.get(word, (word,))))
    return " ".join(sorted(found)) if any(len(word) > 2 for word in found) else ""
