"""Words of a picture mended where its reader lost or put in a blank.

What it mends is plain from the words themselves: a number in two pieces, a unit grown
onto a number. Letters are changed only inside units, where a capital I is no letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .fields import is_unit
from .pages import Word
from .ranges import is_plain_range
from .values import COMPARATOR, NUMBER, is_numeric_value, is_worded_value

_TAIL = re.compile(r"[.,]\d{1,3}")
_GROWN = re.compile(
    rf"(?P<first>{COMPARATOR}?{NUMBER}(?:[-–]{NUMBER})?)(?P<second>[^\d.,\s].*)"
)
_UNIT_THEN_RANGE = re.compile(
    rf"(?P<first>\S*?[^\d\s.,<>(\[-])(?P<second>[(\[]?(?:{COMPARATOR})?{NUMBER}"
    rf"(?:[-–]{NUMBER})?[)\]]?)"
)
_UNITS_PER = re.compile(r"^([mkµμu]?)[l1|]U(?=/)")
# A stroke that was lost between an amount and a volume.
_STROKE_LOST = re.compile(r"(?P<amount>[munpµμ]?(?:g|mol))(?P<volume>d?L)")
# Of a range, in which a point was taken for a colon or a speck for a point.
_COLON = re.compile(r"(?P<whole>\d+):(?P<rest>\d+\s*[-–]\s*\d+\.\d)")
_SPECK = re.compile(r"(?P<number>\d+)[.,](?P<dash>[-–])(?=\D*$)")


def mend_words(words: Iterable[Word]) -> list[Word]:
    """The same words, in the same order, mended."""
    mended: list[Word] = []
    for word in words:
        last = mended[-1] if mended else None
        if last is not None and _is_tail(last, word):
            mended[-1] = last._replace(
                text=last.text + word.text, x1=word.x1, sure=min(last.sure, word.sure)
            )
            continue
        if last is not None and _is_broken_finding(last, word):
            mended[-1] = last._replace(
                text=last.text + word.text, x1=word.x1, sure=min(last.sure, word.sure)
            )
            continue
        text = mend_range(mend_unit(word.text))
        mended.extend(_part(word._replace(text=text)))
    return mended


def mend_unit(text: str) -> str:
    """A unit as printed where l, I and 1 were taken for one another."""
    if "U/" in text:
        text = _UNITS_PER.sub(r"\1IU", text)
    if text.endswith(("I", "/1")) and not text[:-2].isdigit():
        litre = f"{text[:-1]}l"
        if "/" in text and is_unit(litre):
            return litre
    if match := _STROKE_LOST.fullmatch(text):
        return f"{match['amount']}/{match['volume']}"
    return text


def mend_range(text: str) -> str:
    """A range as printed where a colon or a speck is in the place of its points."""
    if ":" in text:
        text = _COLON.sub(r"\g<whole>.\g<rest>", text)
    return _SPECK.sub(r"\g<number>\g<dash>", text)


def _is_tail(last: Word, word: Word) -> bool:
    """Whether a word is the end of the number before it: '1' and '.94'."""
    if not _TAIL.fullmatch(word.text) or not last.text[-1:].isdigit():
        return False
    near = -0.2 < (word.x0 - last.x1) / last.size < 0.5
    return near and abs(word.middle - last.middle) < 0.3 * last.size


def _is_broken_finding(last: Word, word: Word) -> bool:
    """Whether two words are one finding with a blank put in: 'Pos' and 'itive'."""
    if not word.text[:1].islower() or not last.text[:1].isalpha():
        return False
    near = -0.2 < (word.x0 - last.x1) / last.size < 0.5
    if not near or abs(word.middle - last.middle) > 0.3 * last.size:
        return False
    return is_worded_value(last.text + word.text) and not is_worded_value(word.text)


def _part(word: Word) -> list[Word]:
    """A word cut between a number and a unit, or a unit and a range."""
    if is_unit(word.text) or is_numeric_value(word.text):
        return [word]
    match = _GROWN.fullmatch(word.text)
    if match and len(match["second"]) > 1 and is_unit(match["second"]):
        return _cut(word, match["first"], match["second"])
    match = _UNIT_THEN_RANGE.fullmatch(word.text)
    if match and is_unit(match["first"]) and is_plain_range(match["second"]):
        return _cut(word, match["first"], match["second"])
    return [word]


def _cut(word: Word, first: str, second: str) -> list[Word]:
    share = len(first) / len(word.text)
    x = word.x0 + share * (word.x1 - word.x0)
    gap = 0.15 * word.size
    return [
        word._replace(text=first, x1=x - gap),
        word._replace(text=second, x0=x + gap),
    ]
