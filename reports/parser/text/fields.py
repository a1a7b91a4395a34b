"""Splits the text of a row into value, flag, unit and range.

Reads the text of cells whose columns are known, and of cells whose columns are not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from portal.lib.units import looks_like_unit
from reports.parser.pages import Word
from reports.parser.text.ranges import (
    UNIT_BETWEEN,
    is_plain_numeric_range,
    is_range_in_words,
    looks_like_range,
    strip_range_label,
)
from reports.parser.text.values import (
    COMPARATOR,
    NUMBER,
    is_not_reported,
    is_numeric_value,
    is_out_of_range_flag,
    is_result_value,
    is_worded_value,
    split_value_and_flag,
)

_GROUPED = r"\d{1,3}(?: \d{3})+(?!\d|\s*[-–]\s*\d)"
_LEADING_NUMBER = re.compile(
    rf"(?P<value>{_GROUPED}|(?:{COMPARATOR}\s*)?[-+−]?{NUMBER}(?:\s*[-–]\s*{NUMBER})?)\s*(?P<rest>\S.*)"
)
_SPOKEN_NUMBER = re.compile(rf"(?P<value>[^\d<>]{{4,20}}{NUMBER})\s+(?P<rest>\S.*)")
_BRACKETED_TAIL = re.compile(r"(?P<head>.*?)\s*(?P<tail>[(\[][^()\[\]]*[)\]]?)$")
_RANGE_THEN_UNIT = re.compile(
    rf"(?:(?:{NUMBER}{UNIT_BETWEEN}\s*(?:-|–|—|−|to|a|à|bis)|{COMPARATOR}|=|\b(?:below|above"
    r"|under|over|up\s*to|upto|than|bis|unter|über|hasta|até|max\.?|min\.?))"
    rf"\s*{NUMBER}|^nil|^negative)\s*[)\]]?",
    re.IGNORECASE,
)
_PERCENT = re.compile(rf"((?:{COMPARATOR}\s*)?{NUMBER})\s*%")
_NOTED_UNIT = re.compile(
    r"mill(?:ion)?s?|min(?:ute)?s|(?:\S+\s+)?\(calc\.?(?:ulated)?\)|/\s*10+\s*[A-Za-z]+|[xX×]?\s*10\s*\^?\s*/\s*\S+"
    r"|/\s*[hl]\.?p\.?f\.?|[xX×]\s*E\s*\d{1,2}\s*/\s*\S+"
    r"|mm\s*\(?(?:(?:at|in|after)\s+)?(?:the\s+)?(?:end\s+of\s+)?(?:the\s+)?"
    r"(?:1|1st|first|one)\s+h(?:ou)?rs?\.?\)?",
    re.IGNORECASE,
)
_WORDED_THEN_UNIT = re.compile(
    r"(?i)(?P<value>nil|absent|few|occasional|rare)\s+(?P<unit>/\s?\S+)"
)


_DIGITS_FIRST = re.compile(r"[(\[<>≤≥]*\s*\d")
_WORDED_THEN_MARK = re.compile(r"(?P<value>[^\W\d][^\d*#]+?)\s*(?P<mark>[*#]{1,3})")

# Signs alone, apart from a number: its laboratory's mark for one out of range.
_LEVEL = (
    r"high|low|alto|bajo|baixo|hoch|niedrig|[ée]lev[ée]|bas|basso|y[üu]ksek"
    r"|d[üu][şs][üu]k"
)
_NUMERIC = re.compile(NUMBER)
_STATUS = re.compile(
    r"(?i)(?:normal|abnormal|high|low|borderline(?: high| low)?"
    r"|(?:inom|innanför|utanför) referensintervall(?:et)?"
    r"|normaal|verhoogd|verlaagd|erhöht|erniedrigt"
    r"|(?:(?:below|above|near|not|sub)[ -]?)?optimal"
    r"|(?:in|within|out of|outside|above|below)"
    r"(?: (?:the )?(?:normal|reference|standard))? (?:range|limits)"
    r"(?:\s*[-–—:,]?\s*\(?(?:high|low)\)?)?)"
)
_WITH_STATUS = re.compile(
    rf"\s+(?:[-–—,;]\s+)?(?P<status>{_STATUS.pattern[4:]})$", re.IGNORECASE
)
_STATUS_FIRST = re.compile(
    rf"(?P<status>{_STATUS.pattern[4:]})\s+(?P<rest>\d.*)", re.IGNORECASE
)
_MARK = re.compile(r"<<+|>>+|\+\++|--+|[*#!^°«»↑↓▲▼⬆⬇↗↘●■◆⚠]+")
_REMARKED = re.compile(
    r"(?i)([(\[].*\d[)\]])\s+[-–—]\s*(?=.*\b(?:(?:ab)?normal|above|below|outside|within)\b)"
    r"\D{6,40}"
)
_MARK_GLUED = re.compile(r"[*#]{1,3}(?=\d)")
_MARKED_AFTER = re.compile(rf"(?P<head>.*\d\S*)\s+(?P<mark>{_MARK.pattern})")
_MARK_BETWEEN = re.compile(
    r"(?P<mark>[*#!])\s+(?=\S)|\(?(?P<sign>\+{1,3}|-{2,3})\)?\s+(?=[^\W\d]|[/%])"
)
_WITH_EARLIER = re.compile(
    rf"(?P<value>(?:{COMPARATOR}\s*)?{NUMBER})\s+[(\[]{NUMBER}[)\]]"
    rf"(?:\s+(?P<mark>{_MARK.pattern}))?"
)
_COMPARED = re.compile(rf"{COMPARATOR}?\s*\d")
_FLAG_GLUED = re.compile(r"(\S+?)\s*([(\[][HLA*]+[)\]])")
# Of the form of a unit, though none of those known.
_STRANGE_UNIT = re.compile(r"[^\W\d_]{1,8}/[^\W\d_]{1,4}")


# Value, unit, flag and range of one cell.
Split = tuple[str, str | None, str | None, str | None]


@dataclass(frozen=True, slots=True)
class Fields:
    """The texts of a row, as printed; the words each was read from."""

    value: str = ""
    units: str | None = None
    range: str | None = None
    flag: str | None = None
    method: str | None = None
    value_words: tuple[Word, ...] = ()
    units_words: tuple[Word, ...] = ()
    range_words: tuple[Word, ...] = ()


def join_word_texts(words: list[Word] | tuple[Word, ...]) -> str:
    """Return the texts of the words, joined by blanks."""
    return " ".join([word[0] for word in words])


def strip_footnote_mark(words: Sequence[Word]) -> list[Word]:
    """Return a value without the raised mark of a footnote after it."""
    for n, (word, mark) in enumerate(pairwise(words), start=1):
        raised = mark.size < 0.8 * word.size and mark.middle < word.middle
        near = mark.x0 - word.x1 < 0.3 * word.size
        if raised and near and len(mark.text) <= 2 and is_numeric_value(word.text):
            return [*words[:n], *words[n + 1 :]]
    return list(words)


def find_words_with_text(words: Sequence[Word], text: str | None) -> tuple[Word, ...]:
    """Return the fewest adjacent words with a text; all of them if none match."""
    wanted = (text or "").replace(" ", "")
    if not wanted:
        return ()
    for length in range(1, len(words)):
        for n in range(len(words) - length + 1):
            if wanted in "".join(word.text for word in words[n : n + length]):
                return tuple(words[n : n + length])
    return tuple(words)


@lru_cache(maxsize=8192)
def split_value_cell(text: str) -> Split:
    """Split value, unit, flag and range of one cell: '13.5 g/dL H (13.0 - 17.0)'."""
    for rule in (_split_mark, _split_status, _split_worded):
        if found := rule(text):
            return found
    value, flag = split_value_and_flag(text)
    if found := _split_bare(value, flag, None):
        return found
    if is_not_reported(value):
        return value, None, flag, None
    if match := _WORDED_THEN_UNIT.fullmatch(value):
        return match["value"], match["unit"], flag, None
    head, spread = value, None
    match = _BRACKETED_TAIL.fullmatch(value)
    if match and looks_like_range(match["tail"]):
        head, spread = match["head"], strip_range_label(match["tail"])
        head, flag = split_value_and_flag(head) if flag is None else (head, flag)
        if found := _split_bare(head, flag, spread):
            return found
    match = _LEADING_NUMBER.fullmatch(head)
    if match is None and (spoken := _SPOKEN_NUMBER.fullmatch(head)):
        match = spoken if is_numeric_value(spoken["value"]) else None
    if match is None:
        return value, None, flag, None
    number, rest = match["value"].strip(), match["rest"].strip()
    if marked := _MARK_BETWEEN.match(rest):
        flag, rest = flag or marked["mark"] or marked["sign"], rest[marked.end() :]
    rest = re.sub(r"^[-+–]\s+", "", rest)
    return (
        _split_behind_number(number, rest, flag, spread)
        or _split_noted(rest, number, flag)
        or (value, None, flag, spread)
    )


def _split_noted(rest: str, number: str, flag: str | None) -> Split | None:
    """'92 mg/dL (fasting)': a unit, and in brackets what is said of the sample."""
    match = _BRACKETED_TAIL.fullmatch(rest)
    if match and match["tail"][1:-1].isalpha() and is_unit(match["head"]):
        return number, match["head"], flag, None
    return None


def _split_mark(text: str) -> Split | None:
    """'28 *', '**28' and 'H 28': a mark before or after, and the cell without it."""
    if match := _MARKED_AFTER.fullmatch(text):
        value, units, _, spread = split_value_cell(match["head"])
        if is_numeric_value(value):
            return value, units, match["mark"], spread
    if match := _MARK_GLUED.match(text):
        value, units, _, spread = split_value_cell(text[match.end() :])
        return value, units, match[0], spread
    return None


def _split_status(text: str) -> Split | None:
    """'5.4 mmol/L Above range' and 'Normal 28.4': words that judge the number."""
    match = _WITH_STATUS.search(text)
    if match and not is_out_of_range_flag(match["status"]):
        head = text[: match.start()]
        value, units, flag, spread = split_value_cell(head)
        if (units or value == head) and is_numeric_value(value):
            return value, units, flag, spread
    if match := _STATUS_FIRST.fullmatch(text):
        value, units, flag, spread = split_value_cell(match["rest"])
        whole = units or value == match["rest"]
        if whole and _NUMERIC.fullmatch(value) and not spread:
            return value, units, flag or match["status"], None
    return None


def _split_worded(text: str) -> Split | None:
    """'5.4 (4.8) *' has an earlier result; '* Reactive' and 'H 9.1' a mark in front."""
    if match := _WITH_EARLIER.fullmatch(text):
        return match["value"], None, match["mark"], None
    mark, _, rest = text.partition(" ")
    if mark.strip("*#»>↑↓") == "" and is_worded_value(rest):
        return rest, None, mark, None
    if (is_out_of_range_flag(mark) or _MARK.fullmatch(mark)) and _COMPARED.match(rest):
        value, units, _, spread = split_value_cell(rest)
        return value, units, mark.strip("()[] "), spread
    return None


def _split_bare(value: str, flag: str | None, spread: str | None) -> Split | None:
    """A value with nothing beside it but a mark or a percent sign."""
    match = _WORDED_THEN_MARK.fullmatch(value)
    if match and is_worded_value(match["value"]):
        return match["value"], None, match["mark"], spread
    if match := _PERCENT.fullmatch(value):
        return match[1], "%", flag, spread
    return (value, None, flag, spread) if is_result_value(value) else None


def _split_behind_number(
    number: str, rest: str, flag: str | None, spread: str | None
) -> Split | None:
    """What stands behind a number: its unit, then a flag or range, or these alone."""
    first, _, after = rest.partition(" ")
    if after and is_out_of_range_flag(first):
        mark = first.strip("()[] ")
        if found := _split_behind_number(number, after, mark, spread):
            return found
    words = rest.split()
    for cut in range(len(words), 0, -1):
        unit, after = " ".join(words[:cut]), " ".join(words[cut:])
        glued = flag
        if glued is None and (m := _FLAG_GLUED.fullmatch(unit)):
            unit, glued = m[1], m[2].strip("()[]")
        if not is_unit(unit) or is_out_of_range_flag(unit):
            continue
        if not after:
            return number, unit, glued, spread
        if is_out_of_range_flag(after):
            return number, unit, after.strip("()[] "), spread
        if looks_like_range(after) and spread is None:
            inside, late = split_range_and_flag(strip_range_label(after))
            return number, unit, glued or late, inside
    if has_form_of_unit(rest):
        return number, rest, flag, spread
    if looks_like_range(rest) and (
        is_plain_numeric_range(rest)
        or (_DIGITS_FIRST.match(rest) and find_unit_in_range(rest))
    ):
        return number, None, flag, rest
    return None


@lru_cache(maxsize=8192)
def is_laboratory_mark(text: str) -> bool:
    """Return whether a text is only a lab's mark, in letters or in signs."""
    return is_out_of_range_flag(text) or bool(_MARK.fullmatch(text.strip()))


