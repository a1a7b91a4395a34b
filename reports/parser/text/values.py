"""Parses values: numbers, comparators, findings in words, flags.

Pure functions on text. Where a text stands on the page, and what belongs to it, is
decided elsewhere.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from reports.parser.report import ResultType
from reports.parser.word_lists import read_patterns

NUMBER = (
    r"(?:\d{1,3}(?:['’]\d{3})+(?:[.,]\d+)?"
    r"|\d{1,3}(?:[,.]\d{2,3})*(?:[,.]\d+)|\d+(?:[.,]\d+)?|[.,]\d+)"
)
COMPARATOR = r"(?:<=|>=|=<|=>|<|>|≤|≥|⩽|⩾)"
_BELOW = (
    r"(?:inf[ée]rieure?\s+[àa]|inferiore?\s+a|less\s+than|below|under|menor(?:es)?\s+"
    r"(?:que|de|a)|meno\s+di|minore\s+(?:di|a)|moins\s+de|menos\s+de|kleiner(?:\s+als)?"
    r"|weniger\s+als|unter|mindre\s+(?:än|end|enn)|mniej\s+niż|ponizej|minder\s+dan)"
)
_ABOVE = (
    r"(?:sup[ée]rieure?\s+[àa]|superiore?\s+a|(?:greater|more)\s+than|above|over|ma[yi]or"
    r"(?:es)?\s+(?:que|de|a)|maggiore\s+(?:di|a)|plus\s+de|m[aá][si]s?\s+de|größer"
    r"(?:\s+als)?|mehr\s+als|über|större\s+än|powyżej|meer\s+dan)"
)
_SPOKEN = re.compile(rf"(?:(?P<below>{_BELOW})|{_ABOVE})\s*(?=\d)", re.IGNORECASE)
_SIGNED = rf"[-+−]?\s?{NUMBER}"

_PLAIN = re.compile(rf"{_SIGNED}|\d{{1,3}}(?:[ \xa0]\d{{3}})+(?:[.,]\d+)?")
_COMPARED = re.compile(rf"{COMPARATOR}\s*{_SIGNED}")
_SPAN = re.compile(rf"{NUMBER}\s*(?:-|–|—|−|to)\s*{NUMBER}")
_NUMBERS = re.compile(rf"{NUMBER}(?:\s+{NUMBER})+")
_FRACTION = re.compile(rf"{NUMBER}\s*/\s*{NUMBER}")
_POWER = re.compile(
    rf"{NUMBER}(?:\s*[xX×*]\s*10\s*\^?\s*-?\d{{1,2}}|[eE][+-]?\d{{1,2}})"
)
_GROUPED = re.compile(r"\d{1,3}(,\d{2,3})*,\d{3}(\.\d+)?")
_APOSTROPHES = re.compile(r"(?<=\d)['’](?=\d{3})")
_DOTTED = re.compile(r"\d{1,3}(\.\d{3})+(,\d+)?")
_DECIMAL_COMMA = re.compile(r"(?<![\d.,])\d{1,3},(?:\d{1,2}|\d{4,})(?![\d.,])")
_DECIMAL_POINT = re.compile(r"(?<![\d.,])\d+\.\d+(?![\d.,])")

_WORDED = re.compile(
    rf"""(?ix)^[("'\[]* (?:{"|".join(read_patterns("findings.txt"))})
    (?:\s*[(\[]?\s*(?:\++ |\d\s*\+ |1\s*:\s*\d+ |<?\s*1\s*/\s*\d+
    |(?<=[\s(\[])<?\s*\d+(?:[.,]\d+)?
    |(?<=[(\[])<?\s*\d+(?:[.,]\d+)?\s*[a-zµμ]{{1,5}}/[a-zµμ]{{1,2}})\s*[)\]]?)?
    [)"'\].]* $"""
)
_TITRE = re.compile(r"(?:[<>≤≥]\s*)?1\s*:\s*\d+(?:[.,]\d+)?")
_PATTERNED = re.compile(
    rf"(?i){_TITRE.pattern},?\s+(?:(?:fine|coarse|dense|nuclear|discrete)\s+)*(?:speckled"
    r"|homogen(?:e?ous|)|nucleolar|centromere|cytoplasmic|granular|diffuse|dots)"
    r"(?:\s+pattern)?"
)
_PENDING = re.compile(rf"(?i)^\W*(?:{'|'.join(read_patterns('pending.txt'))})\b")
_BLANK = re.compile(r"[-–—_.:/*#\s]*")

_FLAG_WORD = (
    r"(?:HH|LL|H|L|A|AA|HI|LO|CH|CL|HIGH|LOW|High|Low|Abnormal|ABNORMAL"
    r"|(?i:critical|alert|panic)(?:\s(?i:high|low|abnormal))?"
    r"|(?i:alt[oa]|elevad[oa]|elevato|[ée]lev[ée]e?|haut|hoch|erh[öo]ht|y[üu]ksek"
    r"|h[øö][jyg])"
    r"|(?i:baj[oa]|bass[oa]|baix[oa]|bas|diminu[ée]e?|niedrig|erniedrigt"
    r"|d[üu][şs][üu]k|l[aå]v|låg)"
    r"|Crit|\*{1,3}|#|↑{1,2}|↓{1,2}|▲|▼|⬆|⬇|!{1,2}|Hi|Lo)"
)
FLAG = re.compile(rf"[(\[{{]?\s*(?:[*!]+\s*|[<>])?{_FLAG_WORD}(?:\s*\*+)?\s*[)\]}}]?")
_FLAG_AFTER = re.compile(
    rf"(?P<value>.*?[\d)+%])\s*(?P<flag>[(\[{{]\s*{_FLAG_WORD}\s*[)\]}}]"
    rf"|(?<=[\d%)])\s*!?{_FLAG_WORD}"
    rf"|\s!?{_FLAG_WORD}\*{{,2}}|\s(?i:crit\w*)\s(?:HH?|LL?)|(?<=\d)\s[+-]|(?<=[.,]\d)[+-]|(?<=\d\d)[+-])"
)
_FLAG_BEFORE = re.compile(
    rf"(?P<flag>[(\[{{]\s*{_FLAG_WORD}\s*[)\]}}]|(?:HH|LL|H|L|A|\*+|#|↑|↓|▲|▼"
    rf"|!)(?=\s|[\d<>]))\s*(?P<value>[\d<>≤≥.].*)"
)


_SHARE = re.compile(rf"(?:{COMPARATOR}\s*)?{_SIGNED}\s*%")
_NUMERIC = (_PLAIN, _COMPARED, _SPAN, _FRACTION, _POWER, _TITRE, _SHARE)


@dataclass(frozen=True, slots=True)
class Number:
    """A number with its comparator: '', '<', '<=', '>' or '>='."""

    size: float
    comparator: str = ""


def has_decimal_commas(texts: Iterable[str]) -> bool:
    """Return whether texts have more decimal commas than decimal points."""
    commas = points = 0
    for text in texts:
        commas += len(_DECIMAL_COMMA.findall(text))
        points += len(_DECIMAL_POINT.findall(text))
    return commas > points


@lru_cache(maxsize=4096)
def parse_printed_number(text: str, *, decimal_comma: bool = False) -> float | None:
    """Read one plain number as printed; None if the text is anything else.

    Commas group where every group is whole (5,100 and 1,45,000), unless the report
    is known to use decimal commas; else a comma is the decimal mark (6,73).
    """
    plain = text.strip().replace("−", "-")
    if not _PLAIN.fullmatch(plain):
        return None
    plain = _APOSTROPHES.sub("", "".join(plain.split()))
    sign = -1 if plain.startswith("-") else 1
    plain = plain.lstrip("+-")
    if decimal_comma:
        if "," in plain or _DOTTED.fullmatch(plain):
            plain = plain.replace(".", "").replace(",", ".")
    elif _GROUPED.fullmatch(plain) and not plain.startswith("0"):
        plain = plain.replace(",", "")
    elif "," in plain and "." in plain and plain.rindex(",") > plain.rindex("."):
        plain = plain.replace(".", "").replace(",", ".")
    else:
        plain = plain.replace(",", ".")
    try:
        number = sign * float(plain)
    except ValueError:
        return None
    # Hundreds of digits are no result, and JSON has no word for what they overflow to.
    return number if math.isfinite(number) else None


def parse_number_with_comparator(
    text: str, *, decimal_comma: bool = False
) -> Number | None:
    """Read a number with or without a comparator and a percent sign."""
    plain = replace_comparison_words_with_sign(text).rstrip("%").strip()
    match = re.match(rf"({COMPARATOR})\s*", plain)
    comparator = ""
    if match:
        comparator = (
            match[1].replace("≤", "<=").replace("≥", ">=").replace("=<", "<=")
        ).replace("=>", ">=")
        plain = plain[match.end() :]
    size = parse_printed_number(plain, decimal_comma=decimal_comma)
    return None if size is None else Number(size, comparator)


def replace_comparison_words_with_sign(text: str) -> str:
    """Return a value with a sign for words of comparison: 'Inferior a 0,5'."""
    plain = text.strip()
    match = _SPOKEN.match(plain) if plain[:1].isalpha() else None
    if match is None:
        return plain
    return f"{'<' if match['below'] else '>'} {plain[match.end() :]}"


def infer_value_type(value: str) -> ResultType:
    """Return the type of a value text. Source: Contract 7.4, inference."""
    plain = replace_comparison_words_with_sign(value)
    if "%" in plain and any(sign.isdigit() for sign in plain):
        return ResultType.PERCENTAGE
    if _COMPARED.fullmatch(plain) or _SPAN.fullmatch(plain):
        return ResultType.RANGE
    if _FRACTION.fullmatch(plain):
        return ResultType.RATIO
    if _PLAIN.fullmatch(plain):
        return ResultType.NUMERIC
    return ResultType.COMMENT


@lru_cache(maxsize=16384)
def is_numeric_value(text: str) -> bool:
    """Return whether the text is a measured value in digits, of any written form."""
    plain = replace_comparison_words_with_sign(text)
    return any(form.fullmatch(plain) for form in _NUMERIC)


@lru_cache(maxsize=16384)
def is_worded_value(text: str) -> bool:
    """Return whether the text is a finding in words: Non reactive, 1+, Amber, clear."""
    plain = text.strip()
    first, comma, second = plain.partition(", ")
    if comma and is_worded_value(first):
        return is_worded_value(second)
    if _PATTERNED.fullmatch(plain):
        return True
    return bool(_WORDED.match(plain)) and not is_not_reported(text)


def is_result_value(text: str) -> bool:
    """Return whether the text is a result, in digits or in words."""
    return is_numeric_value(text) or is_worded_value(text)


def is_several_numbers(text: str) -> bool:
    """Return whether a text is several numbers, not one number in groups of three."""
    several = len(text.split()) > 1
    return several and not is_numeric_value(text) and bool(_NUMBERS.fullmatch(text))


def is_not_reported(text: str) -> bool:
    """Return whether no value was reported: a dash, dots, or a note that it follows."""
    return bool(_BLANK.fullmatch(text)) or bool(_PENDING.match(text))


@lru_cache(maxsize=16384)
def is_out_of_range_flag(text: str) -> bool:
    """Return whether the text is only a flag for a value out of range."""
    return bool(FLAG.fullmatch(text.strip()))


def _bare(flag: str) -> str:
    mark = flag.strip(" ()[]{}")
    return mark.lstrip("!<>") or mark


@lru_cache(maxsize=8192)
def split_value_and_flag(text: str) -> tuple[str, str | None]:
    """Split a value and the flag glued to it: '7.2 H', '9.10 [L]', 'H 7.2'."""
    plain = text.strip()
    if match := _FLAG_AFTER.fullmatch(plain):
        value = match["value"].strip()
        if is_numeric_value(value):
            return value, _bare(match["flag"])
    if match := _FLAG_BEFORE.fullmatch(plain):
        value = match["value"].strip()
        if is_numeric_value(value):
            return value, _bare(match["flag"])
    return plain, None
