"""Whatever is done to a picture, each pixel still knows its place on the page."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("cv2", reason="pictures need the OCR group")

from reports.parser.pictures.skew import find_page_skew_degrees
from reports.parser.pictures.view import (
    View,
    apply_homography_to_points,
    rotate_page_image_by_degrees,
    scale_page_image,
    turn_page_image_by_quarters,
)

SPOT = (130, 70)  # x, y of a dark square's middle


def page():
    pixels = np.full((200, 300, 3), 255, np.uint8)
    x, y = SPOT
    pixels[y - 5 : y + 5, x - 5 : x + 5] = 0
    return View(pixels, np.eye(3))


def spot_of(view):
    """Where the square's middle lies on the page, found by its pixels."""
    rows, columns = np.nonzero(view.pixels[:, :, 0] < 128)
    middle = np.array([[columns.mean() + 0.5, rows.mean() + 0.5]])
    return apply_homography_to_points(view.to_page, middle)[0]


@pytest.mark.parametrize(
    "change",
    [
        lambda view: scale_page_image(view, 2.0),
        lambda view: scale_page_image(view, 0.5),
        lambda view: turn_page_image_by_quarters(view, 1),
        lambda view: turn_page_image_by_quarters(view, 2),
        lambda view: turn_page_image_by_quarters(view, 3),
        lambda view: rotate_page_image_by_degrees(view, 7.5),
        lambda view: rotate_page_image_by_degrees(
            turn_page_image_by_quarters(scale_page_image(view, 1.5), 3), -2
        ),
    ],
)
def test_a_pixel_is_found_again_on_the_page(change):
    assert spot_of(change(page())) == pytest.approx(SPOT, abs=1)


def test_a_quarter_turn_is_clockwise():
    turned = turn_page_image_by_quarters(page(), 1)

    rows, columns = np.nonzero(turned.pixels[:, :, 0] < 128)

    assert (turned.width, turned.height) == (200, 300)
    assert (columns.mean(), rows.mean()) == pytest.approx(
        (200 - SPOT[1], SPOT[0]), abs=1
    )


@pytest.mark.parametrize("lean", [-6.3, -0.5, 0.0, 1.9])
def test_the_lean_of_lines_is_found_to_a_fifth_of_a_degree(lean):
    pixels = np.full((900, 700, 3), 255, np.uint8)
    for top in range(60, 840, 24):
        for left in range(60, 620, 14):
            pixels[top : top + 9, left : left + 9] = 0
    leaning = rotate_page_image_by_degrees(View(pixels, np.eye(3)), lean)

    assert find_page_skew_degrees(leaning.pixels) == pytest.approx(-lean, abs=0.2)


def test_a_white_page_leans_nowhere():
    assert find_page_skew_degrees(np.full((500, 400, 3), 255, np.uint8)) == 0.0
