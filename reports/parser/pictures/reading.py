"""Reads the words of an image of a page.

Puts the steps together: level the picture, find lines, make sure they stand upright,
read them, part them into words, and lay the words out in points.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import cv2
import numpy as np

from reports.parser.pages import Page, Word
from reports.parser.text.spelling import count_misspelled_test_words
from reports.parser.text.values import is_numeric_value

from .engine import LINE_HEIGHT, Engine, Reading, crop_line_image
from .levelling import fit_page_levelling
from .missed import find_gaps_of_columns, find_missed_text_areas
from .repair import repair_misread_word
from .scripts import find_cuts_of_line, find_foreign_script, read_foreign_lines
from .skew import find_page_skew_degrees
from .view import (
    View,
    apply_homography_to_points,
    rotate_page_image_by_degrees,
    scale_page_image,
    turn_page_image_by_quarters,
)
from .words import (
    Piece,
    find_monospace_pitch,
    measure_isolated_signs,
    measure_line_signs,
    split_line_into_words,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Picture = NDArray[np.uint8]
    Quad = NDArray[np.float32]
    Quads = NDArray[np.float32]
    Matrix = NDArray[np.float64]

# The detector's cost grows with the square of this; small print is lost below it.
_DETECTED_SIDE = 1440
_LEVEL = 0.3  # degrees
_LEAST_SURE = 0.5
_SURE_ALONE = 0.9
_FLAGS = frozenset("<>%")
# Dirt is found as lines too, so a page with words enough is read whatever their share.
_LEAST_LEGIBLE = 0.5
_MANY_WORDS = 30
_CLEARLY_UPRIGHT = 0.9
_SAMPLE, _MORE, _BEST = 8, 24, 75
# Of a line looked at again: what is cut off of its height, and how it is stretched.
_CLOSER = 0.08
_WIDER = 1.2
_COMMON_EM = range(6, 15)
_USUAL_EM = 9.0


class _Line(NamedTuple):
    quad: NDArray[np.float32]
    em: float
    pieces: list[Piece]


def read_page_from_image(
    view: View, *, number: int, size: tuple[float, float], engine: Engine
) -> Page:
    """Read the page in an image: find its lines, and read their words.

    size: width and height of the page as shown, in the units of view.to_page. Words
    stand in upright text of about the usual letter size; Page.shown leads back. A page
    of whose lines most can't be read is not legible.
    """
    upright, quads = _stand_upright(view, engine)
    quads = np.concatenate([quads, _find_missed(upright, quads, engine)])
    crops, readings = _read_crops(upright, quads, engine)
    foreign = find_foreign_script(crops, readings)
    if foreign and foreign.turned:
        upright, quads = _turn_over(upright, quads)
        crops, readings = _read_crops(upright, quads, engine)
    if foreign:
        cut = _cut_quads(quads, crops, readings)
        if len(cut) > len(quads):
            quads = cut
            crops, readings = _read_crops(upright, quads, engine)
        spans = list(zip(quads[:, 0, 1], quads[:, 3, 1], strict=True))
        found = read_foreign_lines(crops, readings, spans, foreign.script)
        if found is None:
            return Page(number, *size, words=(), legible=False, script=foreign.script)
        readings = found
    lines = _measure_lines(quads, crops, readings)
    words, back = _build_page(lines, upright)
    return Page(
        number=number,
        width=size[0],
        height=size[1],
        words=tuple(words),
        to_shown=tuple(float(part) for part in (back / back[2, 2]).ravel()),
        legible=len(words) >= _MANY_WORDS or len(lines) >= _LEAST_LEGIBLE * len(quads),
    )


def _stand_upright(view: View, engine: Engine) -> tuple[View, Quads]:
    """The picture with its lines level and on their feet, and where they are."""
    view = _level(view)
    quads = _find_lines(view, engine)
    if _stand_on_end(quads):
        view = _level(turn_page_image_by_quarters(view, 1))
        quads = _find_lines(view, engine)
    if len(quads) and not _is_upright(view, quads, engine):
        return _turn_over(view, quads)
    return view, quads


def _turn_over(view: View, quads: Quads) -> tuple[View, Quads]:
    corner = np.array([view.width, view.height], np.float32)
    turned: Quads = (corner - quads)[::-1][:, [2, 3, 0, 1]]
    return turn_page_image_by_quarters(view, 2), turned


def _level(view: View) -> View:
    lean = find_page_skew_degrees(view.pixels)
    return rotate_page_image_by_degrees(view, lean) if abs(lean) > _LEVEL else view


def _find_lines(view: View, engine: Engine) -> Quads:
    factor = min(1.0, _DETECTED_SIDE / max(view.width, view.height))
    small = scale_page_image(view, factor) if factor < 1 else view
    quads = engine.find_lines(small.pixels)
    stretch = [view.width / small.width, view.height / small.height]
    return quads * np.array(stretch, np.float32)


def _find_missed(view: View, quads: Quads, engine: Engine) -> Quads:
    """Where letters and digits stand that no line holds, if surely read."""
    letters = find_missed_text_areas(view.pixels, quads)
    missed = np.concatenate([letters, find_gaps_of_columns(quads)])
    readings = engine.read_lines(
        [crop_line_image(view.pixels, quad) for quad in missed]
    )
    sure = [
        reading.sure >= _SURE_ALONE
        and (
            is_numeric_value(reading.text)
            if n >= len(letters)
            else reading.text.isalnum() or reading.text in _FLAGS
        )
        for n, reading in enumerate(readings)
    ]
    kept: Quads = missed[np.array(sure, bool)]
    return kept


def _sides(quads: Quads) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Width and height of each quadrilateral along its own edges."""
    wide = np.linalg.norm(quads[:, 1] - quads[:, 0], axis=1)
    high = np.linalg.norm(quads[:, 3] - quads[:, 0], axis=1)
    return wide.astype(np.float32), high.astype(np.float32)


