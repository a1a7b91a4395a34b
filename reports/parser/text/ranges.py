"""Parses reference ranges: numbers only where they are unambiguous.

Pure functions on text. A range for an age or a sex is decided only by what the
report's own header says; otherwise the text stands and no bound is guessed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from reports.parser.text.folding import normalize_letters_and_digits
from reports.parser.text.range_groups import choose_range_for_patient
from reports.parser.text.roles import Role, find_column_role
from reports.parser.text.values import (
    COMPARATOR,
    NUMBER,
    is_worded_value,
    parse_printed_number,
)

_TO = r"(?:-{1,2}|[‐‑–]|\.\.|…|—|−|~|\bto\b|\bbis\b|\ba\b|\bà\b|\bhasta\b|\bat[eé]\b)"
# A unit may stand behind both ends: '133 mmol/L to 146 mmol/L', '40%-75%'.
_PER = r"(?:[xX×]?\s?10[\^*eE]?\d{1,2}|[^\W\d_]+)\s?/\s?[^\W\d_]+"
UNIT_BETWEEN = rf"(?:\s*(?:%|{_PER}|[^\W\d_]+\s))?"
_SPAN = re.compile(rf"({NUMBER}){UNIT_BETWEEN}\s*{_TO}\s*({NUMBER})", re.IGNORECASE)
_BELOW = (
    r"(?:<=|=<|<\s*or\s*=|<(?:\s*(?:a|de|que)\b)?|≤|⩽|до|up\s*to|upto|less\s+than(?:\s+or\s+equal\s+to)?"
    r"|below|under|until|no(?:t)?\s+more\s+than|bis(?:\s+zu)?|hasta|jusqu'?\s?à|fino\s+a|até"
    r"|inf(?:[ée]rieure?|eriore?|\.)?\s*(?:ou\s+[ée]gale?\s+)?(?:que|a|à)?"
    r"|men(?:or|os)\s+(?:que|de|a|do\s+que)|minore\s+(?:di|a)|meno\s+di|moins\s+de"
    r"|max\.?|unter|kleiner(?:\s+als)?|weniger\s+als|höchstens)"
)
_ABOVE = (
    r"(?:>=|=>|>\s*or\s*=|>(?:\s*(?:a|de|que)\b)?|≥|⩾|от|more\s+than|greater\s+than(?:\s+or\s+equal\s+to)?"
    r"|above|over|ab|über|größer(?:\s+als)?|mehr\s+als|mindestens"
    r"|m(?:ay|ai)or\s+(?:que|de|a|do\s+que)|maggiore\s+(?:di|a)|m[aá]s\s+de"
    r"|sup(?:[ée]rieure?|eriore?|\.)?\s*(?:ou\s+[ée]gale?\s+)?(?:que|a|à)?|plus\s+de"
    r"|mais\s+de|min\.?|from)"
)
_UPPER = re.compile(rf"{_BELOW}\s*:?\s*({NUMBER})", re.IGNORECASE)
_LOWER = re.compile(rf"{_ABOVE}\s*:?\s*({NUMBER})", re.IGNORECASE)
_UPPER_BEHIND, _LOWER_BEHIND = (
    re.compile(rf"({NUMBER})\s+(?:or|and)\s+(?:{words})", re.IGNORECASE)
    for words in ("less|below|under|lower", "more|above|over|higher|greater")
)
_PLAIN = (_SPAN, _UPPER, _LOWER, _UPPER_BEHIND, _LOWER_BEHIND)
_STRICT = re.compile(
    r"<(?!=|\s*or)|>(?!=|\s*or)|less\s+than|greater\s+than|more\s+than|below|above"
)
_LABEL = re.compile(
    r"(?i)^(?:normal|desirable|optimal|reference|ref|range|adults?|v\.?\s?[nr]\.?"
    r"|norm(?:a|e|wert)?|zakres|\((?:fasting|random|serum|plasma|blood)\))\s*[:=]?\s*"
)
_ANNOUNCED = re.compile(
    r"(?i)^(?P<open>[(\[]?)\s*(?:bio(?:logical|\.)?\s*)?"
    r"(?:[nv]\.\s?[nrv]\.|(?:ref(?:erence|er\.|\.)?|normal|usual|standard|expected|desirable|healthy|optimal)"
    r"\s*(?:range|zone|interval|values?|int\.|limits?|rng))\.?\s*(?P<mark>(?:[:=](?:-(?=\s|$))?)?)\s*"
)
_SHORT_RANGE = (
    r"(?P<range>(?:[<>≤≥\d]|up\s?to|less\s|more\s|below\s|above\s|under\s|over\s)"
    r"[^()\[\]:]{,30})[)\]]?$"
)
_SHORTLY = re.compile(
    r"(?i)[(\[]?(?:(?:lab(?:oratory)?|ref(?:erence)?|normal|standard|healthy"
    r"|optimal|ideal|desirable|expected|target|goal)\.?\s+range"
    rf"|ref(?:erence)?|range|target|goal)\.?\s*:?\s+{_SHORT_RANGE}"
)
# On a line of its own a range; in a column perhaps the first of several bands.
_AIMED = re.compile(
    r"(?i)[(\[]?(?:ideal|optimal|target|healthy|desirable|expected|norm(?:al)?)"
    rf"\s*:\s*{_SHORT_RANGE}"
)
_TITLED = re.compile(r"(?P<open>[(\[]?)\s*(?P<label>[^\W\d][^\d:()\[\]]{,40}?)\s*:\s*")
_ABBREVIATED = frozenset(
    ["vn", "vr", "nr", "nv", "rr", "ri", "normbereich", "referenzbereich"]
)
# Letters from which on a title is no 'Reference:' of a header: 'Referentiewaarde:'.
_ONE_WORD = 11
# A range that is no number of a file: '8,5 - 11,0', '< 8'.
_SET_APART = re.compile(rf"{NUMBER}\s+[-–—]\s+{NUMBER}|{COMPARATOR}\s*{NUMBER}")
_BARE_LABEL = re.compile(r"(?i)(?:ref(?:erence|\.)?|ideal|target|range)\s*:?")
_BETWEEN = re.compile(
    rf"(?i)(?:between|from|entre|zwischen|von|de|da|tra|fra)\s+({NUMBER})"
    rf"\s*(?:and|to|et|à|y|a|e|und|bis|ed)\s*({NUMBER})"
)
_SIGNED_SPAN = re.compile(
    rf"\(?([-+−]{NUMBER})\)?\s*(?:-|–|to|a|à|bis)\s*\(?([-+−]?{NUMBER})\)?"
)
_WORDED = re.compile(
    r"(?i)^[(\[]?\s*(?:not?\s+estab\.?(?:lished)?|n/?a|none|not applicable|not"
    r" defined|not available"
    r"|see (?:note|below|comment|interpretation|report).*|refer .*|nil|negative"
    r"|non[\s-]?reactive.*|absent|clear"
    r"|not detected|no growth|normal)\s*[)\]]?$"
)
_CUT_OFF = re.compile(r"\d.*(?:[-–—:<>≤≥]|\bto)$|^[-–—:(<>≤≥]$")
_FORM = re.compile(
    rf"{NUMBER}{UNIT_BETWEEN}\s*{_TO}\s*{NUMBER}|{COMPARATOR}\s*{NUMBER}|(?:{_BELOW}"
    rf"|{_ABOVE})\s*:?\s*{NUMBER}|{NUMBER}\s+or\s+(?:less|more|above|below)",
    re.IGNORECASE,
)

# How many of a drug at which time of day.
_DOSES = re.compile(r"[\d½/]+(?:-[\d½/]+){2,3}(?=\W|$)")
_UNIT_DIGITS = re.compile(
    r"(?i)[x×]\s*e\s*\d{1,2}(?=\s*/)|(?<![\d.,])(?:[x×*]\s*10\s*(?:\^|e|\*+)?\s*\d{0,2}|10\s*(?:\^|e|\*+)\s*\d{1,2})"
    r"|/\s*1\.73\s*m.*|\bmm\s*[/(]?\s*(?:in\s|at\s)?1(?:st)?\s*h.*"
)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The numbers a range names, either side None where open; strict excludes them."""

    low: float | None = None
    high: float | None = None
    strict: bool = False


