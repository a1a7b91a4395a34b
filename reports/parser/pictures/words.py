"""Splits a line as read into words with exact boxes.

The recogniser says which signs there are and roughly where; the ink says where words
begin and end, how large the letters are, and which digits are raised. Nothing here
knows of pages or of laboratories.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .engine import LINE_HEIGHT, Reading, Sign
from .ink import (
    Run,
    find_decimal_points_in_line,
    find_ink_pixels,
    find_inked_column_runs,
    is_ink_red,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Picture = NDArray[np.uint8]
    Mask = NDArray[np.bool_]

# In ems. The blank of a narrow font is a quarter and the paper beside its letters; the
# ink of two digits one stands up to a third apart, a point of a typewriter's more.
_BLANK = 0.3
_TURN = 0.24
_DASH = 0.22
_THIN = 0.1
_COLON = 0.36
_POINT = 0.6
_NO_BLANK = 0.09
# In steps of a typewriter.
_BLANK_STEP = 1.6
_LIKELY_STEP = 1.3
_MANY_STEPS = 6
# In ems of the font itself, whose capitals may be of any height.
_ADVANCE = 0.6
# A narrow letter of a typewriter takes as much paper as any, a little less than half
# a step to each side.
_HALF_STEP = 0.4
_NARROW = frozenset("1Iil|!'")
_POINT_LOST = 0.3
_POINTS = frozenset(".,")
_COLONS = frozenset(":;")
# The paper that belongs to a letter, beside its ink.
_BEFORE, _AFTER = 0.025, 0.055
_MARKS = frozenset("▲▼△▽↑↓←→●■◆★☆✓")
_TALL = 0.72
_SMALL = 0.52
_TAIL = 0.21
_LESSER = 0.83
_ABOVE, _BELOW = 0.9, 0.22
_LITRE = frozenset("Ll")
# Of a letter beside a stroke: from the middle of one to the end of the other.
_LETTER, _INKED = 0.45, 0.6
_TAILED = frozenset("gjpqyQ,;()[]{}/|µ_$@рудцщфДЦЩβγζημξρςφχψ")
_LOW = frozenset(
    "acemnorsuvwxzgpqy.,:;-–—_=~<>+*·µавгдежзиклмнопрстухцчшщъыьэюяαγεηικμνοπρςστυχω"
)


class Piece(NamedTuple):
    """A word of a line, in pixels of the line's picture.

    top and bottom are those of the font, not of the ink; em is the font's size.
    """

    text: str
    x0: float
    x1: float
    top: float
    bottom: float
    em: float
    sure: float
    red: bool


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredLine:
    """A line, its ink in runs of columns, and the run each sign stands in.

    em is 0 where no letter or digit tells the size of the font. centres are where
    the signs stand. steps are the distances of neighbours, for those that touch none.
    """

    line: Picture
    ink: Mask
    reading: Reading
    signs: tuple[Sign, ...]
    runs: tuple[Run, ...]
    homes: tuple[int, ...]
    centres: tuple[float, ...]
    steps: tuple[float, ...]
    em: float
    baseline: float


def measure_line_signs(reading: Reading, line: Picture) -> MeasuredLine | None:
    """Measure a line, LINE_HEIGHT high; None where there is no ink or no sign."""
    ink = find_ink_pixels(line)
    runs = find_inked_column_runs(ink)
    signs = tuple(sign for sign in reading.signs if not sign.text.isspace())
    if not signs or not runs:
        return None
    homes = _homes(signs, runs, line.shape[1])
    em, baseline = _measure(signs, homes, runs)
    alone = [homes.count(home) == 1 for home in homes]
    centres = [
        (runs[home].start + runs[home].end) / 2 if single else sign.at * line.shape[1]
        for sign, home, single in zip(signs, homes, alone, strict=True)
    ]
    followed = _followed(reading.signs)
    steps = [
        centres[n + 1] - centres[n]
        for n in range(len(signs) - 1)
        if alone[n] and alone[n + 1] and followed[n]
    ]
    return MeasuredLine(
        line,
        ink,
        reading,
        signs,
        tuple(runs),
        tuple(homes),
        tuple(centres),
        tuple(steps),
        em,
        baseline,
    )


def measure_isolated_signs(measured: MeasuredLine) -> MeasuredLine:
    """Return the measures of a line from only its signs that touch no other.

    A pen's stroke joins the signs it crosses, and reaches below them.
    """
    homes = measured.homes
    alone = [n for n, home in enumerate(homes) if homes.count(home) == 1]
    if not alone:
        return measured
    signs = [measured.signs[n] for n in alone]
    em, baseline = _measure(signs, [homes[n] for n in alone], measured.runs)
    return replace(measured, em=em, baseline=baseline)


def _followed(signs: Sequence[Sign]) -> list[bool]:
    """For each sign that is no blank, whether the next one follows without any."""
    blanks = [sign.text.isspace() for sign in signs]
    return [
        n + 1 < len(signs) and not blanks[n + 1]
        for n, blank in enumerate(blanks)
        if not blank
    ]


def find_monospace_pitch(lines: Sequence[MeasuredLine]) -> float:
    """Return the pitch of a typewriter font, in ems; 0 if it is none.

    Digits stand evenly in most fonts, so lines of mixed signs must do too.
    """
    pitches = []
    even = asked = 0
    for line in lines:
        if len(line.steps) < _MANY_STEPS or not line.em:
            continue
        usual = median(line.steps)
        near = sum(1 for step in line.steps if abs(step - usual) < 0.1 * usual)
        asked += 1
        if near > 0.75 * len(line.steps):
            even += 1
            pitches.append(usual / line.em)
    return median(pitches) if asked >= 3 and even > 0.7 * asked else 0.0


def split_line_into_words(
    measured: MeasuredLine, *, em: float, pitch: float = 0
) -> list[Piece]:
    """Split a line into its words.

    em: the size of its font in pixels of the line; pitch: of a typewriter font, in
    ems.
    """
    signs, runs, homes = measured.signs, measured.runs, measured.homes
    width = measured.line.shape[1]
    baseline = measured.baseline
    font = em * pitch / _ADVANCE if pitch else em
    if not measured.em:
        middle = median((runs[home].top + runs[home].bottom) / 2 for home in homes)
        baseline = middle + (_ABOVE - _BELOW) / 2 * em
    raised = _raised(signs, homes, runs, em, baseline)
    pieces = []
    for group in _groups(measured, em, pitch):
        for part in _strip_footnotes(group, signs, raised):
            members = [signs[n] for n in part]
            first, last = runs[homes[part[0]]], runs[homes[part[-1]]]
            x0, x1 = _edges(members, first, last, width, em)
            small = raised[part[0]]
            if pitch and not small:
                half = _HALF_STEP * pitch * em
                x0 = max(0.0, min(x0, measured.centres[part[0]] - half))
                x1 = min(float(width), max(x1, measured.centres[part[-1]] + half))
            foot = float(first.bottom) if small else baseline
            size = (first.bottom - first.top) / _TALL if small else font
            pieces.append(
                Piece(
                    _text(part, measured, raised, em),
                    x0,
                    x1,
                    foot - _ABOVE * size,
                    foot + _BELOW * size,
                    size,
                    _word_confidence(measured, part, em, baseline),
                    is_ink_red(measured.line, measured.ink, x0, x1),
                )
            )
    return _apart(pieces)


def _homes(signs: Sequence[Sign], runs: Sequence[Run], width: int) -> list[int]:
    """The run each sign stands in or next to, never going back."""
    homes = []
    least = 0
    for sign in signs:
        x = sign.at * width
        nearest = min(
            range(least, len(runs)),
            key=lambda n: max(runs[n].start - x, x - runs[n].end, 0.0),
        )
        homes.append(nearest)
        least = nearest
    return homes


def _measure(
    signs: Sequence[Sign], homes: Sequence[int], runs: Sequence[Run]
) -> tuple[float, float]:
    """The em, 0 if unknown, and the baseline, from the ink and the letters in it."""
    tops, bottoms = [], []
    # Letters that touch share a run, which then hangs as low as any of them.
    tailed = {
        home
        for sign, home in zip(signs, homes, strict=True)
        if sign.text in _TAILED or not sign.text.isalnum()
    }
    for sign, home in zip(signs, homes, strict=True):
        if sign.text.isalnum() and sign.text not in _LOW and not _is_joined(sign.text):
            tops.append(runs[home].top)
        if home not in tailed:
            bottoms.append(runs[home].bottom)
    used = [runs[home] for home in homes]
    ink_top = min(run.top for run in used)
    ink_bottom = max(run.bottom for run in used)
    if bottoms:
        baseline = float(np.median(bottoms))
    else:
        hangs = any(sign.text in _TAILED for sign in signs)
        share = _TAIL / (_TALL + _TAIL) if hangs else 0.0
        baseline = ink_bottom - share * (ink_bottom - ink_top)
    if tops:
        em = (baseline - float(np.median(tops))) / _TALL
    elif any(sign.text in _LOW for sign in signs if sign.text.isalnum()):
        em = (baseline - ink_top) / _SMALL
    else:
        em = 0.0
    likely = 0.45 * LINE_HEIGHT < em < 1.3 * LINE_HEIGHT
    return em if likely else 0.0, baseline


def _is_joined(text: str) -> bool:
    """Whether a letter is of a script without capitals, as Arabic and Devanagari."""
    return "\u0590" <= text < "\u1000"


def _groups(measured: MeasuredLine, em: float, pitch: float) -> list[list[int]]:
    """Indices of the signs that are no blanks, word by word."""
    followed = _followed(measured.reading.signs)
    signs, homes = measured.signs, measured.homes
    groups = [[0]]
    for n in range(1, len(signs)):
        blank = not followed[n - 1]
        if pitch:
            step = (measured.centres[n] - measured.centres[n - 1]) / em / pitch
            apart = step > (_LIKELY_STEP if blank else _BLANK_STEP)
        else:
            gap = _gap(measured.runs, homes[n - 1], homes[n]) / em
            last, text = signs[n - 1].text, signs[n].text
            if blank:
                apart = homes[n] == homes[n - 1] or gap > _NO_BLANK
            elif {last, text} & _MARKS:
                apart = gap > _NO_BLANK
            else:
                apart = gap > _blank_between(last, text)
        if apart:
            groups.append([n])
        else:
            groups[-1].append(n)
    return groups


def _gap(runs: Sequence[Run], first: int, second: int) -> float:
    """The widest stretch without ink from one run to a later one."""
    return max(
        (runs[n + 1].start - runs[n].end for n in range(first, second)), default=0.0
    )


def _blank_between(before: str, after: str) -> float:
    """Return the gap, in ems, that means a blank between two signs."""
    both = {before, after}
    if both & _POINTS:
        return _POINT if before.isdigit() or after.isdigit() else _COLON
    if both & _COLONS:
        return _COLON
    thin = _THIN if both & _NARROW else 0.0
    if before.isalnum() and after.isalnum():
        turns = before.isalpha() and after.isdigit()
        return (_TURN if turns else _BLANK) + thin
    return _DASH + thin


def _edges(
    members: Sequence[Sign], first: Run, last: Run, width: int, em: float
) -> tuple[float, float]:
    """Where a word's ink begins and ends; by its signs where the ink has merged."""
    left, right = members[0].at * width, members[-1].at * width
    x0 = first.start if left - first.start < 0.9 * em else left - 0.3 * em
    x1 = last.end if last.end - right < 0.9 * em else right + 0.3 * em
    x1 = max(x1, x0 + 1)
    return max(0.0, x0 - _BEFORE * em), min(float(width), x1 + _AFTER * em)


