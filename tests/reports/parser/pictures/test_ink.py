"""The ink of small pictures of lines, drawn by hand."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("cv2", reason="pictures need the OCR group")

from reports.parser.pictures.ink import find_ink_pixels

HEIGHT = 48


def line(*, width, rule):
    """A block of ink as a letter, over it a rule from end to end."""
    picture = np.full((HEIGHT, width, 3), 255, np.uint8)
    picture[12:38, width // 2 - 6 : width // 2 + 6] = 0
    picture[rule : rule + 3] = 0
    return picture


@pytest.mark.parametrize("width", [90, 400])
@pytest.mark.parametrize("rule", [2, 43])
def test_rules_along_the_edge_of_a_line_are_no_ink(width, rule):
    ink = find_ink_pixels(line(width=width, rule=rule))

    assert np.flatnonzero(ink.any(axis=1)).tolist() == list(range(12, 38))


def test_a_dash_in_the_middle_of_a_short_line_is_ink():
    ink = find_ink_pixels(line(width=90, rule=22))

    assert ink[22:25].all()
