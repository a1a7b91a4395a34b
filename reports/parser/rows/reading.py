"""Reads the fields of a row by its columns, correcting texts one column away."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from reports.parser.layout.lines import CELL_GAP
from reports.parser.pages import Word
from reports.parser.text.fields import (
    Fields,
    find_unit_in_range,
    find_words_with_text,
    is_laboratory_mark,
    is_unit,
    join_word_texts,
    split_flag_from_unit,
    split_range_and_flag,
    split_value_cell,
    strip_footnote_mark,
)
from reports.parser.text.ranges import (
    is_plain_numeric_range,
    looks_like_range,
    strip_range_label,
)
from reports.parser.text.roles import Role
from reports.parser.text.values import (
    is_not_reported,
    is_numeric_value,
    is_out_of_range_flag,
    is_result_value,
)

from .grammar import drop_gloss_before_value, settle_fields_by_grammar
from .row import Parts

# In the place of a unit, of a number that has none.
_SIGNS = frozenset(["+", "++", "-", "--", "↑", "↓"])
# Of signs without a letter or a digit behind a range: longer, they draw something.
_LONGEST_MARK = 3
_DASH_BEFORE = re.compile(r"^[-–—]\s+")
_REFERENCE = re.compile(r"(?i)^ref\.?\s*:\s*")
_BRACKETED_NUMBER = re.compile(r"[(\[]\s*\d")
# Of an earlier result, in a column without a title beside the units.
_DAY = re.compile(r"\d{1,2}[./-]\d{1,2}[./-](?:\d\d){1,2}|\d{4}-\d\d-\d\d")


def read_row_fields_by_column(
    parts: Parts, *, has_limits: bool, titled_unit: str | None = None
) -> Fields:
    """Return the fields of a row from the words in its columns.

    has_limits: whether the range is printed as two columns, low and high. titled_unit:
    the unit that the column's title prints, for numbers without one of their own.
    """
    printed = drop_gloss_before_value(strip_footnote_mark(parts[Role.VALUE]))
    words, mark = _split_sign(printed)
    cell = _read_value_cell(words, mark)
    units_words = tuple(
        word for word in parts.get(Role.UNIT, ()) if not _DAY.fullmatch(word.text)
    )
    units = join_word_texts(units_words)
    spread, range_words = _read_range(parts, has_limits=has_limits)
    fields = replace(
        cell,
        # Where both letters are one sign, a picture's reader knows but the first.
        units="fl" if units == "f" else units,
        units_words=units_words,
        range=spread,
        range_words=range_words,
        method=join_word_texts(parts.get(Role.METHOD, [])) or None,
    )
    for rule in _COLUMN_RULES:
        fields = rule(fields)
    fields = _add_cell(fields, cell, words)
    flag = join_word_texts(parts.get(Role.FLAG, []))
    if fields.flag is None and flag and is_out_of_range_flag(flag):
        fields = replace(fields, flag=flag.strip("()[] "))
    fields = _take_unit_in_range(_move_unit_from_range(fields))
    if not fields.units and titled_unit and is_numeric_value(fields.value):
        fields = replace(fields, units=titled_unit, units_words=())
    return settle_fields_by_grammar(
        replace(
            fields,
            units=fields.units or None,
            units_words=fields.units_words if fields.units else (),
            range=fields.range if (fields.range or "").strip("-–—._ ") else None,
        )
    )


def _split_sign(words: list[Word]) -> tuple[list[Word], str | None]:
    """The words of a value without a sign apart, which may say that it is high."""
    if len(words) < 2:
        return words, None
    if not words[0].text.strip(":=-."):
        return words[1:], None
    apart = words[1].x0 - words[0].x1 > words[0].size
    return (words[1:], "+") if words[0].text == "+" and apart else (words, None)


def _read_value_cell(words: list[Word], mark: str | None) -> Fields:
    """What the cell of a value says by itself."""
    text = join_word_texts(words).lstrip(":= ")
    value, units, flag, spread = split_value_cell(text)
    fields = Fields(value, units, spread, flag or mark, value_words=tuple(words))
    if units or spread:
        return replace(fields, value_words=find_words_with_text(words, value))
    if is_result_value(value) or is_not_reported(value):
        return fields
    # A flag or another column's text may stand beside the value.
    for n in range(len(words) - 1, 0, -1):
        head, rest = join_word_texts(words[:n]), join_word_texts(words[n:])
        if not is_result_value(head):
            continue
        if is_out_of_range_flag(rest):
            return replace(fields, value=head, value_words=tuple(words[:n]), flag=rest)
    return fields


def _read_range(parts: Parts, *, has_limits: bool) -> tuple[str, tuple[Word, ...]]:
    """The range as printed in its column, or made of those of its two ends."""
    words = _strip_tail(parts.get(Role.RANGE, ()))
    if words or not has_limits:
        return join_word_texts(words), words
    words = (*parts.get(Role.LOW, ()), *parts.get(Role.HIGH, ()))
    low, high = (join_word_texts(parts.get(r, [])) for r in (Role.LOW, Role.HIGH))
    if low and high:
        return f"{low} - {high}", words
    if low or high:
        return f"≥ {low}" if low else f"≤ {high}", words
    return "", words


def _take_flag_from_unit(fields: Fields) -> Fields:
    """'H g/dL' has a flag, '+' alone is one, and a dash is neither flag nor unit."""
    if fields.flag is None and len(fields.units_words) > 1:
        flag, words = split_flag_from_unit(fields.units_words)
        units = join_word_texts(words)
        fields = replace(fields, flag=flag, units=units, units_words=words)
    units = _DASH_BEFORE.sub("", fields.units or "")
    marked = is_numeric_value(fields.value) or units.startswith("+")
    if fields.flag is None and marked and units in _SIGNS:
        return replace(fields, flag=units, units="", units_words=())
    if units and is_not_reported(units):
        return replace(fields, units="", units_words=())
    return fields if units == fields.units else replace(fields, units=units)


def _move_range_from_unit(fields: Fields) -> Fields:
    """A range may stand in the column of units, and may say that it is one."""
    units = fields.units or ""
    if not fields.range and is_plain_numeric_range(units):
        words = fields.units_words
        fields = replace(
            fields, units="", units_words=(), range=units, range_words=words
        )
    label = strip_range_label(fields.range or "")
    spread = _REFERENCE.sub("", label)
    return fields if spread == fields.range else replace(fields, range=spread)


_COLUMN_RULES = (_take_flag_from_unit, _move_range_from_unit)


def _add_cell(fields: Fields, cell: Fields, words: list[Word]) -> Fields:
    """Add the unit and range in a value's own cell, where their columns are empty."""
    units = fields.units
    if cell.units and (not units or _BRACKETED_NUMBER.match(units)):
        # A unit may begin in the word of its number: '05E /nl'.
        glued = words[0].text[-1:].isalpha()
        found = find_words_with_text(words if glued else words[1:], cell.units)
        fields = replace(fields, units=cell.units, units_words=found)
    if fields.range:
        spread, after = split_range_and_flag(fields.range)
        return replace(fields, range=spread, flag=fields.flag or after)
    if not cell.range:
        return fields
    found = find_words_with_text(words[1:], cell.range)
    return replace(fields, range=cell.range, range_words=found)


