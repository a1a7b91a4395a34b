"""Completes rows from words beside them that no row has: units and ranges."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from reports.parser.layout.lines import Line
from reports.parser.pages import Word
from reports.parser.text.fields import is_unit, join_word_texts
from reports.parser.text.ranges import is_plain_numeric_range, looks_like_range
from reports.parser.text.values import is_numeric_value, parse_printed_number

from .row import Row, list_used_words, replace_row_range_text, replace_row_unit

# From the middle of its row to that of a line of it, above and below, in sizes of type.
_REACH, _CLOSE = (-1.45, 2.0), 1.45
# Of rows with two numbers behind the result that are no earlier results, and of these
# those whose result lies between them.
_FEWEST, _INSIDE = 4, 0.6
# One more range of a list by sex.
GROUP = re.compile(r"(?i)\W*(?:fe)?males?\b|\W*(?:wo)?m[ae]n\b|\W*[mfwh]\s*[:=]")


def complete_rows_from_free_words(rows: Sequence[Row], lines: Iterable[Line]) -> None:
    """Give rows the units and ranges, or rests of units, that no other row has.

    Only what is near a row, alone in its column, and together one unit or range.
    """
    free = _list_free_words(rows, lines)
    behind: list[tuple[Row, list[Word]]] = []
    for row in rows if free else ():
        value = row.fields.value_words
        if not value or not is_numeric_value(row.fields.value):
            continue
        middle, right = value[0].middle, max(word.x1 for word in row.name)
        top, bottom = (middle + reach * value[0].size for reach in _REACH)
        near = [w for w in free if top < w.middle < bottom and w.x0 > right]
        if near:
            _complete_unit(row, near)
            _complete_range(row, near)
            level = (w for w in near if abs(w.middle - middle) < w.size / 2)
            behind.append((row, [w for w in level if w.x0 > value[-1].x1]))
    _join_limits(behind)


def _list_free_words(rows: Sequence[Row], lines: Iterable[Line]) -> list[Word]:
    """Return the words that no row has, but for signs, no farther than rows reach."""
    values = [row.fields.value_words[0] for row in rows if row.fields.value_words]
    if not values:
        return []
    above, below = _REACH
    top = min(value.middle + above * value.size for value in values)
    bottom = max(value.middle + below * value.size for value in values)
    used = list_used_words(rows)
    return [
        word
        for line in lines
        if line.top < bottom and line.bottom > top
        for word in line.words
        if id(word) not in used and word.text.strip("/.,:;|*#+")
    ]


def _complete_unit(row: Row, near: Sequence[Word]) -> None:
    own, value = list(row.fields.units_words), row.fields.value_words[0]
    close = [w for w in near if w.middle - value.middle < _CLOSE * value.size]
    for seed in own[:1] or close:
        group = _stand_together([*own, *close], [seed])
        text = _join(group)
        wraps = group[-1].top > group[0].middle
        if wraps and len(group) > len(own) and is_unit(text):
            added = [word for word in group if word not in own]
            row.fields = replace_row_unit(row.fields, text, added)
            return
    for above in (row.fields.range_words, row.fields.value_words):
        under = _list_words_under(above, near)
        if not row.fields.units and is_unit(text := join_word_texts(under)):
            row.fields = replace_row_unit(row.fields, text, under)


def _complete_range(row: Row, near: Sequence[Word]) -> None:
    fields = row.fields
    if fields.range:
        under = _list_words_under(fields.range_words, near)
        text = join_word_texts(under)
        if GROUP.match(fields.range) and GROUP.match(text) and looks_like_range(text):
            text = f"{fields.range} {text}"
            row.fields = replace_row_range_text(fields, text, under)
        return
    groups = [_stand_together(near, [seed]) for seed in near]
    groups = [group for group in groups if group[-1].top > group[0].middle]
    above = (fields.units_words, fields.value_words)
    for group in (*(_list_words_under(words, near) for words in above), *groups):
        text = join_word_texts(group)
        if is_plain_numeric_range(text) and not text[0].isalpha():
            row.fields = replace_row_range_text(fields, text, group)
            return


def _join_limits(rows: Sequence[tuple[Row, list[Word]]]) -> None:
    """Give rows the two numbers behind each as their range, if all are its ends."""
    ends = []
    for row, words in rows:
        printed = (row.fields.value.lstrip("<>≤≥= "), *(word.text for word in words))
        numbers = [
            n for text in printed if (n := parse_printed_number(text)) is not None
        ]
        if len(words) == 2 and len(numbers) == 3 and not row.fields.range:
            ends.append((row, words, numbers))
    inside = sum(low <= value <= high for _, _, (value, low, high) in ends)
    ordered = all(low < high for _, _, (_, low, high) in ends)
    sure = ordered and len(ends) >= _FEWEST and inside >= _INSIDE * len(ends)
    for row, words, _ in ends if sure else ():
        text = f"{words[0].text} - {words[1].text}"
        row.fields = replace_row_range_text(row.fields, text, words)


def _list_words_under(above: Sequence[Word], words: Sequence[Word]) -> list[Word]:
    """Return the words that stand on lines under others, in their column."""
    below = [word for word in words if above and word.top > above[0].middle]
    return _stand_together(below, above) if below else []


def _stand_together(words: Sequence[Word], seeds: Sequence[Word]) -> list[Word]:
    """Return words of the column that others stand in, line by line."""
    left, right, size = seeds[0].x0, seeds[-1].x1, seeds[0].size
    column = [word for word in words if word.x0 < right and word.x1 > left]
    left = min((word.x0 for word in column), default=left) - size
    right = max((word.x1 for word in column), default=right) + size
    beside = [word for word in words if word.x0 < right and word.x1 > left]
    return sorted(beside, key=lambda w: (round(w.middle / size), w.x0))


def _join(words: Sequence[Word]) -> str:
    text = ""
    for word in words:
        part = word.text
        apart = text and text[-1] != "/" and part[0] != "/" and len(part) > 1
        text += f" {part}" if apart else part
    return text
