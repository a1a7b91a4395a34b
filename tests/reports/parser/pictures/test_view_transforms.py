"""Whatever is done to a picture, each pixel still knows its place on the page."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("cv2", reason="pictures need the OCR group")

from reports.parser.pictures.skew import find_skew
from reports.parser.pictures.view import (
    View,
    map_points,
    rotate_view,
    scale_view,
    turn_view,
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
    return map_points(view.to_page, middle)[0]


@pytest.mark.parametrize(
    "change",
    [
        lambda view: scale_view(view, 2.0),
        lambda view: scale_view(view, 0.5),
        lambda view: turn_view(view, 1),
        lambda view: turn_view(view, 2),
        lambda view: turn_view(view, 3),
        lambda view: rotate_view(view, 7.5),
        lambda view: rotate_view(turn_view(scale_view(view, 1.5), 3), -2),
    ],
)
def test_a_pixel_is_found_again_on_the_page(change):
    assert spot_of(change(page())) == pytest.approx(SPOT, abs=1)


def test_a_quarter_turn_is_clockwise():
    turned = turn_view(page(), 1)

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
    leaning = rotate_view(View(pixels, np.eye(3)), lean)

    assert find_skew(leaning.pixels) == pytest.approx(-lean, abs=0.2)


def test_a_white_page_leans_nowhere():
    assert find_skew(np.full((500, 400, 3), 255, np.uint8)) == 0.0