def strip_range_label(text: str) -> str:
    """Return a range without its label: 'Ref. range: 135 - 145'."""
    if short := _SHORTLY.match(text.strip()):
        return short["range"]
    match = _ANNOUNCED.match(text) or _titled_range(text)
    if match is None:
        return text.strip()
    plain = text[match.end() :].strip()
    return plain.rstrip(")]").rstrip() if match["open"] else plain


@lru_cache(maxsize=8192)
def parse_labeled_range(line: str) -> str | None:
    """Return the range on a line that is labeled as one, else None."""
    short = _SHORTLY.match(line.strip()) or _AIMED.match(line.strip())
    if short and looks_like_range(short["range"]):
        return short["range"]
    match = _ANNOUNCED.match(line.strip())
    if match is None or not match["mark"]:
        match = _titled_range(line.strip())
    if match is None:
        return None
    return line.strip()[match.end() :].strip()


def _titled_range(text: str) -> re.Match[str] | None:
    """Match a title of ranges of any language at the start, with a colon."""
    match = _TITLED.match(text)
    if match is None:
        return None
    label = normalize_letters_and_digits(match["label"])
    long = " " in label or len(label) > _ONE_WORD
    short = label[:3] == "ref" and _SET_APART.match(text, match.end())
    told = label.replace(" ", "") in _ABBREVIATED or (
        bool(long or short) and find_column_role(label) is Role.RANGE
    )
    return match if told else None