@lru_cache(maxsize=8192)
def is_range_status_text(text: str) -> bool:
    """Return whether a text says in words how a value compares to its range."""
    return bool(_STATUS.fullmatch(text.strip()))


@lru_cache(maxsize=8192)
def is_unit(text: str) -> bool:
    """Return whether a text is a unit, or a note that some labs print in its place."""
    return looks_like_unit(text) or bool(_NOTED_UNIT.fullmatch(text.strip()))


def strip_status_words_from_name(text: str) -> str:
    """Return a name without trailing words that judge the value."""
    match = _WITH_STATUS.search(text)
    return text[: match.start()] if match and " " in match["status"] else text


@lru_cache(maxsize=8192)
def find_unit_in_range(text: str) -> str | None:
    """Return the unit after the numbers or words of a range: '13.0 - 17.0 g/dL'."""
    plain = text.strip()
    for n, match in enumerate(_RANGE_THEN_UNIT.finditer(plain)):
        unit = plain[match.end() :].strip()
        for opening, closing in ("()", "[]"):
            if unit.count(closing) > unit.count(opening):
                unit = unit.rstrip(closing)
        # Behind the last of several ranges a mere word may be of that one alone.
        if unit and is_unit(unit) and not (n and unit.isalpha()):
            return unit
    finding, _, unit = plain.rpartition(" ")
    per_field = unit.startswith("/") and is_unit(unit)
    return unit if per_field and is_range_in_words(finding) else None