def _word_confidence(
    measured: MeasuredLine, part: Sequence[int], em: float, baseline: float
) -> float:
    """Return a word's confidence: its worst sign's, less if a point was lost.

    A number with a dot of ink between its digits that no sign stands for may be ten
    times too large. It is not corrected, for the dot may be dirt.
    """
    signs = [measured.signs[n] for n in part]
    sure = round(min(sign.sure for sign in signs), 3)
    if sum(sign.text.isdigit() for sign in signs) < 2:
        return sure
    first, last = measured.centres[part[0]], measured.centres[part[-1]]
    points = sum(sign.text in _POINTS | _COLONS for sign in signs)
    dots = find_decimal_points_in_line(measured.ink, em=em, baseline=baseline)
    if sum(first < x < last for x in dots) > points:
        return min(sure, _POINT_LOST)
    return sure


def _raised(
    signs: Sequence[Sign],
    homes: Sequence[int],
    runs: Sequence[Run],
    em: float,
    baseline: float,
) -> list[bool]:
    """Whether each sign is a small letter or digit above the line."""
    return [
        sign.text.isalnum()
        and homes.count(home) == 1
        and runs[home].bottom < baseline - 0.2 * em
        and runs[home].bottom - runs[home].top < _LESSER * _height(sign.text) * em
        for sign, home in zip(signs, homes, strict=True)
    ]


