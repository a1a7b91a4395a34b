"""Finds lines in a script that the OCR models can't read, and has them read.

The models answer such letters with nothing, or with letters that look alike, but read
digits in any script. So digits stay as the models read them, and letters are those of
tesseract, or the page is not read at all: nothing is made of letters half read.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import cv2
import numpy as np

from portal.lib.tesseract import (
    OCR_LANGUAGES,
    detect_script,
    list_ocr_languages,
    read_words,
)
from portal.lib.units import looks_like_unit
from reports.parser.report import Script

from .engine import LINE_HEIGHT, Reading, Sign
from .ink import find_ink_pixels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Picture = NDArray[np.uint8]

_FEW_LINES = 4
_UNSURE = 0.6
_SURE = 0.9
_NEAR = 0.2
_APART = 0.5
_REACH = 0.6  # of a line's height: how far the ink of a sign lies from its middle
_GREEK, _MANY, _WORD = 0.25, 20, 4  # share, and number of letters
_UNREAD = 0.5
_LEAST_SURE, _DISPUTED = 0.5, 0.4
_MARK = 1.5  # in heights: what is no wider may be an arrow or a speck
_READ = frozenset({"latin", "han", "japanese", "fraktur"})


_RULES = "|[]_—"  # of tables, taken for letters
_RULE = 0.9
_MARGIN = 24  # pixels of paper around each line
_ENOUGH, _ALONE = 0.6, 12


class SeenWord(NamedTuple):
    """A word of a line: its ends in pixels, and its confidence, 0 to 1."""

    text: str
    x0: float
    x1: float
    sure: float


class PageScript(NamedTuple):
    """The script of a page that the models can't read, and if it is upside down."""

    script: Script
    turned: bool = False


def find_foreign_script(
    lines: Sequence[Picture], readings: Sequence[Reading]
) -> PageScript | None:
    """Return the script of a page of lines; None if the models can read it.

    Without tesseract a script is found only on a page whose digits are clear: what is
    blurred is in no other script.
    """
    inks = [_measure_ink(*pair) for pair in zip(lines, readings, strict=True)]
    unread = [line for line, (lost, _) in zip(lines, inks, strict=True) if lost]
    lost, read = np.sum(inks, axis=0) if inks else (0, 0)
    if len(unread) >= _FEW_LINES and lost > _UNREAD * (lost + read):
        seen = detect_script(_draw_lines(unread))
        if seen is not None:
            name, turned = seen
            return None if name in _READ else PageScript(_named(name), turned)
        digits = sum(r.sure >= _SURE and _is_number(r.text) for r in readings)
        return PageScript(Script.OTHER) if digits >= _FEW_LINES else None
    return PageScript(Script.GREEK) if _is_greek(readings) else None


def read_foreign_lines(
    lines: Sequence[Picture],
    readings: Sequence[Reading],
    spans: Sequence[tuple[float, float]],
    script: Script,
) -> list[Reading] | None:
    """Return what lines of a page in a script say; None if nothing can read it.

    spans: where each line begins and ends, going down. A line beside one that stays
    unread says nothing, as its value would be taken for that of another name.
    """
    languages = [n for n in OCR_LANGUAGES.get(script, ()) if n in list_ocr_languages()]
    if not languages:
        return None
    found = list(readings)
    asked = [n for n, line in enumerate(lines) if _is_doubtful(line, readings[n])]
    words = _see_lines([lines[n] for n in asked], languages)
    lost = []
    for n, seen in zip(asked, words, strict=True):
        found[n] = merge_readings(readings[n], seen, lines[n].shape[1], script)
        name = lines[n].shape[1] > _MARK * LINE_HEIGHT and "/" not in readings[n].text
        if found[n].sure < _LEAST_SURE and name:
            lost.append(sum(spans[n]) / 2)
    return [
        Reading((), 0.0) if any(top < y < bottom for y in lost) else reading
        for reading, (top, bottom) in zip(found, spans, strict=True)
    ]