def _move_unit_from_range(fields: Fields) -> Fields:
    """A unit alone in the column of ranges is no range."""
    spread = fields.range
    if fields.units or not spread or looks_like_range(spread) or not is_unit(spread):
        return fields
    words = fields.range_words
    return replace(fields, units=spread, units_words=words, range="", range_words=())


def _take_unit_in_range(fields: Fields) -> Fields:
    """Take the unit before or behind a range, if the value has none."""
    spread, words = fields.range, fields.range_words
    if fields.units or not spread or not is_result_value(fields.value):
        return fields
    head, _, rest = spread.partition(" ")
    if is_unit(head) and not is_numeric_value(head) and looks_like_range(rest):
        return replace(
            fields,
            units=head,
            units_words=words[:1],
            range=rest,
            range_words=words[1:],
        )
    inside = find_unit_in_range(spread)
    if inside is None:
        return fields
    found = find_words_with_text(words, inside)
    return replace(fields, units=inside, units_words=found)


def _strip_tail(spread: Sequence[Word]) -> tuple[Word, ...]:
    """Return a plain range without a drawn scale or method after it."""
    for n in range(1, len(spread)):
        last, word = spread[n - 1], spread[n]
        tail = join_word_texts(list(spread[n:]))
        drawn = not any(sign.isalnum() for sign in tail) and len(tail) > _LONGEST_MARK
        apart = word.x0 - last.x1 > CELL_GAP * word.size
        if not (drawn or apart) or not is_plain_numeric_range(
            join_word_texts(list(spread[:n]))
        ):
            continue
        if (
            is_laboratory_mark(tail)
            or is_unit(tail)
            or any(sign.isdigit() for sign in tail)
        ):
            continue
        return tuple(spread[:n])
    return tuple(spread)
