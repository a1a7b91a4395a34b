"""What the words at a place of a row say by themselves: is it a name, does it go on,
is it a heading. No position is judged here.
"""

from __future__ import annotations

import re
from functools import lru_cache

from reports.parser.dates import NUMBER_DATE
from reports.parser.fields import (
    Fields,
    is_status,
    is_unit,
    split_value,
)
from reports.parser.lines import Line
from reports.parser.names import (
    find_specimen,
    has_letters,
    is_administrative,
    is_category,
    is_prose,
    starts_explanation,
)
from reports.parser.pages import Word
from reports.parser.ranges import (
    is_expected_finding,
    is_range_label,
    looks_like_range,
    parse_announced_range,
)
from reports.parser.values import is_flag, is_numeric_value, is_worded_value

_LEADING_MARK = re.compile(r"^(?:[*#†‡•▪●◦»>]+|\{\s*#\s*\}|\[[HL*]\])\s*")
_TRAILING_MARK = re.compile(r"[\s:…_*#]+$|\s*\.{2,}$")
_NAME_UNIT = re.compile(r"(?P<name>.*\w.*?)\s*[(\[](?P<unit>[^()\[\]]+)[)\]]")
_JOINING = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "is",
        "are",
        "was",
        "be",
        "to",
        "in",
        "and",
        "or",
        "with",
        "for",
        "by",
        "from",
        "at",
        "than",
        "as",
        "on",
        "that",
        "which",
        "has",
        "have",
        "may",
        "should",
        "must",
        "can",
        "about",
        "between",
        "above",
        "below",
        "under",
        "over",
        "carry",
        "carries",
        "within",
    ]
)
_HEADING_WORD = re.compile(
    r"(?i)\b(?:counts?|differential|profile|panel|tests?|examination|function"
    r"|indices|absolute"
    r"|studies|study|ratios?|markers?|vitamins?|hormones?|minerals?|lipids?"
    r"|electrolytes?"
    r"|physical|chemical|microscop\w+|h(?:a)?ematology|biochemistry|serology"
    r"|immunology|cytology"
    r"|coagulation|group|screen(?:ing)?|others?|diabetes|thyroid|liver|kidney"
    r"|renal|iron|cardiac"
    r"|leu[ck]ocytes?|comments?|notes?|calculated|remarks?|microbiology|urinalysis"
    r"|allergy|proteins|\w*blutbild|\w*status|\w*chemie|bioqu[ií]mica|biochimi[ea]"
    r"|h[eé]?matolog[ií][ae]|ematologia|hemograma|hemogramme|emocromo|esame|exame|urina"
    r"|formule|serolog[ií]a|perfil|bilan|gerinnung|schilddr[uü]se)\b"
)
_DATED_NAME = re.compile(rf"\s\(?{NUMBER_DATE.pattern}\W*$")
# A limit of which something is said: 'Ratio < 10 %'.
_LIMITED = re.compile(r"[<>≤≥]=?\s*\d[\d.,]*(?:\s*[^\s\d()\[\]]{1,8})?$")
# Limits of several things in one line: 'Risque faible : < 1,16 g/L Risque élevé'.
_LIMITS_OF = re.compile(r":\s*[<>≤≥]=?\s*\d")
# How a test was done, or in what, said under its name.
_NOTED = re.compile(
    r"(?i)\W*(?:m[eé]thod\w*|m[eé]todo\w*|techni\w+|sample|specimen|material|muestra)\s*:"
)
# Two sentences: a name may have dots, but behind words cut short.
_SENTENCES = re.compile(r"\b[^\W\d_]{4,}\.\s+[^\W\d_]+(?:\s+\S+){3}")
# 'Positive (24 mg/L)' tells its number, where a limit would have a sign.
_EXACT = re.compile(r"[-+]?[\d.,]+|[^\d<>]+(?:\([\d.,]+[^\d<>]*\))?")
_WRAP_END = re.compile(r"[-–(/,&+]$|\b(?:and|of|with|to|for|by|in)$", re.IGNORECASE)


def split_name_unit(name: str) -> tuple[str, str | None]:
    """Part a unit in brackets from the end of a name: 'Glucose (mmol/L)'."""
    match = _NAME_UNIT.fullmatch(name)
    if match is None or not is_unit(match["unit"]) or match["unit"].isalpha():
        return name, None
    return match["name"].strip(" ,"), match["unit"].strip()


def find_announced_range(line: Line) -> str | None:
    """The range on a line that says it gives one, by a colon or in a cell apart."""
    if len(line.cells) > 1 and is_range_label(line.cells[0].text):
        return " ".join(cell.text for cell in line.cells[1:])
    if len(line.cells) == 2 and is_status(line.cells[1].text):
        return parse_announced_range(line.cells[0].text)
    if len(line.cells) > 1:
        first = parse_announced_range(line.cells[0].text)
        rest = " ".join(cell.text for cell in line.cells[1:])
        whole = first and looks_like_range(first) and not looks_like_range(rest)
        if whole and not is_unit(rest):
            return first
    return parse_announced_range(line.text)


def clean_name(text: str) -> str:
    """A printed name without marks before it and leaders after it."""
    plain = text.strip()
    previous = None
    while plain != previous:
        previous = plain
        plain = _LEADING_MARK.sub("", plain)
        plain = _TRAILING_MARK.sub("", plain).strip()
    return plain


