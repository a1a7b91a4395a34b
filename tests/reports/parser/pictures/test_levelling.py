"""Made-up lines, bent as paper bends, and laid straight again."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("cv2", reason="pictures need the OCR group")

from reports.parser.pictures.levelling import fit_page_levelling

EM, SIZE = 24, (1600, 2300)
COLUMNS = ((100, 500), (700, 780), (900, 1000), (1200, 1450))


def table(rows=30):
    """Quadrilaterals of a table of four columns."""
    quads = []
    for row in range(rows):
        top = 200 + 60 * row
        for left, right in COLUMNS:
            corners = [(left, top), (right, top), (right, top + EM), (left, top + EM)]
            quads.append(corners)
    return np.array(quads, np.float64)


def bend(quads, bent):
    x, y = quads[..., 0], quads[..., 1]
    return np.stack(bent(x, y), axis=-1)


def leaning(x, y):
    return x - 0.02 * y, y + 0.02 * x


def keystone(x, y):
    far = 1 + 0.00004 * y
    return 800 + (x - 800) / far, y + 0.00002 * (x - 800) * (y - 1150)


def curled(x, y):
    return x, y + 25 * np.cos((x - 800) / 500)


@pytest.mark.parametrize("bent", [leaning, keystone, curled])
def test_rows_of_bent_paper_come_out_level(bent):
    quads = bend(table(), bent)
    before = np.ptp(quads[:, 0, 1].reshape(-1, 4), axis=1).max()

    straight = fit_page_levelling(quads, em=EM, size=SIZE).map(quads.reshape(-1, 2))

    tops = straight.reshape(-1, 4, 2)[:, 0, 1].reshape(-1, 4)
    assert before > 0.7 * EM
    assert np.ptp(tops, axis=1).max() < 0.12 * EM


@pytest.mark.parametrize("bent", [leaning, keystone])
def test_columns_of_a_leaning_page_come_out_upright(bent):
    quads = bend(table(), bent)

    straight = fit_page_levelling(quads, em=EM, size=SIZE).map(quads.reshape(-1, 2))

    lefts = straight.reshape(-1, 4, 2)[:, 0, 0].reshape(-1, 4)
    assert np.ptp(lefts, axis=0).max() < 0.3 * EM


def test_straight_text_stays_where_it_is():
    quads = table()

    straight = fit_page_levelling(quads, em=EM, size=SIZE).map(quads.reshape(-1, 2))

    assert np.abs(straight - quads.reshape(-1, 2)).max() < 0.01 * EM


def test_a_single_line_is_only_turned():
    quads = bend(table(rows=1), leaning)

    levelling = fit_page_levelling(quads, em=EM, size=SIZE)

    assert np.count_nonzero(levelling.down) == 1
    assert np.count_nonzero(levelling.across) == 1


def test_a_screenshot_whose_values_stand_a_little_low_is_not_turned():
    quads = np.array(
        [
            [(x, y), (x + wide, y), (x + wide, y + EM), (x, y + EM)]
            for row in range(24)
            for x, wide, y in ((40, 190, 90 * row), (700, 60, 90 * row + 8))
        ],
        np.float64,
    )

    straight = fit_page_levelling(quads, em=EM, size=(800, 2200)).map(
        quads.reshape(-1, 2)
    )

    assert np.abs(straight - quads.reshape(-1, 2)).max() < 0.01
