"""What a test name says besides its analyte: specimen, share and method.

The words that say so, and the taking apart of a name. Nothing here knows an analyte.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from reports.parser.word_lists import read_word_lists

from .catalogue import normalize_name_text


@dataclass(frozen=True, slots=True)
class Hints:
    """What a name says besides the analyte.

    specimen is a catalogue specimen, share "percent" or "absolute", methods the
    catalogue's method words; is_whole tells whole blood from what is called blood.
    """

    specimen: str | None = None
    share: str | None = None
    methods: frozenset[str] = frozenset()
    is_whole: bool = False


_WORDS = read_word_lists("name_words.txt")


def _by_word(kind: str) -> dict[str, str]:
    """What each word of a kind says: 'suero' that the specimen is serum."""
    meanings = ((key.split(), words) for key, words in _WORDS.items())
    return {
        word: meaning[1]
        for meaning, words in meanings
        if meaning[0] == kind
        for word in words
    }


_SPECIMENS, _SHARES, _METHODS = map(_by_word, ("specimen", "share", "method"))
# Methods that make another test of a name: protein electrophoresis is no protein.
_NAMING = frozenset({"electrophoresis"})
_FURNITURE = frozenset(_WORDS["furniture"])

_TIMED_URINE = re.compile(
    r"(?:\bdes\s)?\b(?:24\s*-?\s*(?:h|hr|hrs|hours?|heures|horas|ore|std|stunden|uurs"
    r"|godz)\b\.?|timed)(?:\s*urine)?",
    re.IGNORECASE,
)
# "Kalium i. S.": German for in serum, plasma, blood, urine.
_SPECIMEN_WITHIN = re.compile(r"\s+i\.?\s?([spbu])\b\.?\s*$")
_INSTRUMENT = re.compile(r"\b(?:lc|gc|uplc|icp)\s?[-/]?\s?ms(?:\s?[-/]?\s?ms)?\b")
_WHOLE_BLOOD = re.compile(r"\bwhole blood|vollblut|\bsang(?:re|ue)? (?:total|intero)")
_SPECIMEN_LETTER = re.compile(
    r"^(f?[sbpu]|f|[av]b|kb|du|tu|pt|fl|csv|sp|(?:erc|lkc|trc|lymfo)s?(?:\(b\))?|ery)"
    r"\s*[.\-—]\s*(?=[a-z0-9]{2}|c-|k$)"
    r"|^([sup])\s+(?=[a-z]{2})|^(b)\s+(?=h[bae]|glu|lac|lead)"
)
# A specimen's letter behind a name: 'Natrium;P' in the north, 'Lead, B' in America.
_SPECIMEN_BEHIND = re.compile(
    r"\s*;\s*(f?[sbpu]|f|du|pt|csv|[av]b|kb)$|(?:(?<!protein),\s*(?=s$)|\s*,\s*(?!s))([sbpu])$"
)
_LETTER_SPECIMENS: dict[str, str | None] = {**_by_word("letter"), "pt": None}
_WORD = re.compile(r"[a-z0-9]+|[%#]")


def begins_with_specimen_letter(name: str) -> bool:
    """Return whether a name may begin with a specimen's letter: 'S-TSH', 'P-LCR'."""
    return _SPECIMEN_LETTER.match(normalize_name_text(name)) is not None


@lru_cache(maxsize=4096)
def split_name_and_hints(name: str) -> tuple[tuple[str, ...], Hints]:
    """Return a name without its qualifiers, and the hints that these give.

    The texts are ever shorter: without specimen and furniture, then also without
    words for a share, then also without words for a method.
    """

    specimen: str | None = None
    folded = _INSTRUMENT.sub(" ", normalize_name_text(name))
    timed = _TIMED_URINE.search(folded)
    if timed:
        specimen = "urine24"
        folded = folded[: timed.start()] + " " + folded[timed.end() :]
    letter = _SPECIMEN_LETTER.match(folded)
    if letter:
        # Of cells in blood where the letter is none of a specimen.
        said = _LETTER_SPECIMENS.get(letter[letter.lastindex or 0], "blood")
        specimen = specimen or said
        folded = folded[letter.end() :]
    elif behind := (_SPECIMEN_BEHIND.search(folded) or _SPECIMEN_WITHIN.search(folded)):
        specimen = specimen or _LETTER_SPECIMENS.get(behind[behind.lastindex or 0])
        folded = folded[: behind.start()]
    share: str | None = None
    methods: set[str] = set()
    kept: list[str] = []
    for word in _WORD.findall(folded):
        if word in _SPECIMENS:
            if specimen in (None, "blood", "serum"):
                specimen = _SPECIMENS[word]
        elif word not in _FURNITURE:
            kept.append(word)
            share = _SHARES.get(word, share)
            methods.update({_METHODS[word]} if word in _METHODS else ())
    shareless = [word for word in kept if word not in _SHARES]
    bare = [word for word in shareless if word not in _METHODS or word in _NAMING]
    texts = dict.fromkeys(" ".join(words) for words in (kept, shareless, bare) if words)
    is_whole = _WHOLE_BLOOD.search(folded) is not None
    return tuple(texts), Hints(specimen, share, frozenset(methods), is_whole)
