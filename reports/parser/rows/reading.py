"""Reads the fields of a row by its columns, correcting texts one column away."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reports.parser.layout.lines import CELL_GAP
from reports.parser.pages import Word
from reports.parser.text.fields import (
    Fields,
    find_unit_in_range,
    find_words_with_text,
    is_laboratory_mark,
    is_unit,
    join_word_texts,
    split_range_and_flag,
    split_value_cell,
    split_value_in_two_units,
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
    is_worded_value,
)

from .grammar import drop_gloss_before_value, settle_fields_by_grammar
from .row import Parts

# In the place of a unit, of a number that has none.
_SIGNS = frozenset(["+", "++", "-", "--", "↑", "↓"])
# Of signs without a letter or a digit behind a range: longer, they draw something.
_LONGEST_MARK = 3
# Of an earlier result, in a column without a title beside the units.
_DAY = re.compile(r"\d{1,2}[./-]\d{1,2}[./-](?:\d\d){1,2}|\d{4}-\d\d-\d\d")


def read_row_fields_by_column(
    parts: Parts, *, has_limits: bool, titled_unit: str | None = None
) -> Fields:
    """Return the fields of a row from the words in its columns.

    has_limits: whether the range is printed as two columns, low and high. titled_unit:
    the unit that the column's title prints, for numbers without one of their own.
    """
    words = drop_gloss_before_value(strip_footnote_mark(parts[Role.VALUE]))
    mark = None
    if len(words) > 1 and not words[0].text.strip(":=-."):
        words = words[1:]
    elif (
        len(words) > 1
        and words[0].text == "+"
        and words[1].x0 - words[0].x1 > words[0].size
    ):
        # A sign apart from its number says that the number is high.
        mark, words = "+", words[1:]
    printed_value = join_word_texts(words).lstrip(":= ")
    if twice := split_value_in_two_units(printed_value):
        printed_value = twice[0]
    value, units, flag, spread = split_value_cell(printed_value)
    flag = flag or mark
    value_words = tuple(words)
    if not is_result_value(value) and not is_not_reported(value) and len(words) > 1:
        # A flag or another column's text may stand beside the value.
        for n in range(len(words) - 1, 0, -1):
            head, rest = join_word_texts(words[:n]), join_word_texts(words[n:])
            if is_result_value(head) and (is_out_of_range_flag(rest) or is_unit(rest)):
                value, value_words = head, tuple(words[:n])
                if is_out_of_range_flag(rest):
                    flag = rest
                else:
                    units = rest
                break
    if units or spread:
        value_words = find_words_with_text(words, value)
    unit_words = tuple(
        word for word in parts.get(Role.UNIT, ()) if not _DAY.fullmatch(word.text)
    )
    printed_unit = join_word_texts(unit_words)
    # Where both letters are one sign, a picture's reader knows but the first.
    printed_unit = "fl" if printed_unit == "f" else printed_unit
    range_words = _strip_tail(parts.get(Role.RANGE, ()))
    printed_range = join_word_texts(range_words)
    if has_limits and not printed_range:
        ends = [join_word_texts(parts.get(role, [])) for role in (Role.LOW, Role.HIGH)]
        range_words = (*parts.get(Role.LOW, ()), *parts.get(Role.HIGH, ()))
        low, high = ends
        printed_range = f"{low} - {high}" if low and high else ""
        if low or high:
            printed_range = printed_range or (f"≥ {low}" if low else f"≤ {high}")
    if flag is None and len(unit_words) > 1:
        flag, unit_words = _split_flag(unit_words)
        printed_unit = join_word_texts(unit_words)
    printed_unit = re.sub(r"^[-–—]\s+", "", printed_unit)
    marked = is_numeric_value(value) or printed_unit.startswith("+")
    if flag is None and marked and printed_unit in _SIGNS:
        flag, printed_unit, unit_words = printed_unit, "", ()
    if printed_unit and is_not_reported(printed_unit):
        printed_unit, unit_words = "", ()
    if printed_unit and not is_unit(printed_unit) and is_worded_value(value):
        whole = f"{value} {printed_unit}"
        if is_worded_value(whole):
            value, value_words = whole, (*value_words, *unit_words)
            printed_unit, unit_words = "", ()
    if not printed_range and printed_unit and is_plain_numeric_range(printed_unit):
        printed_range, range_words = printed_unit, unit_words
        printed_unit, unit_words = "", ()
    printed_range = re.sub(r"(?i)^ref\.?\s*:\s*", "", strip_range_label(printed_range))
    if printed_unit and units and re.match(r"[(\[]\s*\d", printed_unit):
        printed_unit = ""
    if printed_unit:
        units = printed_unit
    elif units:
        unit_words = find_words_with_text(words[1:], units)
    if printed_range:
        printed_range, after = split_range_and_flag(printed_range)
        flag = flag or after
    if not printed_range and spread:
        printed_range, range_words = spread, find_words_with_text(words[1:], spread)
    flag_text = join_word_texts(parts.get(Role.FLAG, []))
    if flag is None and flag_text and is_out_of_range_flag(flag_text):
        flag = flag_text.strip("()[] ")
    bare = printed_range and not units and not looks_like_range(printed_range)
    if bare and is_unit(printed_range):
        units, unit_words = printed_range, range_words
        printed_range, range_words = "", ()
    if not units and printed_range and is_result_value(value):
        head, _, rest = printed_range.partition(" ")
        inside = find_unit_in_range(printed_range)
        if is_unit(head) and not is_numeric_value(head) and looks_like_range(rest):
            units, unit_words = head, range_words[:1]
            printed_range, range_words = rest, range_words[1:]
        elif inside:
            units, unit_words = inside, find_words_with_text(range_words, inside)
    if not units and titled_unit and is_numeric_value(value):
        units, unit_words = titled_unit, ()
    return settle_fields_by_grammar(
        Fields(
            value=value,
            units=units or None,
            range=printed_range if printed_range.strip("-–—._ ") else None,
            flag=flag,
            method=join_word_texts(parts.get(Role.METHOD, [])) or None,
            value_words=value_words,
            units_words=unit_words if units else (),
            range_words=range_words,
        )
    )


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


def _split_flag(words: tuple[Word, ...]) -> tuple[str | None, tuple[Word, ...]]:
    """A mark that stands before or after a unit, and the words of the unit."""
    for mark, rest in ((words[0], words[1:]), (words[-1], words[:-1])):
        signed = is_laboratory_mark(mark.text) or mark.text in ("+", "-", "–")
        if signed and is_unit(join_word_texts(rest)):
            sign = mark.text.strip("()[]* ") or mark.text
            return sign.replace("–", "-"), rest
    return None, words
