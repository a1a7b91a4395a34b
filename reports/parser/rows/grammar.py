"""The grammar that the fields of every row obey, whichever reader found it.

A value is a number, a titre or a finding, never a phrase with a number and its unit; a
range holds no flag, no lone percent sign and no prose. Each rule takes fields and
returns fields: the same where it has nothing to say. Source: Ours: what a reader
swallowed from beside a cell is given back, so that no one reader has to know it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from reports.parser.layout.lines import CELL_GAP, split_words_into_cells
from reports.parser.pages import Word
from reports.parser.rows.segments import cut_fields_anew, is_clean_range
from reports.parser.text.fields import (
    Fields,
    find_words_with_text,
    is_unit,
    join_word_texts,
    split_value_cell,
)
from reports.parser.text.ranges import (
    is_plain_numeric_range,
    is_range_in_words,
    looks_like_range,
)
from reports.parser.text.values import (
    COMPARATOR,
    NUMBER,
    is_not_reported,
    is_numeric_value,
    is_out_of_range_flag,
    is_result_value,
    is_worded_value,
)

_QUANTITY = re.compile(
    rf"(?P<value>(?:{COMPARATOR}\s*)?{NUMBER})\s*(?P<rest>[^\s\d].*)"
)
# An amount of something a volume or an amount, named: 'mg Alb/mmol', 'IU FEU / mL'.
_QUALIFIED_UNIT = re.compile(
    r"(?P<amount>[kmnpuµμ]?(?:g|mol|IU|U|kat))\s+[^\W\d_]{1,12}\s*"
    r"(?P<per>/\s*[^\W\d_]{1,5})"
)
_LEVEL = re.compile(
    r"(?i)(?P<flag>(?:critical(?:ly)?\s+)?(?:high|low)|abnormal|critical|(?:border\s*line)"
    r"(?:\s+(?:high|low))?|elevated|decreased|increased)\s+(?P<rest>[(\[<>\d].*)"
)
_LETTER_BEFORE = re.compile(r"(?P<flag>[HLA*↑↓])\s+(?P<rest>\S.*\d.*)")
# A range, the bracket it stands in, and what is said of the value behind it.
_JUDGED = re.compile(
    r"(?P<range>(?P<open>[(\[])?[^()\[\]]*\d[^()\[\]]*(?(open)[)\]]))[)\]]?"
    r"(?<=[)\]])\s*[-–—]?\s*(?P<flag>[^\W\d_]+)"
)
# A value, its unit and its range inside a name or a range: a row that was swallowed.
_INNER_ROW = re.compile(
    rf"{NUMBER}\s+(?P<unit>\S{{1,12}})\s+(?:{NUMBER}\s*[-–]\s*|{COMPARATOR}\s*){NUMBER}"
)
_FIRST_QUANTITY = re.compile(rf"{NUMBER}\s+(?P<unit>\S+)\s+[^\W\d_]{{3}}")
_BOXES = re.compile(r"[0Oo□]{4,}")
_LONE_NUMBER = re.compile(rf"[-+−]?{NUMBER}%?")
# How far a word stands before a range to be none of its, in sizes of type.
_FAR = 3
_NAME_WORD = re.compile(r"[^\W\d_]{3}")
_LONE_PERCENT = re.compile(r"(?<![\d.,)\]%])\s+%(?=\s|$)")
_RANGE_WITH_MORE = re.compile(
    rf"(?P<range>(?:{NUMBER}\s*[-–]\s*|{COMPARATOR}\s*){NUMBER}\s+"
    r"(?P<unit>[^\W\d_]{1,5}/[^\W\d_]{1,4}))(?P<rest>[\s(,].*)"
)
_SCRIPTS_AS_LATIN = frozenset({"GREEK", "MICRO", "OHM", "FEMININE", "MASCULINE"})
_LONGEST_GLOSS = 12


def list_scripts(text: str) -> frozenset[str]:
    """Return the scripts of the letters of a text; Greek of symbols counts as Latin."""
    if text.isascii():
        return frozenset({"LATIN"} if any(map(str.isalpha, text)) else ())
    names = (unicodedata.name(sign, "UNNAMED") for sign in text if sign.isalpha())
    scripts = {name.split(" ")[0].split("-")[0] for name in names}
    return frozenset("LATIN" if s in _SCRIPTS_AS_LATIN else s for s in scripts)


def breaks_value_grammar(value: str) -> bool:
    """Return whether a value holds a second script, or a number and its unit.

    Or is but zeros: what an unread script, or a sign without a glyph, is read as.
    """
    if _BOXES.fullmatch(value):
        return True
    if is_numeric_value(value) or is_worded_value(value):
        return False
    if len(list_scripts(value)) > 1:
        return True
    starts = (0, *(blank.end() for blank in re.finditer(r"\s", value)))
    return any(
        _is_unit_of_value(match["rest"])
        for start in starts
        if (match := _QUANTITY.fullmatch(value, start))
    )


@lru_cache(maxsize=4096)
def swallows_row(text: str) -> bool:
    """Return whether a name or range holds a value with its unit and range.

    Or begins with a value and its unit: '17 U/L Alanine aminotransferase'.
    """
    first = _FIRST_QUANTITY.match(text)
    if first and is_unit(first["unit"]) and not first["unit"].isalpha():
        return True
    return any(is_unit(match["unit"]) for match in _INNER_ROW.finditer(text))


def settle_fields_by_grammar(fields: Fields) -> Fields:
    """Return fields with each part in its place, as far as their texts say so."""
    if not _is_settled(fields):
        for rule in _RULES:
            fields = rule(fields)
    return fields


def _is_settled(fields: Fields) -> bool:
    """Whether a number, a bare unit and a plain range leave nothing to move."""
    unit, spread = fields.units or "", fields.range or ""
    return (
        is_numeric_value(fields.value)
        and is_unit(unit)
        and unit.strip("-–—,;: ") == unit
        and len(fields.units_words) <= 1
        and is_plain_numeric_range(spread)
    )


def drop_gloss_before_value(words: Sequence[Word]) -> list[Word]:
    """Return the words of a value cell without a gloss: '钠 141 mmol/L'.

    A gloss is in another script than the Latin of the unit, or stands apart from the
    number. Words that qualify a number, 'Not below 3', are none.
    """
    text = join_word_texts(tuple(words))
    if len(words) < 2 or not words[0].text[:1].isalpha():
        return list(words)
    if is_result_value(split_value_cell(text)[0]) or is_not_reported(text):
        return list(words)
    for n in range(1, min(len(words), _LONGEST_GLOSS)):
        before, word = words[n - 1], words[n]
        foreign = list_scripts(before.text) - {"LATIN"}
        apart = word.x0 - before.x1 > CELL_GAP * word.size
        if not (apart or foreign or _holds_script(words[:n])):
            continue
        value = split_value_cell(join_word_texts(tuple(words[n:])))[0]
        if is_numeric_value(value):
            return list(words[n:])
    return list(words)


def drop_gloss_from_name(words: Sequence[Word]) -> list[Word]:
    """Return the words of a name without cells that say it in another script.

    The Latin cells stay where a word of theirs has letters enough to name a test.
    """
    cells = split_words_into_cells(list(words))
    latin = [cell for cell in cells if list_scripts(cell.text) <= {"LATIN"}]
    kept = [word for cell in latin for word in cell.words]
    named = any(_NAME_WORD.search(cell.text) for cell in latin)
    return kept if named and len(latin) < len(cells) else list(words)


def _holds_script(words: Sequence[Word]) -> bool:
    return any(list_scripts(word.text) - {"LATIN"} for word in words)


def _is_unit_of_value(text: str) -> bool:
    return is_unit(text) or bool(_QUALIFIED_UNIT.fullmatch(text))


def _take_unit_from_value(fields: Fields) -> Fields:
    """'0.9 mg Alb/mmol' as a value has a unit of its own."""
    match = _QUANTITY.fullmatch(fields.value)
    if match is None or is_result_value(fields.value):
        return fields
    if not _is_unit_of_value(match["rest"]):
        return fields
    words = fields.value_words
    return replace(
        fields,
        value=match["value"].strip(),
        value_words=find_words_with_text(words, match["value"]),
        units=fields.units or match["rest"],
        units_words=fields.units_words or find_words_with_text(words, match["rest"]),
    )


def _drop_colon_before_range(fields: Fields) -> Fields:
    """': 13 - 17' is a range behind a colon that sets it off."""
    spread = (fields.range or "").lstrip(":= ")
    same = not spread or spread == fields.range
    return fields if same else _with_range(fields, spread)


def _drop_dash_behind_unit(fields: Fields) -> Fields:
    """'g/dL -' is a unit, and a range that is not there; 'g/dL,' one before it."""
    unit = (fields.units or "").strip("-–—,;: ")
    if not unit or not is_unit(unit):
        return fields
    return replace(
        fields, units=unit, units_words=find_words_with_text(fields.units_words, unit)
    )


def _take_flag_from_range(fields: Fields) -> Fields:
    """'High 40 - 50' as a range has a flag before it."""
    spread = fields.range or ""
    if (match := _JUDGED.fullmatch(spread)) and is_out_of_range_flag(match["flag"]):
        return _with_range(fields, match["range"], flag=fields.flag or match["flag"])
    if (match := _LETTER_BEFORE.fullmatch(spread)) and looks_like_range(match["rest"]):
        return _with_range(fields, match["rest"], flag=fields.flag or match["flag"])
    match = _LEVEL.fullmatch(spread)
    if match is None or not is_clean_range(match["rest"]):
        return fields
    return _with_range(fields, match["rest"], flag=fields.flag or match["flag"])


def _take_percent_from_range(fields: Fields) -> Fields:
    """A percent sign behind no number of a range is the unit of the value."""
    spread = fields.range or ""
    if fields.units or not is_numeric_value(fields.value):
        return fields
    if len(_LONE_PERCENT.findall(spread)) != 1:
        return fields
    sign = tuple(word for word in fields.range_words if word.text == "%")[:1]
    rest = tuple(word for word in fields.range_words if word not in sign)
    text = " ".join(_LONE_PERCENT.sub(" ", spread).split())
    return replace(
        fields, units="%", units_words=sign, range=text or None, range_words=rest
    )


def _take_unit_from_range(fields: Fields) -> Fields:
    """A unit inside a range is the value's, and words behind it are no limit.

    '43-180 pg/mL Luteal or ERT' is '43-180 pg/mL', while more numbers are kept.
    """
    match = _RANGE_WITH_MORE.fullmatch(fields.range or "")
    if not match or not is_unit(match["unit"]) or is_clean_range(match[0]):
        return fields
    if not fields.units and is_numeric_value(fields.value):
        words = find_words_with_text(fields.range_words, match["unit"])
        fields = replace(fields, units=match["unit"], units_words=words)
    if any(map(str.isdigit, match["rest"])):
        return fields
    return _with_range(fields, match["range"])


def _drop_strange_word(fields: Fields) -> Fields:
    """A single word that is no finding is no range of one: 'Technician'."""
    spread = fields.range or ""
    if not spread.isalpha() or is_numeric_value(fields.value):
        return fields
    known = looks_like_range(spread) or is_range_in_words(spread)
    alike = spread.casefold() in fields.value.casefold()
    return fields if known or alike else replace(fields, range=None, range_words=())


def _drop_cells_beside_range(fields: Fields) -> Fields:
    """Numbers apart from a plain range, as of a chart, or whole rows, are not of it."""
    words = fields.range_words
    if len(words) < 2 or words[0].top + words[0].size < words[-1].top:
        return fields
    cells = split_words_into_cells(words)
    ranges = [cell for cell in cells if is_plain_numeric_range(cell.text)]
    others = [cell for cell in cells if cell not in ranges]
    lone = all(
        _LONE_NUMBER.fullmatch(cell.text)
        or (cell.text.isalpha() and cell.x1 < ranges[0].x0 - _FAR * words[0].size)
        for cell in others
        if ranges
    )
    if len(ranges) == 1 and others and lone:
        return _with_range(fields, ranges[0].text)
    if ranges and ranges[0] is cells[0] and swallows_row(fields.range or ""):
        return _with_range(fields, cells[0].text)
    return fields


def _with_range(fields: Fields, text: str, *, flag: str | None = None) -> Fields:
    return replace(
        fields,
        range=text,
        range_words=find_words_with_text(fields.range_words, text),
        flag=flag or fields.flag,
    )


_RULES = (
    _drop_colon_before_range,
    _take_flag_from_range,
    cut_fields_anew,
    _take_unit_from_value,
    _drop_dash_behind_unit,
    _take_percent_from_range,
    _take_unit_from_range,
    _drop_cells_beside_range,
    _drop_strange_word,
)
