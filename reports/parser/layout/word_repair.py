"""Repairs words of an image with lost or added blanks.

What it mends is plain from the words themselves: a number in two pieces, a unit grown
onto a number. Letters are changed only inside units, where a capital I is no letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from reports.parser.pages import Word
from reports.parser.text.fields import is_unit
from reports.parser.text.ranges import is_plain_numeric_range
from reports.parser.text.values import (
    COMPARATOR,
    NUMBER,
    is_numeric_value,
    is_worded_value,
)

_TAIL = re.compile(r"[.,]\d{1,3}")
_GROWN = re.compile(
    rf"(?P<first>{COMPARATOR}?{NUMBER}(?:[-–]{NUMBER})?)(?P<second>[^\d.,\s].*)"
)
_UNIT_THEN_RANGE = re.compile(
    rf"(?P<first>\S*?[^\d\s.,<>(\[-])(?P<second>[(\[]?(?:{COMPARATOR})?{NUMBER}"
    rf"(?:[-–]{NUMBER})?[)\]]?)"
)
_UNITS_PER = re.compile(r"^([mkµμu]?)[l1|]U(?=/)")
_PER_UNITS = re.compile(r"^([mkµμu]?U)[l|](?=/)")
_LITRES = frozenset({"I/I", "l/I", "I/l", "|/|", "l/|", "|/l"})
# A stroke that was lost between an amount and a volume.
_STROKE_LOST = re.compile(r"(?P<amount>[munpµμ]?(?:g|mol))(?P<volume>d?L)")
# Signs of units that are read for one another, where what comes out is a unit.
_UNIT_SIGNS = (
    (re.compile(r"(?<=[A-Za-z%]/)([dmuµ]?)[1iI|]$"), r"\1l"),  # g/d1, mmol/I
    (re.compile(r"(?<=\dE\d/|.[\^*]\d/)([uµ]?)[1iI|]$"), r"\1l"),  # 10^3/u1
    (re.compile(r"(?<=mo)[1I|](?=/)"), "l"),
    (re.compile(r"^f[1I|]$"), "fl"),
    (re.compile(r"^(?:([mnpuµ])[9q](?=/)|[9q](?=/d[lL1I]$))"), r"\1g"),  # mq/dL, 9/dL
    (re.compile(r"^([pP])q$"), r"\1g"),
    (re.compile(r"^[°o0]/[o0]$"), "%"),
    (re.compile(r"(?i)(?<=/cu)(?:rnm|mrn|nm|mn|rn|m)$"), "mm"),  # cells/cumrn
    (re.compile(r"(?<=^10)[A~'`´](?=\d+/)|(?<=^[xX]10)[A~'`´](?=\d+/)"), "^"),
    (re.compile(r"^[1I|](?=akhs?/)"), "l"),
    (re.compile(r"^(mi)(?:[1I|]l|l[1I|])(?=(?:ion)?s?/)"), r"\1ll"),
)
# Of a range, in which a point or a dash was taken for a colon, a speck for a point.
_COLON = re.compile(r"(?P<whole>\d+):(?P<rest>\d+\s*[-–]\s*\d+\.\d)")
_COLON_FOR_DASH = re.compile(r"(?P<low>\d+\.\d+):(?P<high>\d+\.\d+)")
# A laboratory's number, raised behind each name: '01', also read as 'o1' and 'a²'.
_LAB_NUMBER = re.compile(r"[0oOaα“\"][1-4²³]")
_NUMBERED = re.compile(r"(?P<name>.*[^\W\d]{3}\)?)(?:0[1-4]|[“\"][1-4])")
_FEWEST_NUMBERED = 4
# Words of titles and labels, by what is left of them where a letter inside was lost.
_LABELS = ("normal", "reference", "interval", "results")
_LETTER_LOST = {
    label[:n] + label[n + 1 :]: label
    for label in _LABELS
    for n in range(1, len(label) - 1)
}
# An amount, in which a comma was taken for a point.
_COMMA = re.compile(rf"{COMPARATOR}?\d{{1,3}},\d{{1,2}}")
_POINT = re.compile(rf"(?P<whole>{COMPARATOR}?\d{{1,3}})\.(?P<rest>\d{{1,2}})")
_FEWEST_COMMAS = 8
_COMMAS_A_POINT = 4
# Between the ends of a range, the first of which was taken for a letter.
_SPANS = frozenset(("-", "–", "a", "à", "to", "bis"))
_HALF = 0.2  # of a size, by which a box may be wrong
_SPECK = re.compile(r"(?P<number>\d+)[.,](?P<dash>[-–])(?=\D*$)")


def repair_misread_words(words: Iterable[Word]) -> list[Word]:
    """Return the same words, in the same order, repaired."""
    mended: list[Word] = []
    for word in _drop_half_signs(list(words)):
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
        text = repair_misread_title_word(
            repair_misread_range(repair_misread_unit(word.text))
        )
        mended.extend(_part(word._replace(text=text)))
    return _with_commas(_drop_lab_numbers(_with_ones(mended)))


def _with_ones(words: list[Word]) -> list[Word]:
    """Ranges that begin with a letter begin with the digit it looks like: 'l a 5'."""
    mended = list(words)
    for n, (word, span, end) in enumerate(
        zip(words, words[1:], words[2:], strict=False)
    ):
        thin = word.text in ("l", "I", "|") and span.text in _SPANS
        if thin and is_numeric_value(end.text) and _is_beside(word, span):
            mended[n] = word._replace(text="1")
    return mended


def _is_beside(last: Word, word: Word) -> bool:
    near = -0.2 < (word.x0 - last.x1) / last.size < 1.2
    return near and abs(word.middle - last.middle) < 0.3 * last.size


def _drop_half_signs(words: list[Word]) -> list[Word]:
    """Drop partial words that were read again inside a larger word's box."""
    return [
        word
        for word in words
        if len(word.text) > 1
        or not any(
            other.x0 < word.x0 - _HALF * word.size
            and word.x1 < other.x1 + _HALF * word.size
            and other.top < word.middle < other.bottom
            for other in words
            if len(other.text) > 1
        )
    ]


