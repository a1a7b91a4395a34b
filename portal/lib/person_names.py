"""Compare the name on a document with the name of a known person.

Pure functions on text. Both sides may come from strangers: nothing is logged.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein


class NameAgreement(StrEnum):
    """Outcome of a comparison."""

    SAME = "same"
    # One name of two is shared, as after a marriage: the birth date has to decide.
    GIVEN_NAME_ONLY = "given_name_only"
    DIFFERENT = "different"
    UNKNOWN = "unknown"  # a side names nobody


@dataclass(frozen=True, slots=True)
class PersonName:
    """A name in two parts; either may be empty, or hold the whole name."""

    first: str
    last: str


def _split(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Letters that Unicode does not take apart.
_LETTERS = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d",
     "þ": "th", "ı": "i", "ŋ": "n", "’": "'", "`": "'", "ʼ": "'"}
)  # fmt: skip
# Cyrillic as passports write it. Source: ICAO Doc 9303-3, 8th edition (2021), section
# 6 B, transliteration of Cyrillic characters.
_CYRILLIC = str.maketrans(
    {"а": "a", "б": "b", "в": "v", "г": "g", "д": "d", "е": "e", "ё": "e", "ж": "zh",
     "з": "z", "и": "i", "і": "i", "ї": "i", "й": "i", "к": "k", "л": "l", "м": "m",
     "н": "n", "о": "o", "п": "p", "р": "r", "с": "s", "т": "t", "у": "u", "ф": "f",
     "х": "kh", "ц": "ts", "ч": "ch", "ш": "sh", "щ": "shch", "ъ": "ie", "ы": "y",
     "ь": "", "э": "e", "ю": "iu", "я": "ia", "є": "ie", "ґ": "g"}
)  # fmt: skip
# Spellings of one sound, as different transliterations write them.
_SOUNDS = (
    ("ae", "a"), ("oe", "o"), ("ue", "u"), ("kh", "h"), ("ph", "f"), ("ck", "k"),
    ("th", "t"), ("iy", "i"), ("ii", "i"), ("ij", "i"), ("yi", "i"), ("iu", "u"),
    ("yu", "u"), ("ju", "u"), ("ia", "a"), ("ya", "a"), ("ja", "a"), ("ie", "e"),
    ("ye", "e"), ("je", "e"), ("ou", "u"), ("oo", "u"), ("ee", "i"), ("aa", "a"),
    ("y", "i"), ("j", "i"), ("w", "v"), ("q", "k"), ("x", "ks"),
)  # fmt: skip
_TITLES = _split(
    "mr mrs ms miss mx dr med prof sir dame rev herr herrn frau mme mlle madame"
    " monsieur sr sra srta dra don dona dott sig signor signora shri smt kumari master"
    " mstr baby jr junior senior ii iii iv md phd do rn esq bey hanim"
)
_PARTICLES = _split(
    "de da do dos das del della di du la le les van von der den ten ter zu zur y e el"
    " al dela delos abu bin bint ibn o mac mc san santa st"
)
_NOBODY = _split(
    "anonymous anonymized anonymised redacted unknown patient name id nobody na none"
    " not given confidential withheld"
)
# Short forms that people give where a clinic prints the whole name.
_SHORT_FORMS = tuple(
    _split(forms)
    for forms in (
        "robert rob bob bobby", "william will bill billy liam", "richard rick dick",
        "james jim jimmy jamie", "john jack johnny", "joseph joe joey",
        "thomas tom tommy", "charles charlie chuck", "michael mike mick",
        "edward ed eddie ted", "anthony tony", "henry harry hank", "andrew andy drew",
        "daniel dan danny", "david dave", "stephen steven steve", "kenneth ken kenny",
        "ronald ron", "lawrence larry", "margaret maggie meg peggy",
        "elizabeth liz beth betty lisa eliza", "katherine catherine kate kathy katie",
        "patricia pat patty trish", "jennifer jen jenny", "susan sue suzie",
        "deborah debra deb debbie", "barbara barb", "rebecca becky", "dorothy dot",
        "victoria vicky", "alexander alex sasha", "alexandra sandra sasha",
        "francisco paco", "jose pepe", "theresa teresa terry tess", "gerald gerry",
        "samuel samantha sam", "christopher christine christina chris",
    )
)  # fmt: skip
_TOKEN = re.compile(r"[^\W\d_]+")
_JOINED_AT_MOST = 4
_LIKE = 70.0  # of a hundred, where the birth date agrees
_FAMILY_LIKE = 80.0
_SLIP_FROM = 6  # letters of a name in which one may be misread


def compare_person_names(
    on_document: PersonName, known: PersonName, *, born_alike: bool = False
) -> NameAgreement:
    """Compare the name printed on a document with a known person's.

    Order, case, accents, titles, hyphens, blanks, particles, initials, further given
    names, one slip of print and the spellings of a transliteration make no difference;
    another given name does, also in one family. `born_alike`: the birth dates agree,
    which forgives a name that is cut or misread more, but not another name. Source:
    Ours: a report under another person's name is the worst error of all, and relatives
    share a family name.
    """
    printed = _read_tokens(f"{on_document.first} {on_document.last}")
    given, family = _read_tokens(known.first), _read_tokens(known.last)
    if not any(len(token) > 1 for token in printed) or _TITLES.issuperset(printed):
        return NameAgreement.UNKNOWN
    if not (given and family):
        return NameAgreement.UNKNOWN
    if not _share_script(printed, (*given, *family)):
        return NameAgreement.UNKNOWN
    shown = _with_joined(printed)
    has_family = _has_family(shown, family)
    has_given = _has_given(printed, shown, given, family, born_alike=born_alike)
    if len(printed) == 1:
        return (
            NameAgreement.SAME if has_given or has_family else NameAgreement.DIFFERENT
        )
    if has_given and has_family:
        if not born_alike and _have_other_initials(printed, given, family):
            return NameAgreement.DIFFERENT
        return NameAgreement.SAME
    return NameAgreement.GIVEN_NAME_ONLY if has_given else NameAgreement.DIFFERENT


@lru_cache(maxsize=512)
def fold_name(text: str) -> str:
    """Return a name in small Latin letters where its script can be transliterated."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(sign for sign in plain if not unicodedata.combining(sign))
    return plain.translate(_LETTERS).translate(_CYRILLIC)


