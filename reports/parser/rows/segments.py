"""Gives each word behind a name one role: value, unit, range or flag.

Asks for no column and no gap: whichever cells a reader made, the words of a row are
cut again so that none is left over and no role is taken twice. Source: Ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from reports.parser.pages import Word
from reports.parser.text.fields import (
    Fields,
    find_unit_in_range,
    is_laboratory_mark,
    is_range_status_text,
    is_unit,
    join_word_texts,
)
from reports.parser.text.not_names import is_test_method
from reports.parser.text.ranges import is_plain_numeric_range
from reports.parser.text.values import (
    COMPARATOR,
    NUMBER,
    is_numeric_value,
    is_out_of_range_flag,
)

_VALUE = re.compile(rf"(?:{COMPARATOR}\s*)?[-+−]?{NUMBER}")
_NO_UNIT = re.compile(r"[<>≤≥:;]|%\.|(?:^|\s)\d+$|^\d+\s")
_MOST_WORDS = 14
_LONGEST = {"value": 2, "unit": 4, "range": 6, "flag": 3}
# What else stands on the line of a row: an earlier result, a number of a chart.
_BESIDE = {**_LONGEST, "method": 2, "earlier": 1}
_LONGEST_SIGN = 3
_Cut = tuple[tuple[str, tuple[Word, ...]], ...]


@lru_cache(maxsize=8192)
def is_clean_range(text: str) -> bool:
    """Return whether a text is a plain range, alone or with the unit of its numbers."""
    return is_plain_numeric_range(text) or is_plain_numeric_range(
        text.removesuffix(find_unit_in_range(text) or "").rstrip()
    )


def cut_fields_anew(fields: Fields) -> Fields:
    """Return fields with the words of all parts cut again, where one is not clean.

    The same where their words can be cut in no way, or in several, or to another value.
    """
    if _are_clean(fields):
        return fields
    cut = cut_words_by_role(_in_order(fields), fields)
    return cut if cut and cut.value in fields.value else fields


def cut_words_by_role(
    words: Sequence[Word], fields: Fields, *, beside: bool = False
) -> Fields | None:
    """Return fields made of words in the one way that gives each a role, or None.

    fields: what is kept of the row besides, such as its flag and method. beside:
    whether an earlier result and a method may stand among the words.
    """
    if not 1 < len(words) <= _MOST_WORDS:
        return None
    roles = _BESIDE if beside else _LONGEST
    found = sorted(_cuts(words, frozenset(), roles), key=_cost)
    if not found or (len(found) > 1 and _cost(found[0]) == _cost(found[1])):
        return None
    return _read(found[0], fields)


def _cost(cut: _Cut) -> tuple[bool, int]:
    """Prefer a unit apart from the range, then few parts."""
    return "unit" not in dict(cut), len(cut)


def _are_clean(fields: Fields) -> bool:
    spread, units = fields.range or "", fields.units or ""
    inside = (find_unit_in_range(spread) or "").split()
    twice = len(inside) > 1 and inside[0] == inside[-1]
    return (
        (is_numeric_value(fields.value) or fields.value.isalpha())
        and (not units or is_unit(units))
        and (not spread or is_clean_range(spread))
        and not twice
    )


def _in_order(fields: Fields) -> list[Word]:
    """Return the words of one line, from left to right; none where a part wraps."""
    parts = (*fields.value_words, *fields.units_words, *fields.range_words)
    words = list({id(word): word for word in parts}.values())
    if not words or max(w.top for w in words) > min(w.bottom for w in words):
        return []
    return sorted(words, key=lambda word: word.x0)


def _cuts(
    words: Sequence[Word], used: frozenset[str], roles: Mapping[str, int]
) -> Iterator[_Cut]:
    """Yield the ways to cut words, each role at most once."""
    if not words:
        if "value" in used:
            yield ()
        return
    open_roles = [
        (role, longest)
        for role, longest in roles.items()
        if role not in used and (role != "earlier" or "value" in used)
    ]
    for length in range(1, len(words) + 1):
        open_roles = [(role, most) for role, most in open_roles if length <= most]
        if not open_roles:
            break
        text = join_word_texts(tuple(words[:length]))
        for role, _ in open_roles:
            if _fits(role, text):
                for rest in _cuts(words[length:], used | {role}, roles):
                    yield ((role, tuple(words[:length])), *rest)


@lru_cache(maxsize=16384)
def _fits(role: str, text: str) -> bool:
    if role == "range":
        return is_clean_range(text)
    if role == "method":
        return is_test_method(text)
    if role in ("value", "earlier"):
        return bool(_VALUE.fullmatch(text))
    flag = is_laboratory_mark(text) or is_range_status_text(text)
    if role == "flag":
        return flag
    closed = all(text.count(a) == text.count(b) for a, b in ("()", "[]"))
    marked = (
        not closed or flag or any(is_range_status_text(word) for word in text.split())
    )
    return not marked and not _NO_UNIT.search(text) and is_unit(text)


def _read(cut: _Cut, fields: Fields) -> Fields:
    parts: dict[str, tuple[Word, ...]] = {}
    for role, words in cut:
        parts.setdefault(role, words)
    texts = {role: join_word_texts(words) for role, words in parts.items()}
    flag = texts.get("flag")
    if flag and not (is_out_of_range_flag(flag) or len(flag) <= _LONGEST_SIGN):
        flag = None
    spread = texts.get("range")
    units = texts.get("unit") or find_unit_in_range(spread or "")
    return replace(
        fields,
        value=texts["value"],
        value_words=parts["value"],
        units=units or fields.units,
        units_words=parts.get("unit", ()),
        range=spread,
        range_words=parts.get("range", ()),
        flag=fields.flag or flag,
    )
