"""Reading the text of a reference range: numbers only where they are unambiguous.

Pure functions on text. A range for an age or a sex is decided only by what the
report's own header says; otherwise the text stands and no bound is guessed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from .values import COMPARATOR, NUMBER, is_worded_value, read_number

_TO = r"(?:-{1,2}|–|—|−|~|\bto\b|\bbis\b|\ba\b|\bà\b|\bhasta\b|\bat[eé]\b)"
_SPAN = re.compile(rf"({NUMBER})\s*{_TO}\s*({NUMBER})", re.IGNORECASE)
_BELOW = (
    r"(?:<=|=<|<\s*or\s*=|<|≤|⩽|up\s*to|upto|less\s+than(?:\s+or\s+equal\s+to)?"
    r"|below|under|bis|hasta"
    r"|jusqu'?\s?à|inf(?:erior|\.)?\s*(?:a|à)?|menor\s+(?:que|de|a)|até|max\.?"
    r"|unter|kleiner)"
)
_ABOVE = (
    r"(?:>=|=>|>\s*or\s*=|>|≥|⩾|more\s+than|greater\s+than(?:\s+or\s+equal\s+to)?"
    r"|above|over|ab|über"
    r"|mayor\s+(?:que|de|a)|maior\s+(?:que|do\s+que)|sup(?:erior|\.)?\s*(?:a|à)?"
    r"|min\.?|from)"
)
_UPPER = re.compile(rf"{_BELOW}\s*:?\s*({NUMBER})", re.IGNORECASE)
_LOWER = re.compile(rf"{_ABOVE}\s*:?\s*({NUMBER})", re.IGNORECASE)
_STRICT = re.compile(
    r"<(?!=|\s*or)|>(?!=|\s*or)|less\s+than|greater\s+than|more\s+than|below|above"
)
_LABEL = re.compile(
    r"(?i)^(?:normal|desirable|optimal|reference|ref|range|adults?)\s*[:=]?\s*"
)
_ANNOUNCED = re.compile(
    r"(?i)^(?P<open>[(\[]?)\s*(?:bio(?:logical|\.)?\s*)?"
    r"(?:ref(?:erence|er\.|\.)?|normal|standard|expected|desirable|healthy|optimal)"
    r"\s*(?:range|zone|interval|values?|int\.|limits?|rng)\.?\s*(?P<mark>[:=]?)\s*"
)
_SEXES = re.compile(
    r"(?i)\b(?P<female>females?|women|woman|frauen|w|f|mujer(?:es)?|mulher(?:es)?"
    r"|femmes?|kad[ıi]n)\b"
    r"|\b(?P<male>males?|men|man|männer|m|hombres?|homens?|hommes?|erkek)\b"
)
_WORDED = re.compile(
    r"(?i)^[(\[]?\s*(?:not?\s+estab\.?(?:lished)?|n/?a|none|not applicable|not"
    r" defined|not available"
    r"|see (?:note|below|comment|interpretation|report).*|refer .*|nil|negative"
    r"|non[\s-]?reactive.*|absent|clear"
    r"|not detected|no growth|normal)\s*[)\]]?$"
)
_FORM = re.compile(
    rf"{NUMBER}\s*{_TO}\s*{NUMBER}|{COMPARATOR}\s*{NUMBER}|(?:{_BELOW}"
    rf"|{_ABOVE})\s*:?\s*{NUMBER}",
    re.IGNORECASE,
)


_UNIT_DIGITS = re.compile(
    r"(?i)[x×]\s*e\s*\d{1,2}(?=\s*/)|(?<![\d.,])(?:[x×*]\s*10\s*(?:\^|e|\*+)?\s*\d{0,2}|10\s*(?:\^|e|\*+)\s*\d{1,2})"
    r"|/\s*1\.73\s*m.*"
)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The numbers a range names, either side None where open; strict excludes them."""

    low: float | None = None
    high: float | None = None
    strict: bool = False


def without_label(text: str) -> str:
    """A range without the words that announce it: 'Ref. range: 135 - 145'."""
    match = _ANNOUNCED.match(text)
    if match is None:
        return text.strip()
    plain = text[match.end() :].strip()
    return plain.rstrip(")]").rstrip() if match["open"] else plain


def announced_range(line: str) -> str | None:
    """The range on a line that says it gives one, else None."""
    match = _ANNOUNCED.match(line.strip())
    if match is None or not match["mark"]:
        return None
    return line.strip()[match.end() :].strip()


def read_bounds(
    text: str, *, sex: str | None = None, decimal_comma: bool = False
) -> Bounds:
    """The numeric bounds of a printed range; empty where they are open to doubt."""
    plain = _tidy(text)
    if sex in ("male", "female"):
        plain = _for_sex(plain, sex)
    plain = _LABEL.sub("", plain).strip()
    numbers = re.findall(NUMBER, _without_units(plain))

    def number(printed: str) -> float | None:
        return read_number(printed, decimal_comma=decimal_comma)

    span = _SPAN.match(plain)
    if span and len(numbers) == 2:
        low, high = number(span[1]), number(span[2])
        if low is None or high is None or low > high:
            return Bounds()
        return Bounds(low, high)
    strict = bool(_STRICT.match(plain.lower()))
    if len(numbers) == 1:
        if upper := _UPPER.match(plain):
            return Bounds(high=number(upper[1]), strict=strict)
        if lower := _LOWER.match(plain):
            return Bounds(low=number(lower[1]), strict=strict)
    return Bounds()


@lru_cache(maxsize=4096)
def looks_like_range(text: str) -> bool:
    """Whether a text stands for a reference range by its own form."""
    plain = text.strip()
    return bool(_FORM.search(_tidy(plain)) or _WORDED.match(plain))


@lru_cache(maxsize=4096)
def is_plain_range(text: str) -> bool:
    """Whether a text is nothing but a numeric range, brackets aside."""
    plain = _tidy(text)
    return any(form.fullmatch(plain) for form in (_SPAN, _UPPER, _LOWER))


def is_expected_finding(text: str) -> bool:
    """Whether a range is a finding in words: Negative, Clear, Not Estab."""
    return bool(_WORDED.match(text.strip())) or is_worded_value(text)


def _tidy(text: str) -> str:
    plain = " ".join(text.split()).strip()
    plain = re.sub(r"(?<=\d)\s+(?=\.\d)", "", plain)
    return plain.strip("()[]{} ").strip("*#")


def _without_units(text: str) -> str:
    """Drop the digits that belong to a unit such as 10^3/uL or x10E9/L."""
    return _UNIT_DIGITS.sub("", text)


def _for_sex(text: str, sex: str) -> str:
    """The part of a text that is for one sex, if it is parted by sex alone."""
    marks = list(_SEXES.finditer(text))
    if {mark.lastgroup for mark in marks} != {"male", "female"} or len(marks) != 2:
        return text
    own = next(n for n, mark in enumerate(marks) if mark.lastgroup == sex)
    first = text[: marks[0].start()].strip(" :(")
    if first:
        begin = marks[own - 1].end() if own else 0
        return text[begin : marks[own].start()].strip(" :;,/()-=")
    end = marks[own + 1].start() if own + 1 < len(marks) else len(text)
    return text[marks[own].end() : end].strip(" :;,/()-=")