def _drop_lab_numbers(words: list[Word]) -> list[Word]:
    """A page's words without the small numbers that stand behind most of its names."""
    behind = [
        n
        for n in range(1, len(words))
        if _LAB_NUMBER.fullmatch(words[n].text) and _is_numbered(words[n - 1], words[n])
    ]
    grown = [n for n, word in enumerate(words) if _NUMBERED.fullmatch(word.text)]
    if len(behind) + len(grown) < _FEWEST_NUMBERED:
        return words
    kept = list(words)
    for n in grown:
        kept[n] = words[n]._replace(text=_NUMBERED.sub(r"\g<name>", words[n].text))
    return [word for n, word in enumerate(kept) if n not in set(behind)]


def _is_numbered(name: Word, number: Word) -> bool:
    near = -0.2 < (number.x0 - name.x1) / name.size < 0.5
    return near and bool(re.search(r"[^\W\d]{2}\)?$", name.text))


def _with_commas(words: list[Word]) -> list[Word]:
    """Points as commas on a page whose other amounts have commas."""
    commas = sum(bool(_COMMA.fullmatch(word.text)) for word in words)
    points = [n for n, word in enumerate(words) if _POINT.fullmatch(word.text)]
    if commas < _FEWEST_COMMAS or len(points) * _COMMAS_A_POINT > commas:
        return words
    mended = list(words)
    for n in points:
        text = _POINT.sub(r"\g<whole>,\g<rest>", words[n].text)
        mended[n] = words[n]._replace(text=text)
    return mended


def repair_misread_unit(text: str) -> str:
    """Return a unit with l, I and 1 corrected where one was read for another."""
    if "U/" in text:
        text = _UNITS_PER.sub(r"\1IU", text)
    if "/" in text:
        text = "l/l" if text in _LITRES else _PER_UNITS.sub(r"\1I", text)
    if text.endswith(("I", "/1")) and not text[:-2].isdigit():
        litre = f"{text[:-1]}l"
        if "/" in text and is_unit(litre):
            return litre
    if match := _STROKE_LOST.fullmatch(text):
        return f"{match['amount']}/{match['volume']}"
    mended = text
    for signs, right in _UNIT_SIGNS:
        mended = signs.sub(right, mended)
    return mended if mended != text and is_unit(mended) else text


def repair_misread_title_word(text: str) -> str:
    """Return a title word with the letter that was lost: 'Nomal' as 'Normal'."""
    whole = _LETTER_LOST.get(text.casefold())
    if whole is None:
        return text
    return whole.upper() if text.isupper() else text[0] + whole[1:]


def repair_misread_range(text: str) -> str:
    """Return a range with its points, where a colon or a speck was read."""
    if ":" in text:
        text = _COLON.sub(r"\g<whole>.\g<rest>", text)
        text = _COLON_FOR_DASH.sub(r"\g<low>-\g<high>", text)
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
    if match and is_unit(match["first"]) and is_plain_numeric_range(match["second"]):
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
