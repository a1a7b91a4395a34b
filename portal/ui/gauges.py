"""Small figures beside words: a meter, a ruler of distances.

Numbers in, SVG out, as in portal.ui.charts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext as _

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.utils.safestring import SafeString

_RULER_WIDTH = 420
_STATES_WIDTH = 760
_STATES_GAP = 4
_PIN_WIDTH = 21
_LANE_HEIGHT = 20


def draw_percentage_bar(percent: float, *, is_enough: bool) -> SafeString:
    """Draw a percentage, 0 to 100, as a bar; the number is written beside it."""
    width = 36
    return format_html(
        '<svg viewBox="0 0 {} 6" aria-hidden="true">'
        '<rect class="meter-t" width="{}" height="6" rx="3"/>'
        '<rect class="meter-{}" width="{}" height="6" rx="3"/></svg>',
        width,
        width,
        "ok" if is_enough else "warn",
        f"{min(max(percent, 0), 100) / 100 * width:.1f}",
    )


def draw_state_bar(parts: Sequence[tuple[str, str, int]], *, says: str) -> SafeString:
    """Draw one piece for each item of a list, colored by its state.

    `parts` are (color family, label, number of items), in order; `says` is what is
    counted.
    """
    pieces = [family for family, _label, number in parts for _each in range(number)]
    step = _STATES_WIDTH / max(1, len(pieces))
    return format_html(
        '<svg class="chart" viewBox="0 0 {} 8" role="img" aria-label="{}: {}"'
        ' preserveAspectRatio="none">{}</svg>',
        _STATES_WIDTH,
        says,
        "; ".join(f"{label} {number}" for _family, label, number in parts if number),
        format_html_join(
            "",
            '<rect class="pr-{}" x="{}" y="0" width="{}" height="8" rx="3"/>',
            (
                (family, f"{place * step:.1f}", f"{step - _STATES_GAP:.1f}")
                for place, family in enumerate(pieces)
            ),
        ),
    )


def draw_places_by_distance(
    places: Sequence[tuple[int, float]], *, chosen: int | None, says: str
) -> SafeString | str:
    """Draw numbered places by their distance in miles, since there is no map.

    The scale ends at the next 5 miles; pins that would touch are lifted a lane.
    """
    if not places:
        return ""
    furthest = max(miles for _number, miles in places)
    end = 5 * max(1, -(-furthest // 5))
    left, right = 14, _RULER_WIDTH - 20
    lifted = _lanes(
        [(left + miles / end * (right - left)) for _number, miles in places]
    )
    height = 56 + _LANE_HEIGHT * (max(lifted) + 1)
    floor = height - 22
    ticks = format_html_join(
        "",
        '<line class="axisline" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>'
        '<text x="{0}" y="{3}" text-anchor="middle">{4}</text>',
        (
            (
                f"{left + share / 5 * (right - left):.1f}",
                floor - 3,
                floor + 3,
                height - 4,
                _("%(miles)s mi") % {"miles": f"{end * share / 5:g}"},
            )
            for share in range(6)
        ),
    )
    pins = format_html_join(
        "",
        '<line class="axisline" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>'
        '<circle class="ruler-{3}" cx="{0}" cy="{1}" r="9"/>'
        '<text class="{4}" x="{0}" y="{5}" text-anchor="middle">{6}</text>',
        (
            (
                f"{left + miles / end * (right - left):.1f}",
                floor - 15 - lane * _LANE_HEIGHT,
                floor,
                "on" if number == chosen else "dot",
                "on" if number == chosen else "strong",
                floor - 11 - lane * _LANE_HEIGHT,
                number,
            )
            for (number, miles), lane in zip(places, lifted, strict=True)
        ),
    )
    return format_html(
        '<svg class="chart ruler" viewBox="0 0 {} {}" role="img" aria-label="{}">'
        '<desc>{}</desc><line class="axisline" x1="{}" x2="{}" y1="{}" y2="{}"/>'
        "{}{}</svg>",
        _RULER_WIDTH,
        height,
        says,
        "; ".join(
            _("%(number)d: %(miles)s miles") % {"number": number, "miles": f"{miles:g}"}
            for number, miles in places
        ),
        left,
        right,
        floor,
        floor,
        ticks,
        pins,
    )


def _lanes(centres: list[float]) -> list[int]:
    """The lane of each pin, 0 on the line: the lowest with room beside it."""
    lanes: list[int] = []
    for at, x in enumerate(centres):
        taken = {
            lanes[before]
            for before in range(at)
            if abs(centres[before] - x) < _PIN_WIDTH
        }
        lanes.append(next(lane for lane in range(at + 1) if lane not in taken))
    return lanes
