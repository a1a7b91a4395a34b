"""A map of places around a point: where they lie to each other, to scale.

Numbers in, SVG out, as in portal.ui.charts. Drawn are the places, towns by name and
rings of distance. Coasts, borders and roads are not: no source of them ships with
Assay, and a line that is nearly right misleads.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, hypot, pi, sin
from typing import TYPE_CHECKING

from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from django.utils.safestring import SafeString

_WIDTH, _HEIGHT = 420, 320
_MIDDLE, _HALF = (210, 158), 140
_PIN = 9  # radius
_STEPS = (1, 2, 5, 10, 15, 25, 50, 100)  # miles
_LETTER = 5.2  # width of a letter of a town's name
_LINE = 12  # height of a line of text


@dataclass(frozen=True, slots=True)
class MapPin:
    """A numbered place, miles east and north of the middle.

    `name` is read aloud, `target` the id of its row in the list beside the map.
    """

    number: int
    east: float
    north: float
    name: str
    target: str


@dataclass(frozen=True, slots=True)
class MapTown:
    """A town's name, miles east and north of the middle."""

    name: str
    east: float
    north: float


def get_map_reach(pins: Sequence[MapPin]) -> int:
    """Return how many miles the outermost ring is from the middle."""
    furthest = max((hypot(pin.east, pin.north) for pin in pins), default=0)
    return next((step for step in _STEPS if step >= furthest), _STEPS[-1])


def draw_place_map(
    pins: Sequence[MapPin],
    towns: Sequence[MapTown] = (),
    *,
    middle: str,
    chosen: int | None,
    says: str,
) -> SafeString | str:
    """Draw places around a point, north up; an empty text without places.

    Each pin is a link to its row, so keyboard and no script suffice. Pins that would
    cover each other stand aside, with a line to where they are. `towns` are drawn in
    their order while there is room.
    """
    if not pins:
        return ""
    reach = get_map_reach(pins)
    at = {pin.number: _to_point(pin, reach) for pin in pins}
    put = _spread(at)
    drawn = [(_draw_pin(pin, at, put, chosen),) for pin in pins]
    return format_html(
        '<svg class="chart map" viewBox="0 0 {} {}" role="group" aria-label="{}">'
        '{}{}<g aria-hidden="true"><circle class="map-here" cx="{}" cy="{}" r="4"/>'
        '<text class="strong" x="{}" y="{}" text-anchor="middle">{}</text></g>{}</svg>',
        _WIDTH,
        _HEIGHT,
        says,
        _draw_rings(reach),
        _draw_towns(towns, reach, list(put.values())),
        *_MIDDLE,
        _MIDDLE[0],
        _MIDDLE[1] + 21,
        middle,
        format_html_join("", "{}", drawn),
    )


def _draw_pin(
    pin: MapPin,
    at: dict[int, tuple[float, float]],
    put: dict[int, tuple[float, float]],
    chosen: int | None,
) -> SafeString:
    (x, y), (from_x, from_y) = put[pin.number], at[pin.number]
    leader = (
        format_html(
            '<line class="axisline" x1="{}" y1="{}" x2="{}" y2="{}"/>',
            *(f"{from_x:.1f}", f"{from_y:.1f}", f"{x:.1f}", f"{y:.1f}"),
        )
        if (x, y) != (from_x, from_y)
        else ""
    )
    state = "on" if pin.number == chosen else "dot"
    return format_html(
        '{}<a role="link" href="#{}" data-pin="{}" aria-label="{}: {}">'
        '<circle class="ruler-{}" cx="{}" cy="{}" r="{}"/>'
        '<text class="{}" x="{}" y="{}" text-anchor="middle">{}</text></a>',
        leader,
        *(pin.target, pin.target, pin.number, pin.name),
        *(state, f"{x:.1f}", f"{y:.1f}", _PIN),
        "on" if state == "on" else "strong",
        *(f"{x:.1f}", f"{y + 4:.1f}", pin.number),
    )


