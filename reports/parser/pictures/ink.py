"""The ink of one line's picture: where it is, in what pieces, in what colour.

Pixels alone; what the ink says is read elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Picture = NDArray[np.uint8]
    Mask = NDArray[np.bool_]

# In heights. In a picture shorter than the first a dash would be taken for a rule, but
# not as near to its upper or lower edge as the second.
_RULE = 3
_EDGE = 0.2
# Of a line's height: how far the feet of the line above reach in, and the heads of
# the one below.
_FEET, _HEADS = 0.2, 0.1


class Run(NamedTuple):
    """Neighbouring columns with ink: their ends, and how far up and down it goes."""

    start: int
    end: int
    top: int
    bottom: int


def find_ink_pixels(line: Picture) -> Mask:
    """Return where a line's image differs from its background."""
    pixels = line.astype(np.int16)
    paper = np.median(pixels.reshape(-1, pixels.shape[2]), axis=0)
    apart = np.abs(pixels - paper).max(axis=2)
    limit = max(0.4 * float(np.percentile(apart, 98)), 20.0)
    ink: Mask = apart > limit
    ruled = ink.mean(axis=1) > 0.85
    if line.shape[1] <= _RULE * line.shape[0]:
        inner = round(_EDGE * line.shape[0])
        ruled[inner:-inner] = False
    ink[ruled] = False
    return _drop_neighbours(ink)


def _drop_neighbours(ink: Mask) -> Mask:
    height = ink.shape[0]
    if not ink[0].any() and not ink[-1].any():
        return ink
    _, labels, stats, _ = cv2.connectedComponentsWithStats(ink.astype(np.uint8))
    tops = stats[:, cv2.CC_STAT_TOP]
    ends = tops + stats[:, cv2.CC_STAT_HEIGHT]
    strange = (tops == 0) & (ends < _FEET * height)
    strange |= (ends == height) & (tops > (1 - _HEADS) * height)
    kept: Mask = ink & ~strange[labels]
    return kept


def is_ink_red(line: Picture, ink: Mask, x0: float, x1: float) -> bool:
    """Return whether the ink between two places is clearly red."""
    start, end = int(x0), max(int(x0) + 1, int(x1))
    colours = line[:, start:end][ink[:, start:end]]
    if len(colours) == 0:
        return False
    blue, green, red = (float(part) for part in np.median(colours, axis=0))
    return red > 140 and green < 0.6 * red and blue < 0.6 * red


def find_inked_column_runs(ink: Mask) -> list[Run]:
    """Return the runs of pixel columns with ink, without specks."""
    columns = ink[2:-2].sum(axis=0) > 0
    edges = np.flatnonzero(np.diff(np.concatenate([[0], columns.view(np.int8), [0]])))
    runs = []
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        rows = np.flatnonzero(ink[:, start:end].any(axis=1))
        if ink[:, start:end].sum() >= 4:
            runs.append(Run(int(start), int(end), int(rows[0]), int(rows[-1]) + 1))
    return runs


def find_decimal_points_in_line(
    ink: Mask, *, em: float, baseline: float
) -> list[float]:
    """Return where specks of the size of a decimal point are on the line."""
    _, _, stats, _ = cv2.connectedComponentsWithStats(ink.astype(np.uint8))
    found = []
    for left, top, width, height, _ in stats[1:]:
        small = 0.05 * em < min(width, height) and max(width, height) < 0.2 * em
        if small and abs(top + height - baseline) < 0.1 * em:
            found.append(float(left + width / 2))
    return found
