from __future__ import annotations

import re
from itertools import combinations
from math import hypot

import pytest

from portal.ui.place_map import MapPin, MapTown, draw_place_map, get_map_reach

PIN = re.compile(
    r'<a role="link" href="#([^"]+)"[^>]*aria-label="(\d+): ([^"]*)">'
    r'<circle class="ruler-(\w+)" cx="([\d.]+)" cy="([\d.]+)"'
)


def pin(number, east, north):
    return MapPin(number, east, north, f"Place {number}", f"site-{number}")


@pytest.mark.parametrize(
    ("east", "north", "at"),
    [(0, 5, (210, 18)), (5, 0, (350, 158)), (0, -2.5, (210, 228)), (-3, 4, (126, 46))],
)
def test_a_place_stands_where_it_lies_north_up_and_to_scale(east, north, at):
    svg = draw_place_map(
        [pin(1, 0, 4.9), pin(2, east, north)], middle="85004", chosen=2, says="Two"
    )

    (_, _, second, state, x, y) = PIN.findall(svg)[1]
    assert (second, state) == ("Place 2", "on")
    if (east, north) != (0, 5):  # that one stands beside the first
        assert (float(x), float(y)) == at
    assert re.findall(r">(\d+) mi<", svg) == ["1", "2", "5"]


def test_each_pin_leads_to_its_row_and_none_covers_another():
    """Thirty, the most that a search finds, of which ten are at one address."""
    pins = [pin(n, 0.01 * (n % 20), 8 if n > 20 else 7) for n in range(1, 31)]

    svg = draw_place_map(pins, middle="85004", chosen=None, says="Thirty")

    found = PIN.findall(svg)
    assert [target for target, *_ in found] == [f"site-{n}" for n in range(1, 31)]
    spots = [(float(x), float(y)) for *_, x, y in found]
    gaps = [hypot(a[0] - b[0], a[1] - b[1]) for a, b in combinations(spots, 2)]
    assert min(gaps) > 17.8  # a pin is 18 wide, drawn to a tenth
    assert all(9 <= x <= 411 and 9 <= y <= 311 for x, y in spots)


def test_a_town_is_named_where_there_is_room_and_as_text():
    towns = [
        MapTown("Tempe", 3, 3),
        MapTown("Too near", 3.1, 3.05),
        MapTown("<b>Mesa", -3, 2),
        MapTown("Under the pin", -4, -3),
        MapTown("Out of the map", 14, 0),
    ]

    svg = draw_place_map(
        [pin(1, -4, -3)], towns, middle="85004", chosen=None, says="One"
    )

    group = svg[svg.index("map-towns") :]
    assert re.findall(r">([^<>]+)</text>", group[: group.index("</g>")]) == [
        "Tempe",
        "&lt;b&gt;Mesa",
    ]


@pytest.mark.parametrize(
    ("furthest", "reach"), [(0.2, 1), (1, 1), (4, 5), (11.3, 15), (48, 50), (140, 100)]
)
def test_the_outermost_ring_is_a_round_number_of_miles(furthest, reach):
    assert get_map_reach([pin(1, 0.1, 0), pin(2, 0, -furthest)]) == reach


def test_no_places_are_no_map():
    assert draw_place_map([], middle="85004", chosen=None, says="None") == ""