def is_heading(line: Line) -> bool:
    """A short line of words alone: a section or a panel, not a sentence."""
    text = line.text
    if len(line.cells) > 2 or len(line.words) > 9 or not has_letters(text):
        return False
    if ":" in text.rstrip(": ") and find_specimen(text) is None:
        return False
    plain = clean_name(text)
    if is_administrative(plain) or starts_explanation(text) or is_prose(text):
        return False
    if is_category(plain) or parse_announced_range(text) is not None:
        return False
    digits = sum(1 for sign in text if sign.isdigit())
    return digits <= 3


def has_heading_word(text: str) -> bool:
    """Whether a word stands in it by which panels are called: Profile, Counts."""
    return bool(_HEADING_WORD.search(text)) or find_specimen(text) is not None


def may_start_value(text: str) -> bool:
    """Whether a word may be the first of a value."""
    return bool(re.match(r"[<>≤≥(\[+-]*\s*\d|[<>≤≥]$", text)) or is_worded_value(text)


@lru_cache(maxsize=8192)
def may_name_a_test(name: str) -> bool:
    """Refuse what is surely no name: header lines, categories, flags."""
    if is_status(name):
        return False
    if not has_letters(name) or len(name) > 90:
        return False
    if is_administrative(name) or is_category(name):
        return False
    if name[:1].isdigit() and _is_measurement(name):
        return False
    if _DATED_NAME.search(name):
        # What a test gave on another day: 'Antériorité du 12/09/23'.
        return False
    head, colon, _ = name.partition(":")
    if colon and (_NOTED.match(name) or is_category(head)):
        return False
    if _LIMITED.search(name) or _LIMITS_OF.search(name):
        return False
    if ". " in name and _SENTENCES.search(name):
        return False
    if "; " in name and sum(map(str.isdigit, name)) > 3:
        return False
    return not (is_expected_finding(name) or is_flag(name)) or len(name) <= 2


def _is_measurement(text: str) -> bool:
    value, unit, _, spread = split_value(text)
    return unit is not None and spread is None and is_numeric_value(value)


def is_sentence_part(name: str) -> bool:
    """Words of a sentence rather than a name."""
    words = name.split()
    if is_prose(name) or (len(words) > 1 and words[-1].lower() in _JOINING):
        return True
    lower = sum(1 for word in words[1:] if word.isalpha() and word.islower())
    return len(words) >= 5 and lower >= 0.7 * (len(words) - 1)


def is_lower_case(name: str) -> bool:
    """Whether the first word is an ordinary one, as inside a sentence."""
    first = name.split()[0].rstrip(",;")
    return first.isalpha() and first.islower() and len(first) > 2


def is_leader(text: str) -> bool:
    """Dots that lead the eye from a name to its value."""
    return len(text) > 3 and not text.strip(".…_")


def is_incomplete_name(name: str) -> bool:
    """Whether a name plainly goes on: an open bracket, a hyphen, a joining word."""
    return name.count("(") > name.count(")") or bool(_WRAP_END.search(name))


def is_part_of_name(text: str) -> bool:
    """One or two capitalised words that are no heading, specimen or category."""
    words = text.split()
    plain = len(words) <= 2 and text.upper() != text and ":" not in text
    if not plain or is_category(text):
        return False
    return not has_heading_word(text) and not is_administrative(text)


def is_exact(value: str) -> bool:
    """A value that no explanation table would hold: no span and no comparator."""
    return bool(_EXACT.fullmatch(value.strip()))


def is_band(name: str, fields: Fields) -> bool:
    """Whether a limit is said to mean something: '< 10 %: probable', 'low: < 10 %
    high: > 30 %'. name: as printed.
    """
    if fields.value[:1] not in "<>≤≥":
        return False
    words = (*fields.value_words, *fields.units_words)
    several = name.endswith(":") and _LIMITS_OF.search(fields.range or "")
    return words[-1].text.endswith(":") or bool(several)


def strip_raised_mark(words: list[Word]) -> list[Word]:
    """A name without a small raised mark after it, such as a laboratory's number."""
    while len(words) > 1 and _is_raised(words[-1], words[0]):
        words = words[:-1]
    return words


def _is_raised(mark: Word, word: Word) -> bool:
    higher = mark.middle < word.middle - 0.1 * word.size
    return mark.size < (0.9 if higher else 0.76) * word.size


def split_name_flag(words: list[Word]) -> tuple[list[Word], str | None]:
    """Part a mark printed before or after the name."""
    if len(words) > 1 and re.fullmatch(r"[*#↑↓▲▼^]+|\[[HLA]\]|[HLv]", words[0].text):
        return words[1:], words[0].text.strip("[]")
    if len(words) > 1 and re.fullmatch(r"[*#↑↓▲▼]+|\([HL]\)|\[[HL]\]", words[-1].text):
        return words[:-1], words[-1].text.strip("()[]")
    if (
        len(words) > 1
        and is_flag(words[-1].text)
        and words[-1].x0 - words[-2].x1 > 1.5 * words[-1].size
    ):
        return words[:-1], words[-1].text
    match = re.match(r"([*#]+)\w", words[0].text)
    return words, match[1] if match else None


def join_wrapped(first: str, second: str) -> str:
    """The two parts of a name printed over two lines."""
    return f"{first} {second}"
