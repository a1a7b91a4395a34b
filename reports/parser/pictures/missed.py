"""Finds single letters and digits, and cells of columns, that the detector missed.

A number of one digit, alone in its column, is at times too small to be seen as a line.
Found by its ink: of the size of letters, alone, and level with lines on its left.
A number beside a drawing is at times not seen either: its column has a gap there.
Geometry and pixels; whether it says anything is for who reads it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Picture = NDArray[np.uint8]
    Quads = NDArray[np.float32]

_FEWEST_LINES = 8
# All in heights of the usual line, which is half as high again as its digits.
_LOWEST, _HIGHEST = 0.35, 0.75
# A bar between columns is thinner than any digit.
_THINNEST, _WIDEST = 0.18, 0.8
_APART = 0.2
_LEVEL = 0.15
_DARKER = 30
# Of a column: its cells, in lines how far their edges lie apart, and its gaps in rows.
_FEWEST_CELLS = 5
_EDGE = 0.6
_LONGEST_GAP = 4
_IN_ROW = 0.5


def find_gaps_of_columns(quads: Quads) -> Quads:
    """Return quadrilaterals where a cell of a column is missing beside other cells.

    quads: the lines found, level.
    """
    boxes = np.array([[*quad.min(0), *quad.max(0)] for quad in quads], np.float32)
    found: list[NDArray[np.float32]] = []
    left = list(np.argsort(quads[:, 0, 1])) if len(quads) >= _FEWEST_LINES else []
    while left:
        column = [left.pop(0)]
        for n in list(left):
            if _is_below(boxes[column[-1]], boxes[n]):
                column.append(n)
                left.remove(n)
        if len(column) >= _FEWEST_CELLS:
            found += _find_gaps(boxes[column], boxes)
    return np.array(found, np.float32).reshape(-1, 4, 2)


def _is_below(above: NDArray[np.float32], box: NDArray[np.float32]) -> bool:
    """Whether two cells of one column begin, end or are centred alike."""
    line = above[3] - above[1]
    left, right = abs(above[0] - box[0]), abs(above[2] - box[2])
    centre = abs(above[0] + above[2] - box[0] - box[2]) / 2
    near = min(left, right, centre) < _EDGE * line
    return bool(near and box[1] > above[1] + line / 2)


def _find_gaps(
    column: NDArray[np.float32], boxes: NDArray[np.float32]
) -> list[NDArray[np.float32]]:
    steps = np.diff((column[:, 1] + column[:, 3]) / 2)
    pitch = float(np.median(steps))
    middles = (boxes[:, 1] + boxes[:, 3]) / 2
    found = []
    for above, below, step in zip(column[:-1], column[1:], steps, strict=True):
        rows = round(float(step) / pitch)
        for n in range(1, rows if rows <= _LONGEST_GAP else 0):
            x0, y0, x1, y1 = above + (below - above) * n / rows
            x0, x1 = min(above[0], below[0]), max(above[2], below[2])
            level = np.abs(middles - (y0 + y1) / 2) < _IN_ROW * pitch
            apart = (boxes[:, 2] < x0) | (boxes[:, 0] > x1)
            if (level & apart).any() and not (level & ~apart).any():
                found.append(
                    np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], np.float32)
                )
    return found


def find_missed_text_areas(pixels: Picture, quads: Quads) -> Quads:
    """Return quadrilaterals around letters that no found line contains.

    quads: the lines found, level.
    """
    none = np.zeros((0, 4, 2), np.float32)
    if len(quads) < _FEWEST_LINES:
        return none
    line = float(np.median(quads[:, 3, 1] - quads[:, 0, 1]))
    if line < 8:
        return none
    grey = cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY)
    ink: Picture = np.asarray(
        cv2.adaptiveThreshold(
            grey,
            255,
            cv2.ADAPTIVE_THRESH_MEAN_C,
            cv2.THRESH_BINARY_INV,
            2 * round(line) + 1,
            _DARKER,
        ),
        np.uint8,
    )
    for quad in np.round(quads).astype(np.int32):
        cv2.fillConvexPoly(ink, np.ascontiguousarray(quad), 0)
    _, _, stats, _ = cv2.connectedComponentsWithStats(ink)
    middles = quads[:, :, 1].mean(axis=1)
    ends = quads[:, :, 0].max(axis=1)
    found = []
    for left, top, wide, high, _ in stats[1:]:
        if not _LOWEST * line < high < _HIGHEST * line:
            continue
        if not _THINNEST * line < wide < _WIDEST * line:
            continue
        level = np.abs(middles - (top + high / 2)) < _LEVEL * line
        if not (level & (ends < left)).any() or not _is_alone(
            ink, (left, top, wide, high), round(_APART * line)
        ):
            continue
        middle = float(np.median(middles[level]))
        x0, x1 = left - _APART * line, left + wide + _APART * line
        y0, y1 = middle - line / 2, middle + line / 2
        found.append([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])
    return np.array(found, np.float32).reshape(-1, 4, 2)


def _is_alone(ink: Picture, box: tuple[int, int, int, int], apart: int) -> bool:
    """Whether there is no other ink as near to a letter as `apart` pixels."""
    left, top, wide, high = box
    around = ink[
        max(0, top - apart) : top + high + apart,
        max(0, left - apart) : left + wide + apart,
    ]
    inner = ink[top : top + high, left : left + wide]
    return cv2.countNonZero(around) - cv2.countNonZero(inner) < 4
