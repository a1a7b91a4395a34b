"""Splits lines by column, and corrects texts one column away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reports.parser.columns.columns import Strip, split_line_by_column
from reports.parser.layout.lines import Line, split_words_into_cells
from reports.parser.pages import Word
from reports.parser.text.fields import is_unit, join_word_texts
from reports.parser.text.folding import normalize_letters_and_digits
from reports.parser.text.ranges import (
    looks_like_range,
    parse_labeled_range,
    parse_range_bounds,
)
from reports.parser.text.roles import ZONES, Role
from reports.parser.text.values import (
    has_decimal_commas,
    is_not_reported,
    is_numeric_value,
    parse_printed_number,
)

from .row import Parts
from .wording import is_dot_leader

_UNKNOWN = frozenset({Role.OTHER, Role.FLAG, Role.SPECIMEN})


def split_line_by_column_role(line: Line, strip: Strip) -> Parts:
    """Return the words of a line by column role; empty for limits."""
    parts: Parts = {}
    other = strip.second_range
    for n, words in enumerate(split_line_by_column(line, strip)):
        column = strip.columns[n]
        if not words or n == other:
            continue
        if column.role is Role.VALUE and Role.VALUE in parts:
            if normalize_letters_and_digits(
                column.title
            ) in ZONES and not is_not_reported(join_word_texts(words)):
                # A limit for each level, as an explanation gives.
                return {}
            if is_not_reported(join_word_texts(parts[Role.VALUE])):
                parts[Role.VALUE] = words
            elif is_unit(join_word_texts(words)):
                # Its title names results too: 'Unit of result'.
                parts.setdefault(Role.UNIT, words)
            continue
        if column.role in parts and column.role is not Role.RANGE:
            continue
        if column.role in parts and strip.repeats(column):
            continue
        parts.setdefault(column.role, []).extend(words)
    _take_value_after_leader(parts)
    if Role.VALUE in parts and Role.RANGE not in parts:
        _take_labelled_range(line, parts)
    if not strip.has(Role.UNIT) and Role.VALUE in parts:
        _take_untitled_unit(line, parts)
    return parts


def infer_roles_of_unknown_columns(lines: Sequence[Line], strip: Strip) -> Strip:
    """Return a strip with the roles of columns of unknown titles, from their texts."""
    asked = [
        (role, is_of_role)
        for role, is_of_role in (
            (Role.RANGE, _is_written_range),
            (Role.UNIT, _is_written_unit),
        )
        if not strip.has(role)
    ]
    unknown = [n for n, c in enumerate(strip.columns) if c.role in _UNKNOWN]
    if not asked or not unknown:
        return strip
    columns = list(strip.columns)
    cells = [split_line_by_column(line, strip) for line in lines]
    for role, is_of_role in asked:
        for n in unknown:
            texts = [join_word_texts(own[n]) for own in cells if own[n]]
            alike = sum(map(is_of_role, texts))
            if alike >= 2 and alike >= 0.4 * len(texts):
                columns[n] = replace(columns[n], role=role)
                break
    return replace(strip, columns=tuple(columns))


def read_separate_signs_as_flags(
    cut: list[tuple[Line, Parts]],
) -> list[tuple[Line, Parts]]:
    """Read signs printed apart before their numbers as flags, low or high.

    So they are where each says no more than the row's own range does: '<', apart, '7'
    beside '15 - 150'. Else one may say that a value lies below what can be measured.
    """
    signed = [
        n for n, (_, parts) in enumerate(cut) if _is_signed(parts.get(Role.VALUE, []))
    ]
    if not signed or not all(_repeats_range(cut[n][1]) for n in signed):
        return cut
    parted = list(cut)
    for n in signed:
        line, parts = cut[n]
        mark, *value = parts[Role.VALUE]
        level = "L" if mark.text == "<" else "H"
        flag = [mark._replace(text=level)]
        parted[n] = (line, {**parts, Role.VALUE: value, Role.FLAG: flag})
    return parted


def _is_signed(words: list[Word]) -> bool:
    if len(words) < 2 or words[0].text not in ("<", ">"):
        return False
    apart = words[1].x0 - words[0].x1 > words[0].size
    return apart and is_numeric_value(words[1].text)


def _repeats_range(parts: Parts) -> bool:
    sign, number = parts[Role.VALUE][:2]
    spread = join_word_texts(parts.get(Role.RANGE, []))
    comma = has_decimal_commas([number.text, spread])
    bounds = parse_range_bounds(spread, decimal_comma=comma)
    size = parse_printed_number(number.text, decimal_comma=comma)
    if size is None:
        return False
    if sign.text == "<":
        return bounds.low is not None and size < bounds.low
    return bounds.high is not None and size > bounds.high


def _take_untitled_unit(line: Line, parts: Parts) -> None:
    """Take a unit that stands in a column of earlier results, before the value."""
    earlier = parts.get(Role.PREVIOUS, [])
    if not earlier or earlier[0].x0 > parts[Role.VALUE][0].x0:
        return
    unit = list(split_words_into_cells(earlier, gap=line.tight)[0].words)
    if is_unit(join_word_texts(unit)):
        parts[Role.UNIT] = unit


def _take_labelled_range(line: Line, parts: Parts) -> None:
    """Take a range that says so behind the value: '22   Reference Range: 6 - 50'."""
    cells = split_words_into_cells(parts[Role.VALUE], gap=line.tight)
    for n, cell in enumerate(cells[1:], start=1):
        spread = parse_labeled_range(cell.text)
        if spread and looks_like_range(spread):
            parts[Role.VALUE] = [word for c in cells[:n] for word in c.words]
            parts[Role.RANGE] = [word for c in cells[n:] for word in c.words]
            return


def _take_value_after_leader(parts: Parts) -> None:
    """Give the value what stands behind the dots that lead from a name to it."""
    names = parts.get(Role.NAME, [])
    for n, word in enumerate(names[1:-1], start=1):
        if is_dot_leader(word.text):
            parts[Role.NAME] = names[:n]
            parts[Role.VALUE] = [*names[n + 1 :], *parts.get(Role.VALUE, [])]
            return


def _is_written_range(text: str) -> bool:
    return any(sign.isdigit() for sign in text) and looks_like_range(text)


def _is_written_unit(text: str) -> bool:
    return ("/" in text or "%" in text) and is_unit(text)