def _draw_rings(reach: int) -> SafeString:
    """Draw the outermost ring, up to two within it, and the needle of the compass."""
    rings = [step for step in _STEPS if step <= reach][-3:]
    x, y = _MIDDLE
    return format_html(
        '<g aria-hidden="true">{}<path class="map-north" d="M400 14l5 14h-10z"/>'
        '<text x="400" y="40" text-anchor="middle">{}</text></g>',
        format_html_join(
            "",
            '<circle class="map-ring" cx="{}" cy="{}" r="{}"/>'
            '<text class="map-far" x="{}" y="{}" text-anchor="middle">{}</text>',
            (
                (
                    *(x, y, f"{ring / reach * _HALF:.1f}", x),
                    f"{y + ring / reach * _HALF + 4:.1f}",
                    _("%(miles)s mi") % {"miles": ring},
                )
                for ring in rings
            ),
        ),
        pgettext("north on a map", "N"),
    )


def _draw_towns(
    towns: Sequence[MapTown], reach: int, taken: list[tuple[float, float]]
) -> SafeString:
    """Draw towns' names where nothing else is: a pin, another name, a ring's label."""
    x, y = _MIDDLE
    boxes = [(px - _PIN, py - _PIN, px + _PIN, py + _PIN) for px, py in taken]
    boxes.append((x - 20, y - 6, x + 20, y + 24))
    boxes += [(x - 16, below - 8, x + 16, below + 8) for below in _ring_feet(reach)]
    drawn = []
    for town in towns:
        tx, ty = _to_point(town, reach)
        half = len(town.name) * _LETTER / 2
        box = (tx - half, ty - _LINE, tx + half, ty + 4)
        inside = box[0] >= 0 and box[2] <= _WIDTH and box[1] >= 0 and box[3] <= _HEIGHT
        if inside and not any(_meet(box, other) for other in boxes):
            boxes.append(box)
            drawn.append((f"{tx:.1f}", f"{ty:.1f}", town.name))
    return format_html(
        '<g class="map-towns" aria-hidden="true">{}</g>',
        format_html_join(
            "", '<text x="{}" y="{}" text-anchor="middle">{}</text>', drawn
        ),
    )


def _ring_feet(reach: int) -> Iterator[float]:
    for ring in [step for step in _STEPS if step <= reach][-3:]:
        yield _MIDDLE[1] + ring / reach * _HALF


def _meet(
    one: tuple[float, float, float, float], other: tuple[float, float, float, float]
) -> bool:
    return (
        one[0] < other[2]
        and other[0] < one[2]
        and one[1] < other[3]
        and other[1] < one[3]
    )


def _to_point(place: MapPin | MapTown, reach: int) -> tuple[float, float]:
    scale = _HALF / reach
    return _MIDDLE[0] + place.east * scale, _MIDDLE[1] - place.north * scale


def _spread(at: dict[int, tuple[float, float]]) -> dict[int, tuple[float, float]]:
    """Return where each pin stands: at its place, else at the nearest free spot."""
    put: dict[int, tuple[float, float]] = {}
    apart = 2 * _PIN
    for number, (x, y) in at.items():
        for out in range(60):
            spots = [(x, y)] if not out else _circle(x, y, out * _PIN)
            free = [
                (sx, sy)
                for sx, sy in spots
                if _PIN <= sx <= _WIDTH - _PIN
                and _PIN <= sy <= _HEIGHT - _PIN
                and all(hypot(sx - ox, sy - oy) >= apart for ox, oy in put.values())
            ]
            if free:
                put[number] = free[0]
                break
        else:
            put[number] = (x, y)  # more pins than the map has room for
    return put


def _circle(x: float, y: float, radius: float) -> list[tuple[float, float]]:
    return [
        (x + radius * sin(turn * pi / 6), y - radius * cos(turn * pi / 6))
        for turn in range(12)
    ]
