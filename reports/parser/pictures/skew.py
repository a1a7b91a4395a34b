"""How far lines of text lean in a picture. Pixels only; nothing is read here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Picture = NDArray[np.uint8]

_WIDTH = 900
_WIDEST_LEAN = 15.0


def binarize_page_image(pixels: Picture, *, side: int = _WIDTH) -> Picture:
    """Return a small black image with white where the page has ink, without shadows."""
    factor = min(1.0, side / max(pixels.shape[:2]))
    grey = cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY)
    small = cv2.resize(grey, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
    paper = cv2.medianBlur(small, 31) if min(small.shape) > 31 else small
    ink = cv2.absdiff(small, paper)
    found: Picture = np.where(ink > 24, 255, 0).astype(np.uint8)
    return found


def find_page_skew_degrees(pixels: Picture) -> float:
    """Return the degrees, clockwise, that level the lines of an image.

    Lines lie level where the sums of rows differ most from row to row. 0 where there
    is too little ink to tell.
    """
    ink = binarize_page_image(pixels)
    if cv2.countNonZero(ink) < 200:
        return 0.0
    coarse = np.arange(-_WIDEST_LEAN, _WIDEST_LEAN + 0.01, 0.5)
    best = _sharpest(cv2.resize(ink, None, fx=0.5, fy=0.5), coarse)
    fine = best + np.arange(-0.5, 0.51, 0.1)
    return round(_sharpest(ink, fine), 2)


def _sharpest(ink: object, angles: NDArray[np.float64]) -> float:
    found = np.asarray(ink, np.uint8)
    scores = [_sharpness(found, float(angle)) for angle in angles]
    return float(angles[int(np.argmax(scores))])


def _sharpness(ink: Picture, degrees: float) -> float:
    height, width = ink.shape
    lean = cv2.getRotationMatrix2D((width / 2, height / 2), -degrees, 1.0)
    turned = cv2.warpAffine(ink, lean, (width, height), flags=cv2.INTER_LINEAR)
    sums = np.asarray(turned, np.float64).sum(axis=1)
    return float(np.square(np.diff(sums)).sum())
