"""The name of a row where it is not simply what stands in the column of names: begun on
the line above, wholly above its method, or with a share of cells behind it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from portal.lib.units import normalize_unit
from reports.parser.layout.lines import Line
from reports.parser.pages import Word
from reports.parser.text.fields import (
    Fields,
    find_words_with_text,
    is_unit,
    join_word_texts,
)
from reports.parser.text.values import is_numeric_value, is_out_of_range_flag

from .pairs import read_percentage_and_count_pair
from .row import Row, Section, replace_row_unit
from .wording import clean_printed_name

# Of print that says how a test was done, to that of its name.
_LESSER = 0.9
_NAME_UNIT = re.compile(r"(?P<name>.*\w.*?)\s*[(\[](?P<unit>[^()\[\]]+)[)\]]")
_NAME_THEN_UNIT = re.compile(
    r"(?P<name>.*[\w)\]])(?:,|\s[-–]|(?=\s[^%]))\s*(?P<unit>%|\S+/\S+|[^\W\d_]+)"
)


def is_printed_smaller_than_name(words: Sequence[Word], name: Sequence[Word]) -> bool:
    """Return whether words are printed smaller than a name, as a test's method is."""
    return words[0].size < _LESSER * name[0].size


def take_unit_from_name(row: Row, section: Section) -> None:
    """Give a row the unit that only its name prints: 'Glucose (mmol/L)', 'Lymph %'."""
    if row.fields.units:
        return
    name, unit = _split_name_and_unit(row.test_name, section)
    if unit is None and "%" in (name[:1], name[-1:]):
        unit = "%" if is_numeric_value(row.fields.value) else None
        before, sign = (row.name * 2)[-2:]
        apart = sign.text == "%" and sign.x0 - before.x1 > sign.size
        name = name.rstrip(" %") if apart else name
    if unit:
        row.name_text = name
        words = list(find_words_with_text(row.name, unit))
        row.fields = replace_row_unit(row.fields, unit, words)


def _split_name_and_unit(name: str, section: Section) -> tuple[str, str | None]:
    """Split a unit from a name, known without it if it is bare or letters."""
    match = _NAME_UNIT.fullmatch(name) or _NAME_THEN_UNIT.fullmatch(name)
    if match is None:
        return name, None
    short, unit = match["name"].strip(" ,"), match["unit"].strip()
    if not is_unit(unit) or (len(unit) == 1 and unit.isalpha()):
        return name, None
    printed = unit.isalpha() and (normalize_unit(unit) or "{")[0]
    if match.re is _NAME_THEN_UNIT and printed and printed in "{[%(":
        # A word that ends a name is of it: 'A/G Ratio', 'RPR, Titer'.
        return name, None
    sure = match.re is _NAME_UNIT and not unit.isalpha()
    return (short, unit) if sure or section.knows(short) else (name, None)


def split_flag_word_from_name(
    words: list[Word], section: Section
) -> tuple[list[Word], str | None]:
    """Split 'High' from the end of a name that is known without it."""
    if len(words) < 2 or not is_out_of_range_flag(words[-1].text):
        return words, None
    short, whole = (
        clean_printed_name(join_word_texts(words[:-1])),
        clean_printed_name(join_word_texts(words)),
    )
    spelt = words[-1].text.lower() in ("high", "low")
    if not section.knows(short):
        return words, None
    if not spelt and section.knows(whole):
        return words, None
    return words[:-1], words[-1].text


def split_percentage_from_name(
    name: list[Word], fields: Fields, line: Line
) -> tuple[list[Word], Fields]:
    """Split a percentage that precedes its count from the end of the name."""
    for n, word in enumerate(name[1:], start=1):
        if word.text[:1].isdigit() and word in line.words:
            pair = read_percentage_and_count_pair(line.words[line.words.index(word) :])
            if pair is not None:
                return name[:n], replace(pair[0], flag=fields.flag)
    return name, fields
