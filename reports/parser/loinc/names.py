"""Reads printed test names: their possible analytes and hints.

Takes the furniture off a name (flags, laboratory ids, method and specimen words) and
looks what is left up in the catalogue, the printed form first. What was taken off is
kept as a hint. Nothing here weighs units, values or panels.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from .catalogue import (
    Catalogue,
    Sense,
    build_name_key,
    build_word_order_free_key,
    load_loinc_catalogue,
)
from .hints import Hints, begins_with_specimen_letter, split_name_and_hints
from .lexicon import build_english_words_key, strip_reflex_test_from_name
from .near_names import find_nearest_catalogue_name


@dataclass(frozen=True, slots=True)
class NameReading:
    """The senses of a name, how surely it was read (0 to 1), and its hints."""

    senses: tuple[Sense, ...]
    quality: float
    hints: Hints
    is_fuzzy: bool = False


NOTHING = NameReading((), 0.0, Hints())

# How sure a reading is, by what had to be done to the name to find it.
_PRINTED = 1.0
_REORDERED = 0.97
_UNNUMBERED = 0.96
_UNBRACKETED = 0.95
_STRIPPED = 0.93
_RESPELT = 0.92
_BRACKET_ONLY = 0.9
_TRANSLATED = 0.9
_PART = 0.88
_FUZZY_BASE = 0.9

# How much a name tells that is a short abbreviation, or a word of any page.
_ABBREVIATION = 0.8
_ORDINARY = 0.6

_LONGEST = 120
_MOST_WORDS = 16
_LEADING = re.compile(
    r"^(?:\{[^}]*\}|[\s#*•·†‡^~|:>»►▪◦+=\-–—.,;!?'\"`]+|\(\s*[*#]\s*\))+"
)
_FLAG_BEHIND = re.compile(r"\s+(?:HH?|LL?)$")
_FOREIGN = re.compile(r"[^\x00-\u024f\u0370-\u03ff\u1e00-\u20ff]+")
_TRAILING = re.compile(r"[\s*†‡^~|:;,.=–—\-'¹²³⁰⁴-⁹]+$")
_LAB_ID = re.compile(r"(?<=[A-Za-z)])[\s,]*(?:0[1-9]|\[\d+\]|\(\d\))$")
_BRACKETS = re.compile(r"[(\[{]([^()\[\]{}]*)[)\]}]?")
# What a bracket may not be stripped of: it makes another test of the name before it.
_QUALIFIER = re.compile(
    r"(?i)^\s*(?:free|ioni[sz]ed|indirect|(?:un)?conjugated|ratio|index|control"
    r"|(?:beta|gamma|delta|[βγδ])[\s-]*tocopherol)\s*$"
)
# Words outside a bracket that the abbreviation in it does not say: "Hepatitis C Virus
# (HCV) RNA" is no antibody.
_NARROWING = re.compile(
    r"(?i)\b(?:[rd]na|pcr|genotype|load|ig[gmae]|ratio|index|free|antigen|ag|total|panel"
    r"|profile|screen)\b"
)


_NUMBERED = re.compile(
    r"^\(?(?:\d{1,2}|[a-h]|[ivx]{1,4})\s*[).:]\s*|^\d{1,2}\s+(?=[A-Z])"
)

# What a row's panel says before its name: "Serum Electrolytes - Sodium".
_PANEL_BEFORE = re.compile(
    r"(?i)^(?!.*\b(?:suppression|stimulation|tolerance|challenge)\b)(?:[^-–:]*\b"
    r"(?:electrolytes|profile|panel|functions?|tests?|elektrolyte|ionogramme|lipids?"
    r"|differential(?:\s+leu[ck]ocyte)?(?:\s+count)?|widal)\s*[-–:]|.*\b(?:profile|panel))"
    r"\s+(?=[A-Za-z])"
)

# As analysers of blood gases write it: 'cK+' is no creatine kinase. Nor is 'B-Hb', in
# the north, beta-hydroxybutyrate.
_CONCENTRATION_OF = re.compile(
    r"^B-(?=Hb\b)|^c(?=(?:K|Na|Cl|Mg|Li)\d?[+\-²\d()]*$|(?:Glu|Lac|HCO3|Crea|Urea|Bil|tHb)\b)"
)

# Names of analytes that are words of every page besides.
_ORDINARY_TEXT = """
    aspect band beta blood cast casts cells character color colour cor cyst cysts fat
    gamma milk motility mucus parasites patient progressive quantity quick reaction
    saturation screen sugar volume appearance pregnancy latex egg walnut wheat alcohol
