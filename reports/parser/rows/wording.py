"""What the words at a place of a row say by themselves: is it a name, does it go on,
is it a heading. No position is judged here.
"""

from __future__ import annotations

import re
from functools import lru_cache

from reports.parser.layout.lines import Line
from reports.parser.pages import Word
from reports.parser.text.dates import NUMBER_DATE
from reports.parser.text.fields import (
    Fields,
    is_range_status_text,
    is_unit,
    split_value_cell,
)
from reports.parser.text.not_names import (
    find_specimen_in_text,
    has_letters,
    is_administrative_line,
    is_category_label,
    is_prose,
    starts_explanation_section,
)
from reports.parser.text.ranges import (
    is_range_in_words,
    is_range_label,
    looks_like_range,
    parse_labeled_range,
)
from reports.parser.text.values import (
    is_numeric_value,
    is_out_of_range_flag,
    is_worded_value,
)
from reports.parser.word_lists import read_patterns, read_word_lists

_LEADING_MARK = re.compile(
    r"^(?:[*#†‡•▪●◦»>]+|[-–—](?=\s+[^\W\d])|\{\s*#\s*\}|\[[HL*]\])\s*"
)
_TRAILING_MARK = re.compile(r"[\s:…_*#]+$|\s*\.{2,}$|(?<=[^\W\d]|[)\]])\s+[-–—|=]+$")
_JOINING = frozenset(read_word_lists("words.txt")["sentence ends"])
_HEADING_WORD = re.compile(
    rf"(?i)\b(?:{'|'.join(read_patterns('heading_words.txt'))})\b"
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
# 'An eGFR below 60 means ...'
_OPENS_SENTENCE = re.compile(r"(?i)(?:an|the|this|these|your|if|when|please)\s+\S+\s")
# 'Positive (24 mg/L)' tells its number, where a limit would have a sign.
_EXACT = re.compile(r"[-+]?[\d.,]+|[^\d<>]+(?:\([\d.,]+[^\d<>]*\))?")
_STARTS_VALUE = re.compile(r"[<>≤≥(\[+*#-]*\s*\d|[<>≤≥]$")
_FLAG_BEFORE = re.compile(r"[*#↑↓▲▼^]+|\[[HLA]\]|[HLv]")
_FLAG_BEHIND = re.compile(r"[*#↑↓▲▼]+|\([HL]\)|\[[HL]\]")
_FLAG_GLUED = re.compile(r"([*#]+)\w")
_WRAP_END = re.compile(r"[-–(/,&+]$|\b(?:and|of|with|to|for|by|in)$", re.IGNORECASE)


def find_labeled_range(line: Line) -> str | None:
    """Return the range on a line labeled as one, by a colon or in a cell apart."""
    if len(line.cells) > 1 and is_range_label(line.cells[0].text):
        return " ".join(cell.text for cell in line.cells[1:])
    if len(line.cells) == 2 and is_range_status_text(line.cells[1].text):
        return parse_labeled_range(line.cells[0].text)
    if len(line.cells) > 1:
        first = parse_labeled_range(line.cells[0].text)
        rest = " ".join(cell.text for cell in line.cells[1:])
        whole = first and looks_like_range(first) and not looks_like_range(rest)
        if whole and not is_unit(rest):
            return first
    return parse_labeled_range(line.text)


def clean_printed_name(text: str) -> str:
    """Return a name without the marks before it and the dots after it."""
    plain = text.strip()
    if plain[:1].isalnum() and (plain[-1].isalnum() or plain[-1] in ")%"):
        return plain
    previous = None
    while plain != previous:
        previous = plain
        plain = _LEADING_MARK.sub("", plain)
        plain = _TRAILING_MARK.sub("", plain).strip()
    return plain


def is_section_heading(line: Line) -> bool:
    """Return whether a line is a short heading of words: a section or a panel."""
    text = line.text
    if len(line.cells) > 2 or len(line.words) > 9 or not has_letters(text):
        return False
    if ":" in text.rstrip(": ") and find_specimen_in_text(text) is None:
        return False
    plain = clean_printed_name(text)
    if (
        is_administrative_line(plain)
        or starts_explanation_section(text)
        or is_prose(text)
    ):
        return False
    if is_category_label(plain) or parse_labeled_range(text) is not None:
        return False
    digits = sum(1 for sign in text if sign.isdigit())
    return digits <= 3


def has_panel_heading_word(text: str) -> bool:
    """Return whether a text has a word that panels are named by: Profile, Counts."""
    return bool(_HEADING_WORD.search(text)) or find_specimen_in_text(text) is not None


def may_start_value(text: str) -> bool:
    """Return whether a word may be the first of a value."""
    return bool(_STARTS_VALUE.match(text)) or is_worded_value(text)


@lru_cache(maxsize=8192)
def may_name_a_test(name: str) -> bool:
    """Return whether a text may be a test's name, not a header, category or flag."""
    if is_range_status_text(name):
        return False
    if not has_letters(name) or len(name) > 90:
        return False
    if is_administrative_line(name) or is_category_label(name):
        return False
    if name[:1].isdigit() and _is_measurement(name):
        return False
    if _DATED_NAME.search(name):
        # What a test gave on another day: 'Antériorité du 12/09/23'.
        return False
    head, colon, _ = name.partition(":")
    if colon and (_NOTED.match(name) or is_category_label(head)):
        return False
    if _LIMITED.search(name) or _LIMITS_OF.search(name):
        return False
    if (". " in name and _SENTENCES.search(name)) or _OPENS_SENTENCE.match(name):
        return False
    if "; " in name and sum(map(str.isdigit, name)) > 3:
        return False
    return not (is_range_in_words(name) or is_out_of_range_flag(name)) or len(name) <= 2


def _is_measurement(text: str) -> bool:
    value, unit, _, spread = split_value_cell(text)
    return unit is not None and spread is None and is_numeric_value(value)


def is_sentence_part(name: str) -> bool:
    """Return whether words are of a sentence rather than a name."""
    words = name.split()
    if is_prose(name) or (len(words) > 1 and words[-1].lower() in _JOINING):
        return True
    lower = sum(1 for word in words[1:] if word.isalpha() and word.islower())
    return len(words) >= 5 and lower >= 0.7 * (len(words) - 1)


def starts_with_lower_case_word(name: str) -> bool:
    """Return whether the first word is in lower case, as inside a sentence."""
    first = name.split()[0].rstrip(",;")
    return first.isalpha() and first.islower() and len(first) > 2


def is_dot_leader(text: str) -> bool:
    """Return whether a text is the dots between a name and its value."""
    return len(text) > 3 and not text.strip(".…_")


def is_incomplete_name(name: str) -> bool:
    """Return whether a name is cut off: an open bracket, a hyphen, a joining word."""
    return name.count("(") > name.count(")") or bool(_WRAP_END.search(name))


def may_be_part_of_test_name(text: str) -> bool:
    """Return whether one or two capitalized words may be part of a test's name."""
    words = text.split()
    plain = len(words) <= 2 and text.upper() != text and ":" not in text
    if not plain or is_category_label(text):
        return False
    return not has_panel_heading_word(text) and not is_administrative_line(text)


def is_exact_value(value: str) -> bool:
    """Return whether a value is exact: no span and no comparator."""
    return bool(_EXACT.fullmatch(value.strip()))


def is_explained_limit(name: str, fields: Fields) -> bool:
    """Return whether a limit has a stated meaning: '< 10 %: probable'."""
    if fields.value[:1] not in "<>≤≥":
        return False
    words = (*fields.value_words, *fields.units_words)
    several = name.endswith(":") and _LIMITS_OF.search(fields.range or "")
    return words[-1].text.endswith(":") or bool(several)


def strip_superscript_from_name(words: list[Word]) -> list[Word]:
    """Return a name without a small raised mark after it, such as a lab's number."""
    while len(words) > 1 and _is_raised(words[-1], words[0]):
        words = words[:-1]
    return words


def _is_raised(mark: Word, word: Word) -> bool:
    higher = mark.middle < word.middle - 0.1 * word.size
    return mark.size < (0.9 if higher else 0.76) * word.size


def split_name_and_flag(words: list[Word]) -> tuple[list[Word], str | None]:
    """Split a flag printed before or after the name from it."""
    if len(words) > 1 and _FLAG_BEFORE.fullmatch(words[0].text):
        return words[1:], words[0].text.strip("[]")
    if len(words) > 1 and _FLAG_BEHIND.fullmatch(words[-1].text):
        return words[:-1], words[-1].text.strip("()[]")
    if (
        len(words) > 1
        and is_out_of_range_flag(words[-1].text)
        and words[-1].x0 - words[-2].x1 > 1.5 * words[-1].size
    ):
        return words[:-1], words[-1].text
    match = _FLAG_GLUED.match(words[0].text)
    return words, match[1] if match else None