def _stand_on_end(quads: Quads) -> bool:
    """Whether most of the text runs up or down the picture."""
    if len(quads) == 0:
        return False
    wide, high = _sides(quads)
    longer = np.maximum(wide, high)
    upended = high > 1.5 * wide
    return bool(longer[upended].sum() > 0.5 * longer.sum())


def _is_upright(view: View, quads: Quads, engine: Engine) -> bool:
    """Whether lines read better as they stand than upside down."""
    wide, high = _sides(quads)
    likely = np.argsort(-np.minimum(wide / np.maximum(high, 1), 10))[:_MORE]
    cut = [crop_line_image(view.pixels, quads[n]) for n in likely]
    sure = [reading.sure for reading in engine.read_lines(cut[:_SAMPLE])]
    if median(sure) >= _CLEARLY_UPRIGHT:
        return True
    # The best of them decide: of a script that the models can't read, only digits are.
    sure += [reading.sure for reading in engine.read_lines(cut[_SAMPLE:])]
    turned = [np.ascontiguousarray(line[::-1, ::-1]) for line in cut]
    other = [reading.sure for reading in engine.read_lines(turned)]
    return bool(np.percentile(sure, _BEST) >= np.percentile(other, _BEST))


def _read_line(view: View, quad: Quad, line: Picture, engine: Engine) -> Reading:
    """What a line says.

    Letters beside one another are at times taken for one. A line with words that are
    nearly those of tests is looked at again, cut closer and drawn wider; what that says
    counts if it has more of them right and every digit as before.
    """
    (first,) = engine.read_lines([line])
    misread = count_misspelled_test_words(first.text)
    if not misread:
        return first
    closer = crop_line_image(view.pixels, _closer(quad))
    wider = cv2.resize(line, None, fx=_WIDER, fy=1, interpolation=cv2.INTER_CUBIC)
    for second in engine.read_lines([closer, np.asarray(wider, np.uint8)]):
        if count_misspelled_test_words(second.text) < misread and _digits(
            second
        ) == _digits(first):
            return second
    return first


def _closer(quad: Quad) -> Quad:
    """Return a line's quadrilateral with less margin above and below."""
    down = _CLOSER * (quad[[3, 2]] - quad[[0, 1]])
    near: Quad = quad + np.concatenate([down, -down[::-1]]).astype(np.float32)
    return near


def _digits(reading: Reading) -> str:
    return "".join(sign for sign in reading.text if sign.isdigit())


def _read_crops(
    view: View, quads: Quads, engine: Engine
) -> tuple[list[Picture], list[Reading]]:
    """Each line's picture, and what it says."""
    crops = [crop_line_image(view.pixels, quad) for quad in quads]
    found = zip(quads, crops, strict=True)
    return crops, [_read_line(view, quad, line, engine) for quad, line in found]