def _height(text: str) -> float:
    """How high a letter or digit of the line's own size is, in ems."""
    low = text in _LOW and text not in _TAILED
    return _SMALL if low else _TALL


def _strip_footnotes(
    group: Sequence[int], signs: Sequence[Sign], raised: Sequence[bool]
) -> list[list[int]]:
    """Split a raised footnote mark off a word, powers of ten aside.

    Where a line leans, letters may seem raised: a letter is a mark behind digits only.
    """
    for place in range(1, len(group)):
        n = group[place]
        if not raised[n] or raised[n - 1]:
            continue
        before = "".join(signs[m].text for m in group[:place])
        mark = "".join(signs[m].text for m in group[place:])
        power = before.endswith("10") or ("/" in before and before.endswith("m"))
        if power or (mark[0].isalpha() and not before[-1].isdigit()):
            continue
        return [list(group[:place]), list(group[place:])]
    return [list(group)]


def _text(
    part: Sequence[int], measured: MeasuredLine, raised: Sequence[bool], em: float
) -> str:
    """The word's text, with a caret where digits after a ten stand raised.

    Ink that was not read, between a stroke and a litre, is of the sign for a millionth.
    """
    text, signs = "", measured.signs
    for n in part:
        if text.endswith("/") and signs[n].text in _LITRE:
            text += "µ" * _is_letter_unread(measured, n, em)
        lifted = raised[n] and not (text and raised[n - 1])
        if lifted and text.endswith("10") and signs[n].text.isdigit():
            text += "^" + unicodedata.normalize("NFKC", signs[n].text)
        else:
            text += signs[n].text
    return text


def _is_letter_unread(measured: MeasuredLine, n: int, em: float) -> bool:
    """Whether there is ink for one more letter between a sign and the one before it."""
    start = measured.signs[n - 1].at * measured.line.shape[1]
    end = measured.runs[measured.homes[n]].start
    if end - start < _LETTER * em:
        return False
    inked = measured.ink[:, int((start + end) / 2) : end].any(axis=0)
    return float(inked.mean()) > _INKED


def _apart(pieces: Sequence[Piece]) -> list[Piece]:
    """Pieces that do not lie over each other."""
    kept: list[Piece] = []
    for piece in pieces:
        if kept and piece.x0 < kept[-1].x1:
            middle = (piece.x0 + kept[-1].x1) / 2
            kept[-1] = kept[-1]._replace(x1=middle)
            piece = piece._replace(x0=middle, x1=max(piece.x1, middle + 1))
        kept.append(piece)
    return kept
