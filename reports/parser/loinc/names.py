"""Reading a printed test name: which analytes it may mean, and what else it says.

Takes the furniture off a name (flags, laboratory ids, method and specimen words) and
looks what is left up in the catalogue, the printed form first. What was taken off is
kept as a hint. Nothing here weighs units, values or panels.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from rapidfuzz import fuzz

from .catalogue import Catalogue, Sense, fold, load_catalogue, name_key, sorted_key


@dataclass(frozen=True, slots=True)
class Hints:
    """What a name says besides the analyte.

    specimen is a catalogue specimen, share "percent" or "absolute", methods the
    catalogue's method words.
    """

    specimen: str | None = None
    share: str | None = None
    methods: frozenset[str] = frozenset()


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
_BRACKET_ONLY = 0.9
_PART = 0.88
_FUZZY_BASE = 0.85

_LONGEST = 120
_FUZZY_SHORTEST = 6
_FUZZY_CUTOFF = 84.0
_FUZZY_MARGIN = 5.0

_SPECIMENS: dict[str, str] = {
    "serum": "serum",
    "sr": "serum",
    "ser": "serum",
    "srm": "serum",
    "suero": "serum",
    "soro": "serum",
    "siero": "serum",
    "plasma": "serum",
    "plasmatica": "serum",
    "serica": "serum",
    "serico": "serum",
    "serique": "serum",
    "blood": "blood",
    "wb": "blood",
    "sangre": "blood",
    "sang": "blood",
    "sangue": "blood",
    "blut": "blood",
    "urine": "urine",
    "urinary": "urine",
    "urin": "urine",
    "orina": "urine",
    "urina": "urine",
    "ur": "urine",
    "csf": "csf",
    "liquor": "csf",
    "stool": "stool",
    "feces": "stool",
    "faeces": "stool",
    "fecal": "stool",
    "faecal": "stool",
    "semen": "semen",
    "seminal": "semen",
    "saliva": "saliva",
    "salivary": "saliva",
    "arterial": "arterial",
    "art": "arterial",
    "venous": "venous",
    "ven": "venous",
    "capillary": "capillary",
    "fluid": "fluid",
    "pleural": "fluid",
    "ascitic": "fluid",
    "peritoneal": "fluid",
    "synovial": "fluid",
}
_SHARES: dict[str, str] = {
    "%": "percent",
    "percent": "percent",
    "percentage": "percent",
    "pct": "percent",
    "perc": "percent",
    "rel": "percent",
    "relative": "percent",
    "prozent": "percent",
    "porcentaje": "percent",
    "#": "absolute",
    "abs": "absolute",
    "absolute": "absolute",
    "absol": "absolute",
    "absolut": "absolute",
    "absolutos": "absolute",
    "absolutas": "absolute",
    "number": "absolute",
}
_METHODS: dict[str, str] = {
    "direct": "direct",
    "calculated": "calculated",
    "calc": "calculated",
    "cal": "calculated",
    "calculation": "calculated",
    "friedewald": "calculated",
    "nih": "calculated",
    "hplc": "hplc",
    "westergren": "westergren",
    "manual": "manual",
    "mdrd": "mdrd",
    "epi": "ckdepi",
    "ckdepi": "ckdepi",
    "2021": "2021",
    "cockcroft": "cockcroft",
    "gault": "cockcroft",
    "electrophoresis": "electrophoresis",
    "dipstick": "strip",
    "strip": "strip",
}
# Words that change neither the analyte nor the specimen.
_FURNITURE_WORDS = """
    level levels test tests value result results conc concentration assay method by the
    quantitative quant quantitation qualitative qual estimation measurement detection
    determination of in for with and on random spot sample specimen early morning
    automated auto automatic analyzer analyser photometry photometric colorimetric
    spectrophotometry clia eclia ecl cmia chemiluminescence elisa eia fia elfa ria ise
    immunoturbidimetry immunoturbidimetric turbidimetry nephelometry immunoassay
    enzymatic enzyme kinetic ifcc idms traceable jaffe urease god pod godpod hexokinase
    gldh uv biuret bcg bcp diazo uricase arsenazo opt pnpp chod pap gpo microscopy
    microscopic impedance flow cytometry cytometer electrode dry chemistry sls
    cyanmeth cyanide optical density histogram derived rapid card screen screening
    3rd 4th third fourth generation gen ultrasensitive ultra us reflex estimated est
    edta citrate fluoride whole naf heparin count new old repeat per hpf lpf
