"""Classifies the cells right of a name by their form alone."""

from __future__ import annotations

import re
from dataclasses import replace

from reports.parser.pages import Word
from reports.parser.text.fields import (
    Fields,
    find_unit_in_range,
    find_words_with_text,
    is_range_status_text,
    is_unit,
    join_word_texts,
    split_flag_from_unit,
    split_range_and_flag,
    split_value_cell,
)
from reports.parser.text.ranges import (
    is_plain_numeric_range,
    is_range_in_words,
    looks_like_range,
    strip_range_label,
)
from reports.parser.text.values import (
    NUMBER,
    is_not_reported,
    is_numeric_value,
    is_out_of_range_flag,
    is_result_value,
    is_worded_value,
)

_SPAN = re.compile(rf"{NUMBER}\s*[-–—]\s*{NUMBER}")
_NUMERIC = re.compile(NUMBER)
_LABELLED = re.compile(r"(?i)(?:normal|ref(?:erence)?|expected)\s*[:=]\s*")


def classify_value_cells(cells: list[list[Word]]) -> Fields | None:
    """Classify the cells right of a name by form; None if none is a value.

    The first cell that reads as a value is the value, a later one of that form a
    range or a number that is not wanted.
    """
    found = Fields()
    texts = [join_word_texts(cell) for cell in cells[:3]]
    if any(_NUMERIC.fullmatch(split_value_cell(text)[0]) for text in texts[1:]):
        cells = cells[1:] if is_range_status_text(texts[0]) else cells
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
        and is_range_status_text(text)
        and is_numeric_value(found.value)
    ):
        return found
    if found.flag is None and is_out_of_range_flag(text):
        return replace(found, flag=text.strip("()[] "))
    if found.units is None and not is_plain_numeric_range(text) and is_unit(text):
        return replace(found, units=text, units_words=words)
    if len(words) > 1 and found.flag is None:
        flag, rest = split_flag_from_unit(words)
        if flag is not None:
            found = replace(found, flag=flag)
            return _take(found, join_word_texts(rest), rest)
    if found.range is None and looks_like_range(text):
        inside, flag = split_range_and_flag(strip_range_label(text))
        return replace(found, range=inside, range_words=words, flag=found.flag or flag)
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
