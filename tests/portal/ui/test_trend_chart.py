from __future__ import annotations

import re
from datetime import date

from portal.ui.trend_chart import TrendMark, draw_result_trend_chart

DAYS = [date(2025, 1, 1), date(2025, 7, 1), date(2026, 1, 1)]


def marks(*values, low=30.0, high=200.0, interpretation="normal"):
    return [
        TrendMark(day, value, low, high, interpretation)
        for day, value in zip(DAYS, values, strict=False)
    ]


def places(svg, what):
    return [float(x) for x in re.findall(rf'<circle[^>]* {what}="([^"]+)"', svg)]


def test_points_stand_at_their_time_and_height():
    svg = draw_result_trend_chart(marks(40, 20, 30), unit="ng/mL", says="Falls")

    first, second, third = places(svg, "cx")
    top, bottom, middle = places(svg, "cy")
    assert second - first < third - second
    assert top < middle < bottom
    assert 'aria-label="Falls"' in svg
    assert ">1 Jan 2026</text>" in svg
    assert "1 Jan 2025 40 ng/mL; 1 Jul 2025 20 ng/mL; 1 Jan 2026 30 ng/mL" in svg


def test_one_range_is_one_band_and_its_bounds_stand_at_the_axis():
    svg = draw_result_trend_chart(marks(40, 50, 60), unit="", says="")

    assert svg.count('class="tr-band"') == 1
    assert '<text x="40.0" y' in svg
    assert (svg.count(">30</text>"), svg.count(">200</text>")) == (1, 1)


def test_each_labs_range_is_a_band_of_its_own():
    points = [*marks(40, 50), TrendMark(DAYS[2], 60, 15, None, "normal")]

    svg = draw_result_trend_chart(points, unit="", says="")

    bands = re.findall(r'tr-band" x="([^"]+)" y="[^"]+" width="([^"]+)"', svg)
    (x, width), (next_x, next_width) = [tuple(map(float, band)) for band in bands]
    assert x + width == next_x
    assert next_x + next_width == 520
    assert ">15</text>" in svg


def test_a_point_without_a_range_has_no_band():
    svg = draw_result_trend_chart(marks(40, 50, low=None, high=None), unit="", says="")

    assert 'class="tr-band"' not in svg


def test_states_are_told_in_words_too():
    points = [
        TrendMark(day, 1, None, None, state)
        for day, state in zip(DAYS, ("critical", "abnormal", ""), strict=True)
    ]

    svg = draw_result_trend_chart(points, unit="", says="")

    assert re.findall(r"tr-dot tr-(\w+)", svg) == ["crit", "off", "none"]
    assert re.findall(r": 1, ([\w ]+)</title>", svg) == [
        "critical",
        "out of range",
        "not interpreted",
    ]


def test_a_single_point_is_no_trend_and_texts_are_escaped():
    assert draw_result_trend_chart(marks(40), unit="", says="") == ""
    svg = draw_result_trend_chart(marks(40, 50), unit="<b>", says="<i>")
    assert "<b>" not in svg
    assert "<i>" not in svg