"""
_FURNITURE = frozenset(_FURNITURE_WORDS.split())

# Words whose presence on one side only makes two near spellings different tests.
_DECIDING = (
    "free",
    "total",
    "indirect",
    "direct",
    "ioni",
    "unconj",
    "conj",
    "igg",
    "igm",
    "iga",
    "ige",
    "non",
    "fasting",
    "hdl",
    "vldl",
    "ratio",
    "urine",
    "anti",
    "receptor",
    "index",
    "binding",
    "reverse",
    "corrected",
    "saturation",
    "transferrin",
    "sulfate",
    "micro",
    "pro",
    "abs",
    "%",
    "#",
    "volume",
    "width",
    "peak",
    "trough",
    "auto",
)

_LEADING = re.compile(
    r"^(?:\{[^}]*\}|[\s#*•·†‡^~|:>»►▪◦+=\-–—.,;!?'\"`]+|\(\s*[*#]\s*\))+"
)
_TRAILING = re.compile(r"[\s*†‡^~|:;,.=–—\-'¹²³⁰⁴-⁹]+$")
_LAB_ID = re.compile(r"(?<=[A-Za-z)])[\s,]*(?:0[1-9]|\[\d+\]|\(\d\))$")
_BRACKETS = re.compile(r"[(\[{]([^()\[\]{}]*)[)\]}]?")
_TIMED_URINE = re.compile(
    r"\b(?:24\s*-?\s*(?:h|hr|hrs|hour|hours)\b\.?|timed)(?:\s*urine)?", re.IGNORECASE
)
_SPECIMEN_LETTER = re.compile(r"^([SsPpBbUuFf])\s*[.\-]\s*(?=[A-Za-z]{3})")
_LETTER_SPECIMENS = {
    "s": "serum",
    "p": "serum",
    "b": "blood",
    "u": "urine",
    "f": "stool",
}
_WORD = re.compile(r"[a-z0-9]+|[%#]")


def strip_furniture(name: str) -> str:
    """The name without flags, bullets and trailing marks around it."""

    name = _LEADING.sub("", name.strip())
    return _TRAILING.sub("", name).strip()


def _look_up(text: str, catalogue: Catalogue) -> tuple[tuple[Sense, ...], float]:
    senses = catalogue.senses.get(name_key(text))
    if senses:
        return senses, _PRINTED
    words = sorted_key(text)
    senses = catalogue.sorted_senses.get(words) if words else None
    return (senses, _REORDERED) if senses else ((), 0.0)


def _forms(name: str) -> Iterator[tuple[str, float]]:
    """Ever plainer forms of a name with the certainty each leaves."""

    yield name, _PRINTED
    unnumbered = _LAB_ID.sub("", name)
    if unnumbered != name:
        yield unnumbered, _UNNUMBERED
    if "(" in name or "[" in name or "{" in name:
        outside = _TRAILING.sub("", _BRACKETS.sub(" ", unnumbered)).strip()
        if outside:
            yield outside, _UNBRACKETED
        for inside in _BRACKETS.findall(unnumbered):
            if len(name_key(inside)) > 1:
                yield inside, _BRACKET_ONLY


def read_hints(name: str) -> tuple[str, Hints]:
    """The words of a name that name the analyte, and what the other words say."""

    specimen: str | None = None
    folded = fold(name)
    timed = _TIMED_URINE.search(folded)
    if timed:
        specimen = "urine24"
        folded = folded[: timed.start()] + " " + folded[timed.end() :]
    letter = _SPECIMEN_LETTER.match(folded)
    if letter:
        specimen = specimen or _LETTER_SPECIMENS[letter[1]]
        folded = folded[letter.end() :]
    share: str | None = None
    methods: set[str] = set()
    kept: list[str] = []
    for word in _WORD.findall(folded):
        if word in _SPECIMENS:
            if specimen in (None, "blood", "serum"):
                specimen = _SPECIMENS[word]
        elif word in _SHARES:
            share = _SHARES[word]
        elif word in _METHODS:
            methods.add(_METHODS[word])
        elif word not in _FURNITURE:
            kept.append(word)
    return " ".join(kept), Hints(specimen, share, frozenset(methods))


@lru_cache(maxsize=1)
def _buckets() -> dict[str, tuple[str, ...]]:
    """Name keys by their first and by their last three characters, for near misses."""

    buckets: dict[str, list[str]] = {}
    for key in load_catalogue().senses:
        if len(key) >= _FUZZY_SHORTEST - 1:
            buckets.setdefault("^" + key[:3], []).append(key)
            buckets.setdefault(key[-3:] + "$", []).append(key)
    return {end: tuple(keys) for end, keys in buckets.items()}


def _is_same_test(one: str, other: str) -> bool:
    if re.findall(r"\d+", one) != re.findall(r"\d+", other):
        return False
    return all((word in one) == (word in other) for word in _DECIDING)


def _near(text: str, catalogue: Catalogue) -> tuple[tuple[Sense, ...], float]:
    """The nearest name in the catalogue when it is clearly nearer than any other."""

    key = name_key(text)
    if len(key) < _FUZZY_SHORTEST:
        return (), 0.0
    buckets = _buckets()
    pool = {*buckets.get("^" + key[:3], ()), *buckets.get(key[-3:] + "$", ())}
    best: dict[str, tuple[float, str]] = {}
    for known in pool:
        if abs(len(known) - len(key)) > 3:
            continue
        score = fuzz.ratio(key, known, score_cutoff=_FUZZY_CUTOFF)
        if not score or not _is_same_test(key, known):
            continue
        for sense in catalogue.senses[known]:
            if score > best.get(sense.analyte, (0.0, ""))[0]:
                best[sense.analyte] = (score, known)
    ranked = sorted(best.values(), reverse=True)
    if not ranked:
        return (), 0.0
    rivals = [score for score, known in ranked if known != ranked[0][1]]
    if rivals and ranked[0][0] - rivals[0] < _FUZZY_MARGIN:
        return (), 0.0
    score, known = ranked[0]
    return catalogue.senses[known], score / 100


@lru_cache(maxsize=16384)
def read_name(name: str) -> NameReading:
    """Read a printed name against the catalogue; NOTHING when it is unknown."""

    if len(name) > _LONGEST:
        return NOTHING
    bare = strip_furniture(name)
    if not bare:
        return NOTHING
    catalogue = load_catalogue()
    _, hints = read_hints(bare)
    forms = tuple(_forms(bare))
    for form, certainty in forms:
        senses, quality = _look_up(form, catalogue)
        if senses:
            return NameReading(senses, certainty * quality, hints)
        words, form_hints = read_hints(form)
        if words and certainty > _BRACKET_ONLY:
            senses, quality = _look_up(words, catalogue)
            if senses:
                merged = replace(hints, specimen=form_hints.specimen or hints.specimen)
                return NameReading(senses, certainty * quality * _STRIPPED, merged)
    senses = _agreeing_parts(bare, catalogue)
    if senses:
        return NameReading(senses, _PART, hints)
    for form, certainty in forms:
        if certainty <= _BRACKET_ONLY:
            continue
        for text in (form, read_hints(form)[0]):
            senses, similarity = _near(text, catalogue)
            if senses:
                quality = _FUZZY_BASE * certainty * similarity
                return NameReading(senses, quality, hints, is_fuzzy=True)
    return NOTHING


def _agreeing_parts(name: str, catalogue: Catalogue) -> tuple[Sense, ...]:
    """The senses of "SGPT / ALT" or "WBC - Leucocytes": every known part agrees."""

    parts = [part for part in re.split(r"\s*[/|;=]\s*|\s[-–]\s|\s*,\s+", name) if part]
    if not 1 < len(parts) <= 4:
        return ()
    found: tuple[Sense, ...] = ()
    for part in parts:
        words, _ = read_hints(part)
        if not words:
            continue
        senses, _ = _look_up(part, catalogue)
        if not senses:
            senses, _ = _look_up(words, catalogue)
        if not senses:
            return ()
        if found:
            shared = {sense.analyte for sense in found}
            senses = tuple(sense for sense in senses if sense.analyte in shared)
            if not senses:
                return ()
        found = senses
    return found


def known_name(text: str) -> float:
    """How surely a text is the name of an analyte, 0 to 1, from spelling alone.

    A lookup in the catalogue, cached; short abbreviations count less, since "K" and
    "P" are words of many kinds.
    """

    reading = read_name(text)
    if not reading.senses:
        return 0.0
    return reading.quality * (0.8 if len(name_key(text)) < 3 else 1.0)
