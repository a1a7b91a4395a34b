"""Numbered spans on a chart, of what is listed beside it.

Numbers in, SVG out, coloured by CSS classes alone, as in portal.ui.charts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from django.utils.html import format_html_join

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.utils.safestring import SafeString

_RADIUS = 7.0


class ChartNote(NamedTuple):
    """A span from `start` to `end` in px, its number and what to say on pointing."""

    start: float
    end: float
    number: int
    title: str


def draw_chart_notes(
    notes: Iterable[ChartNote], *, top: float, bottom: float, left: float, right: float
) -> SafeString:
    """Draw spans from top to bottom, each with its number in a circle at the top.

    Spans are cut to `left` and `right`. Numbers that would cover each other stand
    below each other.
    """
    listed = list(notes)
    drawn = []
    for note, (middle, depth) in zip(
        listed, _place_numbers(listed, left=left, right=right), strict=True
    ):
        start, end = max(note.start, left), min(note.end, right)
        y = top + depth
        drawn.append(
            (
                _n(start),
                _n(top),
                _n(max(1.5, end - start)),
                _n(bottom - top),
                note.title,
                _n(middle),
                _n(y),
                _n(_RADIUS),
                _n(y + 3.5),
                note.number,
            )
        )
    return format_html_join(
        "",
        '<g class="cn"><title>{4}</title>'
        '<rect class="cn-span" x="{0}" y="{1}" width="{2}" height="{3}"/>'
        '<circle class="cn-dot" cx="{5}" cy="{6}" r="{7}"/>'
        '<text class="cn-number" x="{5}" y="{8}" text-anchor="middle">{9}</text></g>',
        drawn,
    )


def measure_chart_notes(
    notes: Iterable[ChartNote], *, left: float, right: float
) -> float:
    """Return how far down the numbers of the notes reach, px; 0 without notes."""
    depths = (depth for _, depth in _place_numbers(notes, left=left, right=right))
    return max((depth + _RADIUS for depth in depths), default=0.0)


def _place_numbers(
    notes: Iterable[ChartNote], *, left: float, right: float
) -> list[tuple[float, float]]:
    """Return the middle of each number and how far it is below the top, px."""
    taken: list[tuple[float, float]] = []
    for note in notes:
        start, end = max(note.start, left), min(note.end, right)
        middle = min(max((start + end) / 2, left + _RADIUS), right - _RADIUS)
        depth = _RADIUS
        while any(
            abs(x - middle) < 2 * _RADIUS and abs(other - depth) < 2 * _RADIUS
            for x, other in taken
        ):
            depth += 2 * _RADIUS
        taken.append((middle, depth))
    return taken


def _n(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
