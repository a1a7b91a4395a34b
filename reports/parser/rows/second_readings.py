"""Results given again in another unit right behind the first: '5.9 % (41 mmol/mol)'.

They are taken out of the lines before any reader sees them, so that none has to know
of them, and become rows of their own behind the rows that have the first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from portal.lib.units import normalize_unit
from reports.parser.layout.lines import Line, drop_words_from_lines
from reports.parser.pages import Word
from reports.parser.text.fields import (
    Fields,
    find_words_with_text,
    has_form_of_unit,
    is_unit,
)
from reports.parser.text.ranges import is_plain_numeric_range
from reports.parser.text.values import COMPARATOR, NUMBER, is_out_of_range_flag

from .row import Row

_QUANTITY = rf"(?:{COMPARATOR}\s*)?{NUMBER}"
_READING = re.compile(
    rf"(?<!\S)(?P<first>{_QUANTITY})(?P<between>[^\d()\[\]]{{,16}}?)\s*(?P<again>"
    rf"[(\[]\s*(?P<value>{_QUANTITY})\s*(?P<unit>[^\s\d()\[\]][^()\[\]]*?)\s*[)\]]"
    rf"|(?:soit|resp\.|bzw\.|entspr\.|[/=|])\s+(?P<bare_value>{_QUANTITY})"
    r"\s*(?P<bare_unit>[^\s\d()\[\]][^\s()]*))(?![^\s,;])"
)
_RANGE = re.compile(r"(?P<first>\S[^()\[\]]*?)\s*(?P<again>[(\[][^()\[\]]+[)\]])")
# What a number in brackets says of the test, not of the result: '12 mm (1 hr)'.
_TIME = re.compile(r"(?i)(?:h(?:(?:ou)?rs?)?|min(?:ute)?s?|days?|y(?:ea)?rs?)\.?")
# What begins a number that is the end of a range rather than a value.
_LIMIT = re.compile(r"(?:[-–—<>≤≥:]|\b(?:to|than|and|below|above))\s*$")


@dataclass(frozen=True, slots=True)
class SecondReading:
    """The fields of a result in another unit; the word that has the first number."""

    first: Word
    fields: Fields


def separate_second_readings(
    lines: Sequence[Line],
) -> tuple[list[Line], list[SecondReading]]:
    """Return lines without the results that are given again, and these."""
    found: list[SecondReading] = []
    taken: set[int] = set()
    for line in lines:
        for match in _READING.finditer(line.text):
            second = _read(match, line)
            if second is None:
                continue
            words = _list_words_at(line, *match.span("again"))
            taken |= set(map(id, words))
            behind = line.words[line.words.index(words[-1]) + 1 :]
            spread = _find_second_range(behind)
            taken |= set(map(id, spread))
            text = " ".join(word.text for word in spread)[1:-1].strip()
            fields = replace(second.fields, range=text or None, range_words=spread)
            found.append(replace(second, fields=fields))
    return drop_words_from_lines(lines, taken), found


def add_second_readings(
    rows: Iterable[Row], readings: Iterable[SecondReading]
) -> list[Row]:
    """Return rows, each result that is given again behind the row of the first."""
    seconds: Mapping[int, Fields] = {id(one.first): one.fields for one in readings}
    every: list[Row] = []
    for row in rows:
        every.append(row)
        for word in row.fields.value_words:
            if id(word) in seconds:
                fields = seconds[id(word)]
                every.append(replace(row, fields=fields, name_text=row.test_name))
    return every


def _read(match: re.Match[str], line: Line) -> SecondReading | None:
    value = match["value"] or match["bare_value"]
    unit = (match["unit"] or match["bare_unit"]).strip()
    own = [w for w in match["between"].split() if not is_out_of_range_flag(w)]
    first = " ".join(own)
    if _TIME.fullmatch(unit) or not (is_unit(unit) or has_form_of_unit(unit)):
        return None
    if own and not (is_unit(first) or has_form_of_unit(first)):
        return None
    if unit == first or normalize_unit(unit) == normalize_unit(first):
        # In the same unit it is an earlier result.
        return None
    if value[0] in "<>≤≥" and match["first"][0] not in "<>≤≥":
        # It is rather the limit of the first.
        return None
    if match["bare_unit"] and (not own or "%" in (first, unit)):
        # Of a share and a count, the range may be of either: pairs tell which.
        return None
    before = line.text[: match.start()]
    if any(map(str.isdigit, before)) and _LIMIT.search(before + match["first"][:1]):
        return None
    at = _list_words_at(line, *match.span("first"))
    words = _list_words_at(line, *match.span("again"))
    return SecondReading(
        at[-1],
        Fields(
            value=value,
            units=unit,
            value_words=find_words_with_text(words, value),
            units_words=find_words_with_text(words, unit),
        ),
    )


def _list_words_at(line: Line, start: int, end: int) -> tuple[Word, ...]:
    """Return the words that have a part of the text of a line."""
    words, at = [], 0
    for word in line.words:
        if at < end and at + len(word.text) > start:
            words.append(word)
        at += len(word.text) + 1
    return tuple(words)


def _find_second_range(words: Sequence[Word]) -> tuple[Word, ...]:
    """Return the range in brackets right behind a plain one: '13 - 17 (130 - 170)'."""
    match = _RANGE.match(" ".join(word.text for word in words))
    if match is None:
        return ()
    ranges = (match["first"], match["again"].strip("()[] "))
    if not all(map(is_plain_numeric_range, ranges)):
        return ()
    start = match["first"].count(" ") + 1
    return tuple(words[start : start + match["again"].count(" ") + 1])
