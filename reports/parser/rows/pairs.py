"""Two results of one test printed side by side: as a share and as a count.

Reads the words behind a name; which of the ranges belongs to which is told by the
numbers themselves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from portal.lib.units import Dimension, find_unit_dimension, normalize_unit
from reports.parser.pages import Word
from reports.parser.text.fields import Fields, is_unit, join_word_texts
from reports.parser.text.ranges import is_plain_numeric_range, parse_range_bounds
from reports.parser.text.values import (
    is_numeric_value,
    is_out_of_range_flag,
    parse_printed_number,
)

_JOINERS = frozenset(["soit", "resp.", "=", "/", "|", "ou", "ó", "bzw."])
_COUNTED = {Dimension.NUMBER_CONCENTRATION, Dimension.SUBSTANCE_RATIO}
# Of the logarithm: a range stands by the second number unless the first fits better.
_CLEARLY = 1.2
_LONGEST_RANGE = 4
_LONGEST_UNIT = 2


@dataclass(slots=True)
class _Part:
    """A number with its unit and range; how many words both take."""

    value: list[Word]
    unit: list[Word]
    range: list[Word]
    taken: int

    @property
    def is_share(self) -> bool:
        return join_word_texts(self.unit) == "%"


def read_percentage_and_count_pair(
    words: Sequence[Word],
) -> tuple[Fields, Fields] | None:
    """Read two results of one line: '61,0 % 4.526 /mm³ 1.500 a 7.000'; else None.

    One of the two is in per cent and the other counted. A lone range belongs to the
    number whose unit stands behind it; to the second, where none does, unless it is
    clearly nearer to the first.
    """
    if not any("%" in word.text for word in words):
        return None
    parts: list[_Part] = []
    owner = None
    at = 0
    while at < len(words):
        if parts and words[at].text in _JOINERS:
            at += 1
        elif parts and not parts[-1].range and (spread := _range_at(words, at)):
            parts[-1].range = spread
            at += len(spread)
            owner = _owner(words[at:], parts)
            at += len(owner.unit) if owner else 0
        elif len(parts) < 2 and (found := _value_at(words, at)):
            parts.append(found)
            at += found.taken
        elif parts and is_out_of_range_flag(words[at].text):
            at += 1
        else:
            break
    if len(parts) != 2 or {part.is_share for part in parts} != {True, False}:
        return None
    first, second = parts
    if not all(part.is_share or _is_count(part) for part in parts):
        return None
    more = _range_at(words, at) if second.range and not first.range else []
    if more:
        first.range, second.range = second.range, more
    elif (
        not first.range
        and second.range
        and owner is not second
        and (owner is first or _is_nearer(second.range, first, second))
    ):
        first.range, second.range = second.range, []
    return _fields(first), _fields(second)


def _is_count(part: _Part) -> bool:
    """Whether a unit is of cells in a volume, or of parts in moles as HbA1c's."""
    unit = normalize_unit(join_word_texts(part.unit))
    return unit is not None and find_unit_dimension(unit) in _COUNTED


def _value_at(words: Sequence[Word], at: int) -> _Part | None:
    text = words[at].text
    if text.endswith("%") and is_numeric_value(text[:-1]) and len(text) > 1:
        cut = words[at]._replace(text=text[:-1])
        return _Part([cut], [words[at]._replace(text="%")], [], 1)
    if not is_numeric_value(text):
        return None
    for length in range(_LONGEST_UNIT, 0, -1):
        unit = list(words[at + 1 : at + 1 + length])
        if (
            len(unit) == length
            and is_unit(join_word_texts(unit))
            and not is_out_of_range_flag(unit[0].text)
        ):
            return _Part([words[at]], unit, [], 1 + length)
    return None


def _range_at(words: Sequence[Word], at: int) -> list[Word]:
    for length in range(_LONGEST_RANGE, 0, -1):
        spread = list(words[at : at + length])
        if len(spread) == length and is_plain_numeric_range(join_word_texts(spread)):
            return spread
    return []


def _owner(words: Sequence[Word], parts: Sequence[_Part]) -> _Part | None:
    """The number whose unit stands again at the head of the words."""
    for part in parts:
        if join_word_texts(list(words[: len(part.unit)])) == join_word_texts(part.unit):
            return part
    return None


def _is_nearer(spread: list[Word], first: _Part, second: _Part) -> bool:
    """Whether a range is rather that of the first number than of the second."""
    comma = "," in join_word_texts(spread) and "." not in join_word_texts(spread)
    bounds = parse_range_bounds(join_word_texts(spread), decimal_comma=comma)
    ends = [end for end in (bounds.low, bounds.high) if end]
    if not ends:
        return False
    middle = math.exp(sum(map(math.log, ends)) / len(ends))

    def distance(part: _Part) -> float:
        number = parse_printed_number(join_word_texts(part.value), decimal_comma=comma)
        return abs(math.log(number / middle)) if number else math.inf

    return distance(first) < distance(second) - _CLEARLY


def _fields(part: _Part) -> Fields:
    return Fields(
        value=join_word_texts(part.value),
        units=join_word_texts(part.unit),
        range=join_word_texts(part.range) or None,
        value_words=tuple(part.value),
        units_words=tuple(part.unit),
        range_words=tuple(part.range),
    )