def has_form_of_unit(text: str) -> bool:
    """Return whether a text has the form of a unit, though none of those known."""
    return bool(_STRANGE_UNIT.fullmatch(text))


def split_flag_from_unit(
    words: tuple[Word, ...],
) -> tuple[str | None, tuple[Word, ...]]:
    """Split a mark that stands before or after a unit from the words of the unit."""
    for mark, rest in ((words[0], words[1:]), (words[-1], words[:-1])):
        signed = is_laboratory_mark(mark.text) or mark.text in ("+", "-", "–")
        if signed and is_unit(join_word_texts(rest)):
            sign = mark.text.strip("()[]* ") or mark.text
            return sign.replace("–", "-"), rest
    return None, words


def split_range_and_flag(text: str) -> tuple[str, str | None]:
    """Split '70 - 99 (H)' and 'High (70 - 99)' into the range and its flag."""
    if match := re.fullmatch(r"(?i)(high|low|h|l|\*+)\s*([(\[].*\d.*[)\]])", text):
        return match[2], match[1]
    mark, _, rest = text.partition(" ")
    if mark.strip("*#!↑↓▲▼") in ("", "H", "L") and is_plain_numeric_range(rest):
        return rest, mark
    if match := re.fullmatch(rf"(?i)(.*\d[)\]]?)\s+(?:[-–—]\s*)?({_LEVEL})", text):
        return match[1], match[2]
    if match := _REMARKED.fullmatch(text):
        return match[1], None
    if match := re.fullmatch(rf"([(\[][^()\[\]]*[)\]])\s+{NUMBER}", text):
        # An earlier result, in a column that stands close.
        text = match[1]
    match = re.fullmatch(
        r"(.*\d[)\]]?)\s*([(\[]\s*[HLA*]{1,2}\s*[)\]]|[▲▼↑↓*#]+)", text
    )
    return (match[1], match[2].strip("()[] ")) if match else (text, None)