def _read_tokens(text: str) -> tuple[str, ...]:
    """Names and initials of a text, without titles; empty if it names nobody."""
    tokens = _TOKEN.findall(fold_name(text).replace("'", ""))
    names = [token for token in tokens if token not in _TITLES] or tokens
    if all(token in _NOBODY or set(token) == {"x"} for token in names):
        return ()
    return tuple(names)


def _share_script(some: tuple[str, ...], others: tuple[str, ...]) -> bool:
    return "".join(some).isascii() == "".join(others).isascii()


def _with_joined(tokens: tuple[str, ...]) -> frozenset[str]:
    """Tokens, and neighbors written as one: 'anne', 'marie', 'annemarie'."""
    return frozenset(
        "".join(tokens[start:end])
        for start in range(len(tokens))
        for end in range(start + 1, min(start + _JOINED_AT_MOST, len(tokens)) + 1)
    )


def _has_family(shown: frozenset[str], family: tuple[str, ...]) -> bool:
    parts = [token for token in family if token not in _PARTICLES] or list(family)
    wanted = {*parts, "".join(family), "".join(parts)}
    return any(
        _sounds(one) == _sounds(other)
        or (min(len(one), len(other)) > 3 and fuzz.ratio(one, other) >= _FAMILY_LIKE)
        for one in wanted
        if len(one) > 1 or len(family) == 1
        for other in shown
    )


def _has_given(
    printed: tuple[str, ...],
    shown: frozenset[str],
    given: tuple[str, ...],
    family: tuple[str, ...],
    *,
    born_alike: bool,
) -> bool:
    given = tuple(token for token in given if token not in _PARTICLES) or given
    if {_sounds(token) for token in (*given, "".join(given))} & set(
        map(_sounds, shown)
    ):
        return True
    # A name that is the family's says nothing of the person: 'Anna Thomas', 'Thomas'.
    own = {_sounds(token) for token in family}
    names = [token for token in printed if _sounds(token) not in own]
    if any(
        _is_same_given(one, other, born_alike=born_alike)
        for one in given
        for other in names
    ):
        return True
    # 'R. Beispiel': nothing but initials stands for the given names.
    whole = [token for token in names if len(token) > 1]
    initials = {token for token in printed if len(token) == 1}
    return not whole and any(name[0] in initials for name in given)


def _is_same_given(one: str, other: str, *, born_alike: bool) -> bool:
    if 1 in {len(one), len(other)}:
        return False
    if any(one in forms and other in forms for forms in _SHORT_FORMS):
        return True
    short, long = sorted((one, other), key=len)
    if long.startswith(short) and len(short) >= 3:
        # 'Daniel' and 'Daniela' are two people, 'Alex' may be Alexander.
        return born_alike or len(long) - len(short) > 2
    if born_alike:
        return min(len(one), len(other)) > 3 and fuzz.ratio(one, other) >= _LIKE
    # One slip of print or of reading, but for the last letter: 'Mario', 'Maria'.
    return (
        min(len(one), len(other)) >= _SLIP_FROM
        and Levenshtein.distance(one, other) == 1
        and one[-1] == other[-1]
    )


def _have_other_initials(
    printed: tuple[str, ...], given: tuple[str, ...], family: tuple[str, ...]
) -> bool:
    """Whether both have middle initials, and not the same: father and son."""
    known = [token[0] for token in given[1:]]
    initials = [token for token in printed if len(token) == 1]
    likely = {token[0] for token in (*given, *family)}
    return bool(known and initials) and not likely & set(initials)


@lru_cache(maxsize=2048)
def _sounds(token: str) -> str:
    """Return a key that spellings of one name share: 'yulia' and 'iuliia'."""
    for spelling, sound in _SOUNDS:
        token = token.replace(spelling, sound)
    return re.sub(r"(.)\1+", r"\1", token)
