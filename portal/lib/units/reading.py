"""Reading a printed unit into UCUM.

Spelling is repaired and parts are put together here; the parts themselves are in
spellings.py. Converts nothing: a value stays in the unit it was printed in.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from .dimensions import Dimension, can_unit_express_loinc_property, find_unit_dimension
from .spellings import (
    ACTIVITIES,
    COUNTED,
    FIELDS,
    MASSES,
    MULTIPLIERS,
    SUBSTANCES,
    TIMES,
    VOLUMES,
    WHOLE,
)

_LONGEST = 48
_EDGES = ",;:-=#."

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")

# What a unit cell may carry besides the unit: how the value was found ("mg/dL
# (calc)"), never what it is measured in.
_REMARKS = re.compile(
    r"\(?\b(?:calc(?:ulated)?|calculation|measured|estimated|ifcc|ngsp|dcct)\b\.?\)?",
    re.IGNORECASE,
)
_POWER = re.compile(
    r"(?:x?10(?:\*\*|e\+?|\^+|[*x'’´`~\"°+-]|exp)?|x?e\+?)\(?(3|4|5|6|9|11|12)\)?(?=$|[/a-z])"
)
_ROUND_THOUSANDS = re.compile(r"x?(10{3}|10{5}|10{6}|10{9})(?=$|[/a-z])")
_CREATININE = re.compile(
    r"[(.-]*(?:of|de|von)?(?:ur|urine|urinary)?"
    r"(?:cr[eé]at(?:inine|inin|inina|ine|n|i|inin)?|crea|crt|cr|krea(?:t(?:inine?)?)?)\)?"
)
# A sedimentation rate, in whatever words the first hour is told.
_SEDIMENTED = re.compile(
    r"mm/?\(?(?:n|nach)?(?:first)?1?(?:st|ra|[eè]re|a|er|o|h)?/?(?:h|hr|hour|hora|heure|ora|óra|std|stunde|uur|u"
    r"|godz|saat|jam|t|time|tunti)\)?"
)
_STOOL = ("stool", "feces", "faeces", "fezes", "heces", "feci", "selles", "stuhl")
_PER_SURFACE = re.compile(
    r"ml?/?(?:min(?:ute)?|mn|mt|dak|dk|m|s|sec)?[/x*(]*1\.?73"
    r"[/x*(]*(?:m|mt|sqm|sqmt|sqmtr|sqmeter|qm|cm)?[*^]*[2)]*(?:bsa)?"
)

# What only UCUM writes, so a text in UCUM already is left as it is.
_UCUM_MARK = re.compile(r"[\[{*]|\(24\.h\)")

# "mil" is a million in English and a thousand in Spanish and Portuguese.
_THOUSAND_OR_MILLION = re.compile(r"mils?(?:/|mm)")

# A single letter is a flag far more often than a unit, save these, in lower case.
_LONE_LETTERS = frozenset({"s", "g"})
_FLAG_WORDS = frozenset({"lo", "hi", "low", "high", "no", "c", "iv", "m", "eia", "od"})
_NAME_WORDS = frozenset({"inr", "ph", "apl", "eu", "bu", "u", "h"})


def _squeeze(text: str) -> str:
    text = unicodedata.normalize("NFKC", text.translate(_SUPERSCRIPTS))
    text = _REMARKS.sub(" ", text).casefold()
    text = text.replace("μ", "u").replace("µ", "u").replace("⁄", "/").replace("∕", "/")
    text = text.replace("×", "x").replace("\\", "/").replace("|", "l")
    text = text.replace("ˆ", "^").lstrip("*")
    text = re.sub(r"\b(?:per|por|par|pro)\b", "/", text)
    text = re.sub(r"[\s\[\]{}_]+", "", text)
    text = text.strip(_EDGES)
    while len(text) > 1 and text[0] == "(" and text[-1] == ")":
        text = text[1:-1]
    text = re.sub(r"1[.,]?7[38]", "1.73", text)
    text = re.sub(r"\.(?!73)", "", text)
    text = re.sub(r"/{2,}", "/", text)
    text = re.sub(r"(?<=[ui])/[i1]$", "/l", text)
    text = (
        text.replace("d-du", "ddu")
        .replace("mo1", "mol")
        .replace("moi", "mol")
        .replace("rng/", "mg/")
    )
    return text.strip(_EDGES)


def _read_count(text: str) -> str | None:
    exponent, rest = 0, text
    power = _POWER.match(text)
    thousands = _ROUND_THOUSANDS.match(text)
    if power:
        exponent, rest = int(power[1]), text[power.end() :]
    elif thousands:
        exponent, rest = len(thousands[1]) - 1, text[thousands.end() :]
    head, stroke, tail = rest.partition("/")
    head = head.removeprefix("x").removeprefix("in")
    if not exponent:
        for word, power_of_ten in MULTIPLIERS.items():
            if head.startswith(word):
                left = head[len(word) :]
                per_volume = not stroke and len(left) > 1 and left in VOLUMES
                if per_volume or (stroke and (not left or left in COUNTED)):
                    exponent, head = power_of_ten, left
                    break
    if head in COUNTED:
        head = ""
    if not stroke:
        # "cumm" alone, "lakhs cumm" and "x10^3 uL" lost their stroke.
        if exponent and not head:
            return f"10*{exponent}" if power else None
        if head in VOLUMES and (exponent or (VOLUMES[head] == "uL" and "mm" in head)):
            head, tail = "", head
        elif head in FIELDS and len(head) > 2:
            return f"/{FIELDS[head]}"
    if head or not tail:
        return None
    for word in COUNTED:
        if len(word) > 1 and tail.startswith(word):
            tail = tail.removeprefix(word).lstrip("/")
    if tail in FIELDS and not exponent:
        return f"/{FIELDS[tail]}"
    if text == "/pl":
        # German counts of red cells; elsewhere a scanner's "µl".
        return "/pL"
    volume = VOLUMES.get(tail) or VOLUMES.get(tail.removesuffix("blood"))
    if volume is None:
        return None
    if exponent == 9 and volume == "uL":
        # Printed ("Bin/µL"), but a billion cells are only ever counted per litre.
        volume = "L"
    return f"10*{exponent}/{volume}" if exponent else f"/{volume}"


def _read_denominator(text: str) -> str | None:
    volume = VOLUMES.get(text) or VOLUMES.get(text.removesuffix("rbc"))
    if volume:
        return volume
    if text in TIMES:
        return TIMES[text]
    for table in (SUBSTANCES, MASSES):
        for spelling, unit in table.items():
            if text == spelling:
                return unit
            if text.startswith(spelling):
                rest = text[len(spelling) :]
                if _CREATININE.fullmatch(rest):
                    return f"{unit}{{creat}}"
                if rest in ("hb", "hgb", "ofhb", "haemoglobin", "hemoglobin"):
                    return f"{unit}{{Hb}}" if unit == "g" else unit
                if rest in _STOOL:
                    return unit
    for spelling, unit in TIMES.items():
        if text.startswith(spelling) and text[len(spelling) :] in ("urine", "vol", "s"):
            return unit
    if re.fullmatch(r"10[*^e]?12(?:rbc)?", text):
        return "10*12"
    return None


def _read_quotient(text: str) -> str | None:
    remark = ""
    for name in ("feu", "ddu"):
        if name in text:
            text = text.replace(f"({name})", "").replace(name, "")
            remark = f"{{{name.upper()}}}"
    head, _, tail = text.partition("/")
    head = head.removeprefix("x").strip("-")
    numerator = MASSES.get(head) or SUBSTANCES.get(head) or ACTIVITIES.get(head)
    if numerator is None and head in VOLUMES and len(head) <= 2:
        numerator = VOLUMES[head]
    if numerator is None:
        return None
    if _PER_SURFACE.fullmatch(f"{head}/{tail}"):
        return "mL/min/{1.73_m2}"
    if tail in ("h", "hr") and numerator in MASSES.values():
        return f"{numerator}/h"
    denominator = _read_denominator(tail)
    if denominator is None:
        return None
    return f"{numerator}/{denominator}{remark}"


def _read(squeezed: str) -> str | None:
    if squeezed in WHOLE:
        return WHOLE[squeezed]
    if _SEDIMENTED.fullmatch(squeezed):
        return "mm/h"
    alone = MASSES.get(squeezed) or TIMES.get(squeezed)
    if alone:
        return alone
    if squeezed in VOLUMES and "mm" not in squeezed:
        return VOLUMES[squeezed]
    return (
        _read_count(squeezed)
        or (_read_quotient(squeezed) if "/" in squeezed else None)
        or ACTIVITIES.get(squeezed)
    )


_CYRILLIC = re.compile("[а-яё]+", re.IGNORECASE)
_IN_LATIN = {
    "моль": "mol",
    "ммоль": "mmol",
    "мкмоль": "umol",
    "нмоль": "nmol",
    "пмоль": "pmol",
    "кг": "kg",
    "г": "g",
    "мг": "mg",
    "мкг": "ug",
    "нг": "ng",
    "пг": "pg",
    "л": "L",
    "дл": "dL",
    "мл": "mL",
    "мкл": "uL",
    "фл": "fL",
    "ед": "U",
    "мед": "mU",
    "мкед": "uU",
    "ме": "IU",
    "мме": "mIU",
    "мкме": "uIU",
    "час": "h",
    "ч": "h",
    "мин": "min",
    "сек": "sec",
    "с": "s",
    "мм": "mm",
    "мэкв": "meq",
    "тыс": "thou",
    "млн": "mill",
}


def _write_in_latin(word: re.Match[str]) -> str:
    """Write a Russian part of a unit in Latin: 'ммоль' as 'mmol'."""
    return _IN_LATIN.get(word[0].lower(), word[0])


@lru_cache(maxsize=8192)
def parse_printed_unit(text: str) -> tuple[str, ...]:
    """Return every UCUM reading of a printed unit, the likeliest first.

    Two readings arise from capitals, "G/L" is giga per litre on European counts and
    grams per litre on a page printed in capitals, and from "mil".
    """

    if len(text) > _LONGEST:
        return ()
    if _UCUM_MARK.search(text) and find_unit_dimension(text) is not Dimension.OTHER:
        return (text,)
    squeezed = _squeeze(_CYRILLIC.sub(_write_in_latin, text))
    if not squeezed or squeezed.isdigit():
        return ()
    if squeezed in ("g/l", "t/l") and text.strip()[0] in "GT":
        count = "10*9/L" if squeezed[0] == "g" else "10*12/L"
        return (count, "g/L") if squeezed[0] == "g" else (count,)
    reading = _read(squeezed)
    if reading and _THOUSAND_OR_MILLION.match(squeezed):
        return (reading, reading.replace("10*6", "10*3"))
    return (reading,) if reading else ()


def normalize_unit(text: str) -> str | None:
    """Return the canonical UCUM text of a printed unit, or None when it is unknown."""

    readings = parse_printed_unit(text)
    return readings[0] if readings else None


@lru_cache(maxsize=8192)
def looks_like_unit(text: str) -> bool:
    """Return whether a text beside a value is a unit, not a word or a flag.

    Stricter than normalize_unit: single letters and short words that are flags,
    names or methods elsewhere on a report are refused.
    """

    stripped = text.strip()
    if len(stripped) == 1:
        return stripped in _LONE_LETTERS or stripped in "%‰"
    if stripped.casefold() in _FLAG_WORDS or stripped.casefold() in _NAME_WORDS:
        return False
    return bool(parse_printed_unit(stripped))


@lru_cache(maxsize=8192)
def can_printed_unit_express_loinc_property(
    *, property: str, units: str
) -> bool | None:
    """Return whether a printed unit fits a LOINC property; None when unknown."""

    verdicts = [
        can_unit_express_loinc_property(property=property, unit=u)
        for u in parse_printed_unit(units)
    ]
    if True in verdicts:
        return True
    return False if False in verdicts else None
