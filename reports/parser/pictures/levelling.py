"""Straightens text by the lines and columns found in an image.

Paper in a photo leans away and curls, paper in a scanner lies askew. Lines of text were
printed level and columns upright, so a smooth map is fitted under which they are so
again. Geometry alone: no pixel is touched and no text is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Points = NDArray[np.float64]
    Values = NDArray[np.float64]
    Terms = Callable[[Values, Values], Values]

_FEW_LINES = 8
_SOME_LINES = 20
_NEXT_LINES = (0.8, 6.0)
_LINES_BELOW = (10.0, 25.0)
_FAR_BELOW = (25.0, 60.0)
_CLEARLY = 1.2
_SLIGHT = 0.004  # of a lean, which hardly moves what it is wrong for
_CALM = 1e-3  # holds back bends that hardly a line asks for


@dataclass(frozen=True, slots=True, eq=False)
class Levelling:
    """A map from the picture's pixels to pixels of straight text.

    down and across are what is added to y and to x, as sums of the terms of
    `_down_terms` and `_across_terms` over places measured from the middle.
    """

    middle: Points
    scale: float
    down: Values
    across: Values

    def map(self, points: Points) -> Points:
        """Points (n by 2) in straight text."""
        u, v = ((np.asarray(points, np.float64) - self.middle) / self.scale).T
        x = u + _across_terms(u, v) @ self.across
        y = v + _down_terms(u, v) @ self.down
        return np.column_stack([x, y]) * self.scale + self.middle


def fit_page_levelling(quads: Points, *, em: float, size: tuple[int, int]) -> Levelling:
    """Fit a map that levels a page, to quadrilaterals around its lines.

    em: the size of the print, in pixels; size: width and height of the picture. Few
    lines are only turned; many may also be bent.
    """
    middle = np.array([size[0] / 2, size[1] / 2])
    scale = max(size) / 2
    placed = (np.asarray(quads, np.float64) - middle) / scale
    left = (placed[:, 0] + placed[:, 3]) / 2
    right = (placed[:, 1] + placed[:, 2]) / 2
    em /= scale
    down = _fit_down(left, right, em)
    across = _fit_across(left, right, em, slant=-down[0])
    if _is_upright(left, right, em, down=down, across=across):
        down, across = np.zeros_like(down), np.zeros_like(across)
    return Levelling(middle, scale, down, across)


def _down_terms(u: Values, v: Values) -> Values:
    return np.column_stack([u, u * v, u * u, u * u * v, u * v * v, u * u * u])


def _across_terms(u: Values, v: Values) -> Values:
    return np.column_stack([v, u * v, v * v])


def _fit_down(left: Points, right: Points, em: float) -> Values:
    """What to add to y so that both ends of each line, and its neighbours, agree."""
    long = right[:, 0] - left[:, 0] > 3 * em
    terms = 6 if long.sum() >= _SOME_LINES else 3 if long.sum() >= _FEW_LINES else 1
    pairs = np.column_stack([left[long], right[long]])
    found = np.zeros(6)
    for tolerance in (3.0, 0.5, 0.3):
        found = _solve(_down_terms, pairs, found, terms, axis=1, within=tolerance * em)
        beside = _neighbours(left, right, found, em)
        pairs = np.concatenate([np.column_stack([left[long], right[long]]), beside])
    return found


def _neighbours(left: Points, right: Points, down: Values, em: float) -> Points:
    """Ends of pieces that follow one another on what is nearly one level."""
    ends = right[:, 1] + _down_terms(*right.T) @ down
    starts = left[:, 1] + _down_terms(*left.T) @ down
    pairs = []
    for n in range(len(left)):
        follows = (left[:, 0] > right[n, 0] - em) & (
            np.abs(starts - ends[n]) < 0.4 * em
        )
        follows[n] = False
        after = np.flatnonzero(follows)
        if len(after):
            m = after[np.argmin(left[after, 0])]
            pairs.append(np.concatenate([right[n], left[m]]))
    return np.array(pairs).reshape(-1, 4)


def _fit_across(left: Points, right: Points, em: float, *, slant: float) -> Values:
    """What to add to x so that edges that stand under one another agree."""
    plain = np.array([slant, 0.0, 0.0])
    if len(left) < _FEW_LINES:
        return plain
    found = plain
    terms = 3 if len(left) >= _SOME_LINES else 1
    for tolerance in (1.2, 0.5, 0.2):
        pairs = np.concatenate([_under(left, found, em), _under(right, found, em)])
        if len(pairs) < _FEW_LINES:
            break
        found = _solve(
            _across_terms, pairs, found, terms, axis=0, within=tolerance * em
        )
    # Words stand under one another by chance too: only columns that come out clearly
    # better are a reason to bend.
    before = _aligned(left, plain, em) + _aligned(right, plain, em)
    after = _aligned(left, found, em) + _aligned(right, found, em)
    return found if after > _CLEARLY * before else plain


def _is_upright(
    left: Points, right: Points, em: float, *, down: Values, across: Values
) -> bool:
    """Whether columns stand upright as they are, and would not once lines were turned.

    So it is in a screenshot, where what stands beside a line may be set a little lower
    all the way down: lines alone would say that the picture leans.
    """

    def count(found: Values) -> int:
        ends = (left, right)
        return sum(_aligned(own, found, em, drops=_FAR_BELOW) for own in ends)

    if abs(down[0]) < _SLIGHT:
        return False
    as_is = count(np.zeros_like(across))
    others = [np.array([-down[0], 0.0, 0.0])]
    if np.abs(across).max() > _SLIGHT:
        others.append(across)
    return as_is >= _FEW_LINES and as_is > _CLEARLY * max(map(count, others))


def _aligned(
    ends: Points,
    across: Values,
    em: float,
    *,
    drops: tuple[float, float] = _LINES_BELOW,
) -> int:
    """How many ends have one exactly under them, some lines below."""
    pairs = _under(ends, across, em, drops=drops)
    if len(pairs) == 0:
        return 0
    x0 = pairs[:, 0] + _across_terms(*pairs[:, :2].T) @ across
    x1 = pairs[:, 2] + _across_terms(*pairs[:, 2:].T) @ across
    return int(np.count_nonzero(np.abs(x1 - x0) < 0.12 * em))


def _under(
    ends: Points, across: Values, em: float, *, drops: tuple[float, float] = _NEXT_LINES
) -> Points:
    """Ends of pieces with the nearest end below that stands nearly under them.

    drops: how far below, at least and at most, in ems.
    """
    least, most = drops
    x = ends[:, 0] + _across_terms(*ends.T) @ across
    pairs = []
    for n in range(len(ends)):
        drop = ends[:, 1] - ends[n, 1]
        near = np.abs(x - x[n]) < 1.2 * em
        below = (drop > least * em) & (drop < most * em) & near
        found = np.flatnonzero(below)
        if len(found):
            m = found[np.argmin(drop[found])]
            pairs.append(np.concatenate([ends[n], ends[m]]))
    return np.array(pairs).reshape(-1, 4)


def _solve(
    terms_of: Terms,
    pairs: Points,
    found: Values,
    terms: int,
    *,
    axis: int,
    within: float,
) -> Values:
    """Coefficients under which both places of each pair agree, strays left out."""
    if len(pairs) == 0:
        return found
    first, second = pairs[:, :2], pairs[:, 2:]
    rise = terms_of(*second.T) - terms_of(*first.T)
    apart = second[:, axis] - first[:, axis]
    kept = np.abs(apart + rise @ found) < within
    if kept.sum() < terms:
        return found
    rows = rise[kept][:, :terms]
    calm = np.sqrt(_CALM * np.square(rows).sum() / terms) * np.eye(terms)
    calm[0, 0] = 0.0
    solved, *_ = np.linalg.lstsq(
        np.vstack([rows, calm]),
        np.concatenate([-apart[kept], np.zeros(terms)]),
        rcond=None,
    )
    return np.concatenate([solved, np.zeros(len(found) - terms)])