def _cut_quads(
    quads: Quads, crops: Sequence[Picture], readings: Sequence[Reading]
) -> Quads:
    """Each line in the parts in which it is read best."""
    parts = []
    for quad, line, reading in zip(quads, crops, readings, strict=True):
        ends = [0.0, *find_cuts_of_line(line, reading), 1.0]
        (a, b, c, d) = quad
        for x0, x1 in pairwise(ends):
            edges = [a + (b - a) * x0, a + (b - a) * x1]
            parts.append([*edges, d + (c - d) * x1, d + (c - d) * x0])
    return np.array(parts, np.float32)


def _measure_lines(
    quads: Quads, crops: Sequence[Picture], readings: Sequence[Reading]
) -> list[_Line]:
    found = []
    for quad, line, reading in zip(quads, crops, readings, strict=True):
        measured = measure_line_signs(reading, line)
        if measured is not None and reading.sure >= _LEAST_SURE:
            high = float(np.linalg.norm(quad[3] - quad[0]))
            found.append((quad, measured, high / LINE_HEIGHT))
    sizes = [
        measured.em * scale
        for _, measured, scale in found
        if measured.em
        for _ in measured.signs
    ]
    usual = median(sizes) if sizes else 0.0
    pitch = find_monospace_pitch([measured for _, measured, _ in found])
    lines = []
    for quad, measured, scale in found:
        em = measured.em * scale
        if em and not _is_near(em, usual):
            alone = measure_isolated_signs(measured)
            if _is_near(alone.em * scale, usual):
                measured, em = alone, usual
        # Ink is measured to a pixel or two; print of nearly one size is of one size.
        if not em or _is_near(em, usual):
            em = usual or 0.78 * LINE_HEIGHT * scale
        lines.append(
            _Line(quad, em, split_line_into_words(measured, em=em / scale, pitch=pitch))
        )
    return lines


def _is_near(em: float, usual: float) -> bool:
    return 0.75 < em / usual < 1.3


def _build_page(lines: Sequence[_Line], view: View) -> tuple[list[Word], Matrix]:
    """The words in straight text, and the way from there to the page as shown.

    Where paper was bent that way is the homography nearest to it.
    """
    if not lines:
        return [], view.to_page
    quads = np.array([line.quad for line in lines], np.float64)
    em = median(line.em for line in lines for _ in line.pieces or ((),))
    size = (view.width, view.height)
    levelling = fit_page_levelling(quads, em=em, size=size)
    corners = quads.reshape(-1, 2)
    straight = levelling.map(corners)
    shift = np.minimum(straight.min(axis=0), 0.0)
    unit = _unit(view, em)
    laid = (straight - shift) * unit
    words = [
        word
        for line, quad in zip(lines, laid.reshape(-1, 4, 2), strict=True)
        for word in _words(line, quad)
    ]
    shown = apply_homography_to_points(view.to_page, corners)
    back, _ = cv2.findHomography(laid, shown, 0)
    return words, np.asarray(back, np.float64)


def _unit(view: View, em: float) -> float:
    """A pixel in text: as on the page, if that makes letters of the usual size."""
    a, b = apply_homography_to_points(view.to_page, np.array([[0.0, 0.0], [1.0, 0.0]]))
    unit = float(np.hypot(*(b - a)))
    if round(em * unit) in _COMMON_EM:
        return unit
    return _USUAL_EM / em


def _words(line: _Line, quad: NDArray[np.float64]) -> list[Word]:
    wide = float(np.linalg.norm(quad[1] - quad[0] + quad[2] - quad[3])) / 2
    high = float(np.linalg.norm(quad[3] - quad[0] + quad[2] - quad[1])) / 2
    across = wide / max(1.0, LINE_HEIGHT * wide / max(high, 1e-6))
    down = high / LINE_HEIGHT
    left = (quad[0] + quad[3]) / 2
    fall = float((quad[1] + quad[2])[1] / 2 - left[1]) / max(wide, 1e-6)
    corner_y = float(left[1]) - high / 2
    words = []
    for piece in line.pieces:
        x0 = float(left[0]) + piece.x0 * across
        x1 = float(left[0]) + piece.x1 * across
        drop = fall * (piece.x0 + piece.x1) / 2 * across
        words.append(
            Word(
                repair_misread_word(piece.text),
                round(x0, 2),
                round(corner_y + drop + piece.top * down, 2),
                round(x1, 2),
                round(corner_y + drop + piece.bottom * down, 2),
                round(piece.em * down, 2),
                red=piece.red,
                sure=piece.sure,
            )
        )
    return words