"""
_ORDINARY_WORDS = frozenset(_ORDINARY_TEXT.split())


_NARROWING_ENGLISH = frozenset(("free", "direct", "indirect", "ratio", "antigen"))


def _is_narrowed(outside: str) -> bool:
    return bool(
        _NARROWING.search(outside)
        or _NARROWING_ENGLISH.intersection(build_english_words_key(outside).split())
    )


def strip_flags_and_bullets_from_name(name: str) -> str:
    """Return the name without flags, bullets and trailing marks."""

    name = _LEADING.sub("", name.strip())
    return _TRAILING.sub("", name).strip()


def _look_up(text: str, catalogue: Catalogue) -> tuple[tuple[Sense, ...], float]:
    senses = catalogue.senses.get(build_name_key(text))
    if senses:
        return senses, _PRINTED
    words = build_word_order_free_key(text)
    senses = catalogue.sorted_senses.get(words) if words else None
    return (senses, _REORDERED) if senses else ((), 0.0)


def _forms(name: str) -> Iterator[tuple[str, float]]:
    """Ever plainer forms of a name with the certainty each leaves."""

    yield name, _PRINTED
    own = _PANEL_BEFORE.sub("", name)
    if own != name:
        yield own, _UNBRACKETED
    latin = max((part.strip() for part in _FOREIGN.split(name)), key=len)
    if latin and latin != name:
        # A bilingual name: what stands in Latin letters.
        yield latin, _UNBRACKETED
    bare = _FLAG_BEHIND.sub("", _LAB_ID.sub("", name))
    if bare != name:
        yield bare, _UNNUMBERED
    unnumbered = _NUMBERED.sub("", bare)
    if unnumbered != bare:
        yield unnumbered, _UNNUMBERED
    for digit, letter in (("1", "l"), ("0", "o")):
        # A scanner's slip: "Hemog1obin", "Cholestero1".
        respelt = re.sub(rf"(?<=[A-Za-z]{{3}}){digit}(?![\d.])", letter, unnumbered)
        if respelt != unnumbered:
            yield respelt, _RESPELT
    insides = _BRACKETS.findall(unnumbered)
    if insides:
        outside = _TRAILING.sub("", _BRACKETS.sub(" ", unnumbered)).strip()
        if len(insides) > 1:
            # The first bracket often qualifies and the others say how: "Bilirubin
            # (Direct) (Diazo)".
            yield f"{outside} {insides[0]}", _UNBRACKETED
        if outside and not any(_QUALIFIER.search(inside) for inside in insides):
            yield outside, _UNBRACKETED
        if not _is_narrowed(outside):
            for inside in insides:
                if len(build_name_key(inside)) > 1:
                    yield inside, _BRACKET_ONLY


@lru_cache(maxsize=16384)
def look_up_name_in_catalogue(name: str) -> NameReading:
    """Read a printed name against the catalogue; NOTHING when it is unknown."""

    if len(name) > _LONGEST or len(name.split()) > _MOST_WORDS:
        return NOTHING
    bare = _CONCENTRATION_OF.sub("", strip_flags_and_bullets_from_name(name))
    if not bare:
        return NOTHING
    catalogue = load_loinc_catalogue()
    _, hints = split_name_and_hints(bare)
    forms = tuple(_forms(bare))
    for form, certainty in forms:
        senses, quality = _look_up(form, catalogue)
        if senses:
            # "Occult Blood" names no specimen, though "Blood Glucose" would; nor
            # does "P-LCR".
            is_word = hints.specimen == "blood" or begins_with_specimen_letter(form)
            is_word = is_word and not hints.is_whole
            said = replace(hints, specimen=None) if is_word else hints
            return NameReading(senses, certainty * quality, said)
        if certainty <= _BRACKET_ONLY:
            continue
        texts, said = split_name_and_hints(form)
        for text in texts:
            senses, quality = _look_up(text, catalogue)
            if senses:
                said = replace(hints, specimen=said.specimen or hints.specimen)
                return NameReading(senses, certainty * quality * _STRIPPED, said)
    for form, certainty in forms:
        senses = () if certainty <= _BRACKET_ONLY else _translate(form)
        if senses:
            return NameReading(senses, _TRANSLATED * certainty, hints)
    senses = _ratio_of_parts(bare, catalogue)
    if not senses:
        senses = _agreeing_parts(bare, catalogue) or _agreeing_words(bare, catalogue)
    if senses:
        return NameReading(senses, _PART, hints)
    for form, certainty in forms:
        if certainty <= _BRACKET_ONLY or _is_ratio(form):
            continue
        for text in (form, *split_name_and_hints(form)[0]):
            senses, similarity = find_nearest_catalogue_name(text, catalogue)
            if senses:
                quality = _FUZZY_BASE * certainty * similarity
                return NameReading(senses, quality, hints, is_fuzzy=True)
    return NOTHING


def is_known_test_name(name: str) -> bool:
    """Return whether the catalogue has a test of a printed name."""
    return bool(look_up_name_in_catalogue(name).senses)


@lru_cache(maxsize=1)
def _by_english() -> dict[str, tuple[Sense, ...]]:
    """What a set of English words may mean."""

    catalogue = load_loinc_catalogue()
    found: dict[str, dict[Sense, None]] = {}
    for names in catalogue.aliases.values():
        for name in names:
            if _is_ratio(name):
                continue
            known = found.setdefault(build_english_words_key(name), {})
            known.update(dict.fromkeys(catalogue.senses[build_name_key(name)]))
    return {key: tuple(senses) for key, senses in found.items() if key}


def _translate(form: str) -> tuple[Sense, ...]:
    """The senses of a name that is put together of known words of any language."""

    if _is_ratio(strip_reflex_test_from_name(form)):
        return ()
    index = _by_english()
    for text in (form, *split_name_and_hints(form)[0]):
        if senses := index.get(build_english_words_key(text)):
            return senses
    return ()


def _senses_of(text: str, catalogue: Catalogue) -> tuple[Sense, ...]:
    senses, _ = _look_up(text, catalogue)
    for plainer in () if senses else split_name_and_hints(text)[0]:
        senses, _ = _look_up(plainer, catalogue)
        if senses:
            break
    return senses or _translate(text)


def _is_ratio(name: str) -> bool:
    # "IgG/IgM" is an antibody of both classes.
    bare = re.sub(r"\b(Ig[GMA])\s?/\s?(?=Ig[GMA]\b)", r"\1 ", name)
    return bool(re.search(r"[/:]|\bratio\b", bare, re.IGNORECASE))


_RATIO_WORD = re.compile(
    r"(?i)\b(?:ratio|quotient|rapport|rapporto|cociente|rela[cç][aã]o|relaci[oó]n|índice"
    r"|indice)\b|[()\[\]]"
)


def _ratio_of_parts(name: str, catalogue: Catalogue) -> tuple[Sense, ...]:
    """The ratio "A / B", "A : B Ratio" or "Ratio of A to B" names by its sides."""

    bare = _RATIO_WORD.sub(" ", name)
    sides = re.split(r"\s*[/:]\s*|\s+to\s+", _TRAILING.sub("", bare.strip()))
    if len(sides) != 2:
        return ()
    above, below = (
        {sense.analyte for sense in _senses_of(side, catalogue)} for side in sides
    )
    for pair, analyte in catalogue.ratios.items():
        if pair[0] in above and pair[1] in below:
            return (Sense(analyte, None),)
    return ()


def _agreeing_parts(name: str, catalogue: Catalogue) -> tuple[Sense, ...]:
    """The senses of "SGPT / ALT" or "WBC - Leucocytes": every known part agrees."""

    parts = [part for part in re.split(r"\s*[/|;=]\s*|\s[-–]\s|\s*,\s+", name) if part]
    if not 1 < len(parts) <= 4:
        return ()
    return _agreement(parts, catalogue)


def _agreeing_words(name: str, catalogue: Catalogue) -> tuple[Sense, ...]:
    """The senses of "SGOT Aspartate Transaminase": a name printed twice over."""

    words = re.findall(r"[^\s()\[\],]+", name)
    if not 1 < len(words) <= 9 or _is_ratio(name):
        return ()
    for cut in range(1, len(words)):
        parts = [" ".join(words[:cut]), " ".join(words[cut:])]
        is_likely = any(build_name_key(part) in catalogue.senses for part in parts)
        if is_likely and (senses := _agreement(parts, catalogue)):
            return senses
    return ()


def _agreement(parts: list[str], catalogue: Catalogue) -> tuple[Sense, ...]:
    """What every part that names anything at all means alike."""

    found: tuple[Sense, ...] = ()
    for part in parts:
        if not split_name_and_hints(part)[0]:
            continue
        senses = _senses_of(part, catalogue)
        if found:
            shared = {sense.analyte for sense in found}
            senses = tuple(sense for sense in senses if sense.analyte in shared)
        if not senses:
            return ()
        found = senses
    return found


def rate_analyte_name_likelihood(text: str) -> float:
    """Return how likely a text is an analyte's name, 0 to 1, by spelling.

    A lookup in the catalogue, cached; short abbreviations count less, since "K" and
    "P" are words of many kinds.
    """

    reading = look_up_name_in_catalogue(text)
    if not reading.senses:
        return 0.0
    key = build_name_key(text)
    if key in _ORDINARY_WORDS:
        return _ORDINARY * reading.quality
    return reading.quality * (_ABBREVIATION if len(key) < 3 else 1.0)
