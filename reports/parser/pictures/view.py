"""An image of a page with the map from pixels to the page.

Whatever is done to a picture before it is read (scaled, turned, straightened), the
View knows where each of its pixels lies on the page. Geometry alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Picture = NDArray[np.uint8]
    Matrix = NDArray[np.float64]


_MARGIN = 16  # pixels: letters that touch the edge of a picture are not found


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Pixels (height, width, blue green red) and the map from pixel to page.

    to_page is a 3 by 3 homography from pixels to the page as shown: points for a PDF,
    pixels of the upright picture for a picture file.
    """

    pixels: Picture
    to_page: Matrix

    @property
    def width(self) -> int:
        return int(self.pixels.shape[1])

    @property
    def height(self) -> int:
        return int(self.pixels.shape[0])


def scale_page_image(view: View, factor: float) -> View:
    """Return the image, larger or smaller."""
    width = max(1, round(view.width * factor))
    height = max(1, round(view.height * factor))
    way = cv2.INTER_AREA if factor < 1 else cv2.INTER_CUBIC
    pixels = cv2.resize(view.pixels, (width, height), interpolation=way)
    back = np.diag([view.width / width, view.height / height, 1.0])
    return View(_picture(pixels), view.to_page @ back)


def turn_page_image_by_quarters(view: View, quarters: int) -> View:
    """Return the image, turned clockwise by quarter turns."""
    width, height = float(view.width), float(view.height)
    match quarters % 4:
        case 1:
            back = np.array([[0.0, 1, 0], [-1, 0, height], [0, 0, 1]])
        case 2:
            back = np.array([[-1.0, 0, width], [0, -1, height], [0, 0, 1]])
        case 3:
            back = np.array([[0.0, -1, width], [1, 0, 0], [0, 0, 1]])
        case _:
            return view
    pixels = np.ascontiguousarray(np.rot90(view.pixels, -quarters % 4))
    return View(_picture(pixels), view.to_page @ back)


def rotate_page_image_by_degrees(view: View, degrees: float) -> View:
    """Return the image, turned clockwise by degrees, enlarged to keep all of it."""
    angle = math.radians(degrees)
    cos, sin = math.cos(angle), math.sin(angle)
    width = math.ceil(view.width * abs(cos) + view.height * abs(sin))
    height = math.ceil(view.width * abs(sin) + view.height * abs(cos))
    forth = np.array(
        [
            [cos, -sin, width / 2 - cos * view.width / 2 + sin * view.height / 2],
            [sin, cos, height / 2 - sin * view.width / 2 - cos * view.height / 2],
            [0, 0, 1],
        ]
    )
    return warp_page_image(view, forth, width=width, height=height)


def crop_page_image(view: View, corners: Sequence[tuple[float, float]]) -> View:
    """Return the part of an image around places on the page, with a margin."""
    back: Matrix = np.asarray(np.linalg.inv(view.to_page), np.float64)
    found = apply_homography_to_points(back, np.array(corners))
    low = np.floor(np.clip(found.min(axis=0), 0, [view.width - 1, view.height - 1]))
    high = np.ceil(np.clip(found.max(axis=0), low + 1, [view.width, view.height]))
    (left, top), (right, bottom) = low.astype(int), high.astype(int)
    inner = view.pixels[top:bottom, left:right]
    edge = np.concatenate([inner[0], inner[-1], inner[:, 0], inner[:, -1]])
    paper = [float(part) for part in np.median(edge, axis=0)]
    margins = (_MARGIN, _MARGIN, _MARGIN, _MARGIN)
    pixels = cv2.copyMakeBorder(inner, *margins, cv2.BORDER_CONSTANT, value=paper)
    shift = np.array([[1.0, 0, left - _MARGIN], [0, 1, top - _MARGIN], [0, 0, 1]])
    return View(_picture(pixels), view.to_page @ shift)


def warp_page_image(view: View, forth: Matrix, *, width: int, height: int) -> View:
    """Warp the image to a new size by a homography."""
    edge = np.concatenate([view.pixels[0], view.pixels[-1]])
    paper = [float(part) for part in np.median(edge, axis=0)]
    pixels = cv2.warpPerspective(
        view.pixels,
        forth,
        (width, height),
        flags=cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_CONSTANT,
        borderValue=paper,
    )
    return View(_picture(pixels), view.to_page @ np.linalg.inv(forth))


def apply_homography_to_points(
    matrix: Matrix, points: NDArray[np.floating]
) -> NDArray[np.float64]:
    """Return points (n by 2) mapped by a homography."""
    flat = np.asarray(points, np.float64).reshape(-1, 2)
    lifted = np.column_stack([flat, np.ones(len(flat))]) @ matrix.T
    mapped: NDArray[np.float64] = lifted[:, :2] / lifted[:, 2:]
    return mapped


def _picture(pixels: object) -> Picture:
    found: Picture = np.asarray(pixels, np.uint8)
    return found