def _see_lines(lines: Sequence[Picture], languages: list[str]) -> list[list[SeenWord]]:
    """The words of each line; what is lost among the others is looked at alone."""
    seen = _see_words(lines, languages)
    doubtful = [n for n, words in enumerate(seen) if _mean(words) < _ENOUGH]
    for n in doubtful[:_ALONE]:
        (alone,) = _see_words([lines[n]], languages)
        seen[n] = max(seen[n], alone, key=_mean)
    return seen


def _see_words(lines: Sequence[Picture], languages: list[str]) -> list[list[SeenWord]]:
    seen: list[list[SeenWord]] = [[] for _ in lines]
    if not lines:
        return seen
    step = LINE_HEIGHT + _MARGIN
    picture = _draw_lines(lines)
    for word in read_words(picture, languages=languages, one_line=len(lines) == 1):
        n = int((word.top + word.height / 2 - _MARGIN / 2) / step)
        text = word.text.strip(_RULES)
        if text and 0 <= n < len(lines):
            x0 = float(word.left - _MARGIN)
            seen[n].append(SeenWord(text, x0, x0 + word.width, word.confidence))
    return seen


def _mean(words: Sequence[SeenWord]) -> float:
    return sum(word.sure for word in words) / len(words) if words else 0.0


def _draw_lines(lines: Sequence[Picture]) -> bytes:
    """A PNG of lines one below the other, in grey on white, without rules of tables."""
    width = max(line.shape[1] for line in lines) + 2 * _MARGIN
    sheet = np.full((len(lines) * (LINE_HEIGHT + _MARGIN) + _MARGIN, width), 255)
    for n, line in enumerate(lines):
        grey = cv2.cvtColor(line, cv2.COLOR_BGR2GRAY)
        grey = 255 - grey if np.median(grey) < 128 else grey
        ink = find_ink_pixels(line)
        ink[:, ink.mean(axis=0) > _RULE] = False
        near = cv2.dilate(ink.astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
        top = n * (LINE_HEIGHT + _MARGIN) + _MARGIN
        part = sheet[top : top + LINE_HEIGHT, _MARGIN : _MARGIN + line.shape[1]]
        part[near] = grey[near]
    return cv2.imencode(".png", sheet.astype(np.uint8))[1].tobytes()


def find_cuts_of_line(line: Picture, reading: Reading) -> list[float]:
    """Return the shares of the width at which to cut a line half read.

    Beside letters that the models can't read they lose digits as well.
    """
    if not any(s.isdigit() for s in reading.text) or not _measure_ink(line, reading)[0]:
        return []
    ink = np.flatnonzero(find_ink_pixels(line).any(axis=0))
    wide = np.flatnonzero(np.diff(ink) > _APART * LINE_HEIGHT)
    return [float(ink[n] + ink[n + 1]) / 2 / line.shape[1] for n in wide]


def _is_greek(readings: Sequence[Reading]) -> bool:
    words = [word for r in readings for word in r.text.split() if len(word) >= _WORD]
    letters = [sign for word in words for sign in word if sign.isalpha()]
    greek = sum(unicodedata.name(sign, "").startswith("GREEK") for sign in letters)
    return greek >= _GREEK * len(letters) and greek >= _MANY


def _measure_ink(line: Picture, reading: Reading) -> tuple[int, int]:
    """Columns of ink that no sign explains, and those of letters that were read."""
    ink = np.flatnonzero(find_ink_pixels(line).any(axis=0))
    at = np.array([s.at for s in reading.signs if not s.text.isspace()])
    if reading.sure < _UNSURE or not len(at):
        return len(ink), 0
    apart = np.abs(ink[:, None] - at * line.shape[1]).min(axis=1, initial=LINE_HEIGHT)
    lost = int(np.count_nonzero(apart > _REACH * LINE_HEIGHT))
    lost = lost if lost > LINE_HEIGHT else 0
    return lost, 0 if _is_number(reading.text) else len(ink) - lost


def _is_doubtful(line: Picture, reading: Reading) -> bool:
    """Whether a line is neither a number nor a unit, nor surely a word in Latin."""
    text = reading.text
    said = any(sign.isalnum() for sign in text)
    if not said or reading.sure < _UNSURE or _measure_ink(line, reading)[0]:
        return True
    latin = text.isascii() and sum(sign.isalpha() for sign in text) >= _WORD
    word = latin and reading.sure >= _SURE and not text.isupper()
    return not (word or _is_number(text) or looks_like_unit(text))


def _named(name: str) -> Script:
    return Script(name) if name in set(Script) else Script.OTHER


def _is_number(text: str) -> bool:
    return any(s.isdigit() for s in text) and not any(s.isalpha() for s in text)


def merge_readings(
    reading: Reading, seen: Sequence[SeenWord], width: int, script: Script
) -> Reading:
    """Return letters as seen by tesseract, digits as the models read them."""
    words = sorted(seen, key=lambda word: word.x0)
    if script is Script.ARABIC:
        words = _place_leftward_words(words)
    parts = []
    for word in words:
        own = [s for s in reading.signs if word.x0 <= s.at * width <= word.x1]
        parts.append(_signs_of(word, own, width))
    edge = _NEAR * LINE_HEIGHT
    inside = [((w.x0 - edge) / width, (w.x1 + edge) / width) for w in words]
    run: list[Sign] = []
    for sign in reading.signs if words else ():
        inner = any(x0 <= sign.at <= x1 for x0, x1 in inside)
        if inner or sign.text.isspace() or sign.text.isalpha():
            run = []
        elif run:
            run.append(sign)
        elif sign.text.isdigit():
            run = [sign]
            parts.append(run)
    signs: list[Sign] = []
    for part in sorted(parts, key=lambda part: part[0].at):
        if signs:
            signs.append(Sign(" ", (signs[-1].at + part[0].at) / 2, 1.0))
        signs += part
    sure = [sign.sure for sign in signs]
    return Reading(tuple(signs), sum(sure) / len(sure) if sure else 0.0)


def _place_leftward_words(words: Sequence[SeenWord]) -> list[SeenWord]:
    """Words that are said from right to left, in the places of each other."""
    placed: list[SeenWord] = []
    for _, group in groupby(words, key=lambda w: any(s.isdigit() for s in w.text)):
        own = list(group)
        said = [word.text for word in reversed(own)]
        placed += [w._replace(text=t) for w, t in zip(own, said, strict=True)]
    return placed


def _signs_of(word: SeenWord, own: Sequence[Sign], width: int) -> list[Sign]:
    """The signs of one word of tesseract, given the models' own of the same place."""
    text = "".join(sign.text for sign in own)
    if _is_number(text) and not any(s.isalpha() for s in word.text):
        agreed = [s for s in text if s.isdigit()] == [
            s for s in word.text if s.isdigit()
        ]
        least = 1.0 if agreed else _DISPUTED
        return [sign._replace(sure=min(sign.sure, least)) for sign in own]
    head: list[Sign] = []
    shown = word
    if "/" in text and "/" in word.text and text[0].isdigit():
        cut = next(n for n, sign in enumerate(own) if "/" in sign.text)
        head = [
            s._replace(text=unicodedata.normalize("NFKC", s.text)) for s in own[:cut]
        ]
        shown = word._replace(
            text=word.text[word.text.index("/") :], x0=own[cut].at * width
        )
    elif _is_number(word.text) or ("/" in text and "/" not in word.text):
        shown = word._replace(sure=min(word.sure, _DISPUTED))
    step = (shown.x1 - shown.x0) / len(shown.text)
    return head + [
        Sign(sign, (shown.x0 + (n + 0.5) * step) / width, shown.sure)
        for n, sign in enumerate(shown.text)
    ]
