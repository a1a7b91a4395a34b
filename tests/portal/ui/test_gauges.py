from __future__ import annotations

import re

import pytest

from portal.ui.gauges import draw_percentage_bar, draw_places_by_distance


@pytest.mark.parametrize(
    ("percent", "width"), [(-5, "0.0"), (0, "0.0"), (50, "18.0"), (130, "36.0")]
)
def test_a_meter_is_as_long_as_its_share(percent, width):
    assert f'class="meter-ok" width="{width}"' in draw_percentage_bar(
        percent, is_enough=True
    )


def test_a_ruler_ends_at_the_next_five_miles_and_marks_the_chosen_place():
    svg = draw_places_by_distance([(1, 0.8), (2, 11.3)], chosen=2, says="Two places")

    assert re.findall(r">([\d.]+) mi<", svg) == ["0", "3", "6", "9", "12", "15"]
    assert re.findall(r'class="ruler-(\w+)"', svg) == ["dot", "on"]


def test_pins_that_would_touch_are_lifted():
    svg = draw_places_by_distance(
        [(1, 1.0), (2, 1.1), (3, 1.2), (4, 4.9)], chosen=None, says="Close"
    )

    assert re.findall(r'cy="(\d+)"', svg) == ["79", "59", "39", "79"]


def test_no_places_are_no_ruler():
    assert draw_places_by_distance([], chosen=None, says="None") == ""
