"""Joins words that a text layer splits by kerning or raised digits."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from reports.parser.pages import Word

# A gap narrower than this share of the font size is kerning, wider is a blank. The
# blank of the narrowest common text font is a quarter of its size.
_BLANK = 0.235
_TIGHT = 0.1
# How far up, in sizes of type: a mark not set smaller, any mark, and where it is put.
_RAISED, _HIGHEST, _RISE = 0.25, 0.9, 0.15
_AREA = re.compile(r"(?:^|[/\d])[cdm]?m[23]$")
_ASCII = "\x7f"
_LEFTWARDS = re.compile("[\u0590-\u08ff\ufb1d-\ufdfd\ufe70-\ufefc]+")


def join_kerned_words(
    words: list[tuple[Word, int]], has_blank: Callable[[int], bool]
) -> list[Word]:
    """Join adjacent words that are apart only by kerning.

    A raised digit after a ten is its exponent and gets a caret, which is how it
    would be typed on one line; after metres it is part of their unit. Any other raised
    mark is a word of its own, on the line of what it stands at.
    """
    joined: list[Word] = []
    for word, before in words:
        last = joined[-1] if joined else None
        if (
            last is None
            or not _belongs(last, word, _BLANK)
            or not (_belongs(last, word, _TIGHT) or not has_blank(before))
        ):
            joined.append(word)
            continue
        if is_right_to_left_script(word.text) and word.x0 < last.x0:
            last, word = word, last
        text = last.text + word.text
        size, bold, red = last.size, last.bold, last.red
        top, bottom = min(last.top, word.top), max(last.bottom, word.bottom)
        if _is_raised(last, word):
            ten = word.text.isdigit() and last.text.endswith("10")
            if not ten and not _AREA.search(text):
                joined.append(_lower(word, last))
                continue
            text = f"{last.text}^{word.text}" if ten else text
            top, bottom = last.top, last.bottom
        joined[-1] = Word(text, last.x0, top, word.x1, bottom, size, bold, red)
    return joined


def _lower(mark: Word, word: Word) -> Word:
    """A raised mark no higher than on the line of the word that it stands at."""
    down = max(0.0, word.middle - _RISE * word.size - mark.middle)
    return mark._replace(top=mark.top + down, bottom=mark.bottom + down)


def is_right_to_left_script(text: str) -> bool:
    """Return whether all letters of a text are of a right-to-left script."""
    return text > _ASCII and bool(_LEFTWARDS.fullmatch(text))


def reorder_right_to_left_word(word: Word) -> Word:
    """Return a right-to-left word with its letters in reading order."""
    if not is_right_to_left_script(word.text):
        return word
    return word._replace(text=unicodedata.normalize("NFKC", word.text[::-1]))


def _belongs(last: Word, word: Word, blank: float) -> bool:
    gap = word[1] - last[3]
    if (
        word[1] < last[1]
        and is_right_to_left_script(word.text)
        and is_right_to_left_script(last.text)
    ):
        gap = last[1] - word[3]
    size = min(last[5], word[5])
    if not -0.3 * last[5] < gap < blank * size:
        return False
    if _is_of_another(last, word) and not _is_raised(last, word):
        return False
    loose = gap > _TIGHT * size and not _is_raised(last, word)
    if loose and not _is_one_word(last.text, word.text):
        return False
    reach = _HIGHEST if _is_raised(last, word) else 0.5
    return abs(last.middle - word.middle) < reach * last.size


def _is_of_another(last: Word, word: Word) -> bool:
    """Whether a word is of another kind than one it touches: 'soit', a bold '4,01'."""
    looks_alike = last.bold == word.bold and abs(last.size - word.size) < 0.1
    before, sign = last.text[-1:], word.text[:1]
    return not looks_alike and before.islower() and (sign.isdigit() or sign.isupper())


def _is_one_word(first: str, second: str) -> bool:
    """Whether two pieces may be one kerned word; an f leans over the blank after it."""
    if is_right_to_left_script(first) and is_right_to_left_script(second):
        return True
    return first[-1:].islower() and second[:1].islower() and not first.endswith("f")


def _is_raised(last: Word, word: Word) -> bool:
    up = (last.bottom - word.bottom) / last.size
    return up > (0.1 if word.size < 0.85 * last.size else _RAISED)
