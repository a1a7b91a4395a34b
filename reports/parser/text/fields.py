"""Splits the text of a row into value, flag, unit and range.

Reads the text of cells whose columns are known, and of cells whose columns are not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from portal.lib.units import looks_like_unit
from reports.parser.pages import Word
from reports.parser.text.ranges import (
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

_GROUPED = r"\d{1,3}(?: \d{3})+(?!\d)"
_LEADING_NUMBER = re.compile(
    rf"(?P<value>{_GROUPED}|(?:{COMPARATOR}\s*)?[-+−]?{NUMBER}(?:\s*[-–]\s*{NUMBER})?)\s*(?P<rest>\S.*)"
)
_SPOKEN_NUMBER = re.compile(rf"(?P<value>[^\d<>]{{4,20}}{NUMBER})\s+(?P<rest>\S.*)")
_BRACKETED_TAIL = re.compile(r"(?P<head>.*?)\s*(?P<tail>[(\[][^()\[\]]*[)\]]?)$")
_RANGE_THEN_UNIT = re.compile(
    rf"(?:(?:{NUMBER}\s*(?:%|[^\W\d_]+/[^\W\d_]+)?\s*(?:-|–|—|−|to|a|à|bis)|{COMPARATOR}|=|\b(?:below|above"
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
_TWICE = re.compile(
    rf"(?P<first>{NUMBER}\s*\S+)\s*(?:\(|/(?=\s)|soit|resp\.)\s*(?P<second>{NUMBER})\s*(?P<unit>[^\d\s()]\S*?)\s*\)?"
)
# Within which blood cells sink, of the unit '12 mm (1 hr)'.
_HOUR = re.compile(r"(?i)1 h(?:(?:ou)?rs?)?\.?")
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
_SPAN = re.compile(rf"{NUMBER}\s*[-–—]\s*{NUMBER}")
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
_LABELLED = re.compile(r"(?i)(?:normal|ref(?:erence)?|expected)\s*[:=]\s*")
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
# Of the form of a unit, though none of those known.
_STRANGE_UNIT = re.compile(r"[^\W\d_]{1,8}/[^\W\d_]{1,4}")


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
def split_value_cell(text: str) -> tuple[str, str | None, str | None, str | None]:
    """Split value, unit, flag and range of one cell: '13.5 g/dL H (13.0 - 17.0)'."""
    if match := _MARKED_AFTER.fullmatch(text):
        value, units, _, spread = split_value_cell(match["head"])
        if is_numeric_value(value):
            return value, units, match["mark"], spread
    if before := _MARK_GLUED.match(text):
        value, units, _, spread = split_value_cell(text[before.end() :])
        return value, units, before[0], spread
    if (match := _WITH_STATUS.search(text)) and not is_out_of_range_flag(
        match["status"]
    ):
        value, units, flag, spread = split_value_cell(text[: match.start()])
        if units and is_numeric_value(value):
            return value, units, flag, spread
    if match := _STATUS_FIRST.fullmatch(text):
        value, units, flag, spread = split_value_cell(match["rest"])
        whole = units or value == match["rest"]
        if whole and _NUMERIC.fullmatch(value) and not spread:
            return value, units, flag or match["status"], None
    if match := _WITH_EARLIER.fullmatch(text):
        # The number in brackets is an earlier result.
        return match["value"], None, match["mark"], None
    mark, _, rest = text.partition(" ")
    if mark.strip("*#»>↑↓") == "" and is_worded_value(rest):
        return rest, None, mark, None
    if (is_out_of_range_flag(mark) or _MARK.fullmatch(mark)) and _COMPARED.match(rest):
        value, units, _, spread = split_value_cell(rest)
        return value, units, mark.strip("()[] "), spread
    value, flag = split_value_and_flag(text)
    match = _WORDED_THEN_MARK.fullmatch(value)
    if match and is_worded_value(match["value"]):
        return match["value"], None, match["mark"], None
    if match := _PERCENT.fullmatch(value):
        return match[1], "%", flag, None
    if is_result_value(value) or is_not_reported(value):
        return value, None, flag, None
    found_range = None
    head = value
    if match := _WORDED_THEN_UNIT.fullmatch(head):
        return match["value"], match["unit"], flag, None
    if (match := _BRACKETED_TAIL.fullmatch(head)) and looks_like_range(match["tail"]):
        head, found_range = match["head"], strip_range_label(match["tail"])
        head, flag = split_value_and_flag(head) if flag is None else (head, flag)
        if match := _PERCENT.fullmatch(head):
            return match[1], "%", flag, found_range
        if is_result_value(head):
            return head, None, flag, found_range
    match = _LEADING_NUMBER.fullmatch(head)
    if match is None and (spoken := _SPOKEN_NUMBER.fullmatch(head)):
        match = spoken if is_numeric_value(spoken["value"]) else None
    if match is None:
        return value, None, flag, None
    number, rest = match["value"].strip(), match["rest"].strip()
    if marked := _MARK_BETWEEN.match(rest):
        flag, rest = flag or marked["mark"] or marked["sign"], rest[marked.end() :]
    rest = re.sub(r"^[-+–]\s+", "", rest)
    for cut in range(len(rest.split()), 0, -1):
        words = rest.split()
        unit, after = " ".join(words[:cut]), " ".join(words[cut:])
        glued = flag
        if glued is None and (m := re.fullmatch(r"(\S+?)\s*([(\[][HLA*]+[)\]])", unit)):
            unit, glued = m[1], m[2].strip("()[]")
        if not is_unit(unit) or is_out_of_range_flag(unit):
            continue
        if not after:
            return number, unit, glued, found_range
        if is_out_of_range_flag(after):
            return number, unit, after.strip("()[] "), found_range
        if looks_like_range(after) and found_range is None:
            spread, late = split_range_and_flag(after)
            return number, unit, glued or late, spread
    if _STRANGE_UNIT.fullmatch(rest):
        return number, rest, flag, found_range
    first, _, after = rest.partition(" ")
    if is_out_of_range_flag(first) and after:
        if is_unit(after):
            return number, after, first.strip("()[] "), found_range
        if looks_like_range(after):
            return number, None, first.strip("()[] "), after
    if looks_like_range(rest) and (
        is_plain_numeric_range(rest)
        or (_DIGITS_FIRST.match(rest) and find_unit_in_range(rest))
    ):
        return number, None, flag, rest
    return value, None, flag, found_range


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
        if unit.count(")") > unit.count("("):
            unit = unit.rstrip(")")
        # Behind the last of several ranges a mere word may be of that one alone.
        if unit and is_unit(unit) and not (n and unit.isalpha()):
            return unit
    finding, _, unit = plain.rpartition(" ")
    per_field = unit.startswith("/") and is_unit(unit)
    return unit if per_field and is_range_in_words(finding) else None


def split_value_in_two_units(text: str) -> tuple[str, str, str] | None:
    """Split a value given in two units, '5.9 % (41 mmol/mol)'."""
    match = _TWICE.fullmatch(text.strip())
    if match is None or _HOUR.fullmatch(f"{match['second']} {match['unit']}"):
        return None
    if not is_unit(match["unit"]) and not _STRANGE_UNIT.fullmatch(match["unit"]):
        return None
    return match["first"].strip(), match["second"], match["unit"].strip()


def classify_value_cells(cells: list[list[Word]]) -> Fields | None:
    """Classify the cells right of a name by form; None if none is a value.

    The first cell that reads as a value is the value, a later one of that form a
    range or a number that is not wanted.
    """
    found = Fields()
    texts = [join_word_texts(cell) for cell in cells[:2]]
    if len(texts) > 1 and _STATUS.fullmatch(texts[0]):
        cells = (
            cells[1:] if _NUMERIC.fullmatch(split_value_cell(texts[1])[0]) else cells
        )
    for n, cell in enumerate(cells):
        words = tuple(cell)
        text = join_word_texts(words)
        if (
            not found.value
            and not found.range
            and _is_span_before(text, cells[n + 1 :])
        ):
            found = replace(found, range=text, range_words=words)
            continue
        if not found.value:
            if is_out_of_range_flag(text) and not text[:1].isdigit():
                found = replace(found, flag=text.strip("()[] "))
                continue
            value, unit, flag, spread = split_value_cell(text)
            if is_not_reported(value):
                return None
            if not is_result_value(value):
                return None
            found = replace(
                found,
                value=value,
                value_words=find_words_with_text(words, value),
                units=unit,
                units_words=find_words_with_text(words, unit),
                range=spread or found.range,
                range_words=find_words_with_text(words, spread) or found.range_words,
                flag=flag or found.flag,
            )
            continue
        found = _take(found, text, words)
    if found.range and not found.units and is_numeric_value(found.value):
        inside = find_unit_in_range(found.range)
        if inside is not None:
            words = find_words_with_text(found.range_words, inside)
            found = replace(found, units=inside, units_words=words)
    return found if found.value else None


def _is_span_before(text: str, after: list[list[Word]]) -> bool:
    """Return whether a cell is the range of the number after it."""
    if not _SPAN.fullmatch(text):
        return False
    return any(
        _NUMERIC.fullmatch(split_value_cell(join_word_texts(cell))[0]) for cell in after
    )


def _take(found: Fields, text: str, words: tuple[Word, ...]) -> Fields:
    if (
        found.range is None
        and _STATUS.fullmatch(text)
        and is_numeric_value(found.value)
    ):
        return found
    if found.flag is None and is_out_of_range_flag(text):
        return replace(found, flag=text.strip("()[] "))
    if found.units is None and not is_plain_numeric_range(text) and is_unit(text):
        return replace(found, units=text, units_words=words)
    if len(words) > 1 and found.flag is None and is_out_of_range_flag(words[0].text):
        # 'H IU/L'
        found = replace(found, flag=words[0].text.strip("()[]"))
        return _take(found, join_word_texts(words[1:]), words[1:])
    if found.range is None and looks_like_range(text):
        inside, flag = split_range_and_flag(strip_range_label(text))
        return replace(found, range=inside, range_words=words, flag=found.flag or flag)
    if found.range is None and found.units is None:
        for n in range(1, len(words)):
            unit, rest = join_word_texts(words[:n]), join_word_texts(words[n:])
            if is_unit(unit) and looks_like_range(rest):
                inside, flag = split_range_and_flag(rest)
                return replace(
                    found,
                    units=unit,
                    units_words=words[:n],
                    range=inside,
                    range_words=words[n:],
                    flag=found.flag or flag,
                )
    labelled = _LABELLED.match(text)
    if (
        found.range is None
        and is_range_in_words(text[labelled.end() :] if labelled else text)
        and (labelled or is_worded_value(found.value))
    ):
        return replace(found, range=text, range_words=words)
    if found.method is None and not is_numeric_value(text):
        return replace(found, method=text)
    return found


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
