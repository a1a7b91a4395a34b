"""Letters drawn as blocks beside lines that were found, and are covered by quads."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("cv2", reason="pictures need the OCR group")

from reports.parser.pictures.missed import (
    find_gaps_of_columns,
    find_missed_text_areas,
)

LINE = 40
LINES = [40 + 60 * n for n in range(8)]


def quad(left, top, right):
    foot = top + LINE
    return [[left, top], [right, top], [right, foot], [left, foot]]


QUADS = np.array([quad(40, top, 240) for top in LINES], np.float32)


def draw(*blocks):
    """White paper with names as bars, and a block for each (left, top, right, foot)."""
    picture = np.full((600, 800, 3), 255, np.uint8)
    for top in LINES:
        picture[top + 8 : top + 32, 50:230] = 0
    for left, top, right, foot in blocks:
        picture[top:foot, left:right] = 0
    return picture


def test_a_digit_alone_behind_a_name_is_found() -> None:
    top = LINES[3] + 8

    (found,) = find_missed_text_areas(draw((400, top, 416, top + 25)), QUADS)

    left, right = found[:, 0].min(), found[:, 0].max()
    assert (left, right) == pytest.approx((392, 424), abs=2)
    assert found[:, 1].min() == pytest.approx(LINES[3], abs=1)
    assert found[:, 1].max() == pytest.approx(LINES[3] + LINE, abs=1)


@pytest.mark.parametrize(
    "blocks",
    [
        [(400, LINES[3] + 40, 416, LINES[3] + 65)],  # between two lines
        [(10, LINES[3] + 8, 26, LINES[3] + 33)],  # before the names
        [(400, LINES[3] + 8, 416, LINES[3] + 80)],  # a stroke
        [(400, LINES[3] + 8, 500, LINES[3] + 33)],  # a blot
        [(400, LINES[3] + 8, 416, LINES[3] + 33), (420, LINES[3], 424, LINES[3] + 60)],
        [(400, LINES[3] + 8, 405, LINES[3] + 33)],  # a bar between columns
        [(400, LINES[3] + 28, 404, LINES[3] + 32)],  # a speck
    ],
)
def test_other_ink_is_no_digit(blocks) -> None:
    assert len(find_missed_text_areas(draw(*blocks), QUADS)) == 0


def test_a_page_of_few_lines_is_left_as_found() -> None:
    top = LINES[3] + 8

    assert len(find_missed_text_areas(draw((400, top, 416, top + 25)), QUADS[:7])) == 0


def test_a_gap_in_a_column_beside_other_cells_is_found() -> None:
    column = [quad(400, top, 440) for top in LINES if top != LINES[3]]

    (found,) = find_gaps_of_columns(np.array([*QUADS, *column], np.float32))

    assert found.tolist() == quad(400, LINES[3], 440)


@pytest.mark.parametrize(
    "column",
    [
        [quad(400, top, 440) for top in LINES],  # whole
        [quad(400, top, 440) for top in LINES[:3] + LINES[4:5]],  # too few to be one
        [quad(400, top, 440) for top in LINES[:2] + LINES[7:]],  # of two tables
        [quad(400, top, 440 if top != LINES[3] else 700) for top in LINES],
    ],
)
def test_a_column_without_a_gap_beside_other_cells_has_none(column) -> None:
    assert len(find_gaps_of_columns(np.array([*QUADS, *column], np.float32))) == 0


def test_a_line_that_no_cell_stands_on_has_no_gap() -> None:
    column = [quad(400, top, 440) for top in LINES if top != LINES[3]]
    names = [quad(40, top, 240) for top in LINES if top != LINES[3]]

    assert len(find_gaps_of_columns(np.array([*names, *column], np.float32))) == 0