def is_range_label(text: str) -> bool:
    """Return whether a text is only the label of a range."""
    plain = text.strip()
    return bool(_ANNOUNCED.fullmatch(plain) or _BARE_LABEL.fullmatch(plain))


@lru_cache(maxsize=4096)
def parse_range_bounds(
    text: str,
    *,
    sex: str | None = None,
    age: float | None = None,
    decimal_comma: bool = False,
) -> Bounds:
    """Return the numeric bounds of a printed range; empty if ambiguous.

    sex and age (years) are the patient's, as far as the report's header tells them.
    """
    part = choose_range_for_patient(_tidy(text), sex=sex, age=age)
    if part is None:
        return Bounds()
    plain = _LABEL.sub("", part).strip()
    numbers = re.findall(NUMBER, _strip_units(plain))

    def number(printed: str) -> float | None:
        return parse_printed_number(printed, decimal_comma=decimal_comma)

    span = _SPAN.match(plain) or _BETWEEN.match(plain) or _SIGNED_SPAN.match(plain)
    if span and len(numbers) == 2:
        low, high = number(span[1]), number(span[2])
        if low is None or high is None or low > high:
            return Bounds()
        return Bounds(low, high)
    strict = bool(_STRICT.match(plain.lower()))
    if len(numbers) == 1:
        if upper := _UPPER.match(plain) or _UPPER_BEHIND.match(plain):
            return Bounds(high=number(upper[1]), strict=strict)
        if lower := _LOWER.match(plain) or _LOWER_BEHIND.match(plain):
            return Bounds(low=number(lower[1]), strict=strict)
    return Bounds()


@lru_cache(maxsize=4096)
def looks_like_range(text: str) -> bool:
    """Return whether a text has the form of a reference range."""
    plain = text.strip()
    tidy = _tidy(plain)
    if _DOSES.match(plain):
        return False
    return bool(
        _FORM.search(tidy)
        or _WORDED.match(plain)
        or _BETWEEN.match(tidy)
        or _SIGNED_SPAN.fullmatch(tidy)
    )


def find_ranges_in_text(text: str) -> list[tuple[int, int]]:
    """Return where the numeric ranges of a text begin and end."""
    return [match.span() for match in _FORM.finditer(text)]


@lru_cache(maxsize=16384)
def is_plain_numeric_range(text: str) -> bool:
    """Return whether a text is only a numeric range, brackets aside."""
    plain = _tidy(text)
    return any(form.fullmatch(plain) for form in _PLAIN)


def is_range_cut_off(text: str) -> bool:
    """Return whether a range must go on: it ends in a dash, a colon or a comparator."""
    return bool(_CUT_OFF.search(text))


def is_range_in_words(text: str) -> bool:
    """Return whether a range is a finding in words: Negative, Clear, Not Estab."""
    return bool(_WORDED.match(text.strip())) or is_worded_value(text)


def _tidy(text: str) -> str:
    plain = " ".join(text.split()).strip()
    plain = re.sub(r"(?<=\d)\s+(?=\.\d)", "", plain)
    return plain.strip("()[]{} ").strip("*#")


def _strip_units(text: str) -> str:
    """Drop the digits that belong to a unit such as 10^3/uL or x10E9/L."""
    return _UNIT_DIGITS.sub("", text)
