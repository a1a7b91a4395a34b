from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from portal.ui.series_chart import (
    Curve,
    Lane,
    Mark,
    Stay,
    TimeNote,
    draw_time_series_chart,
)

START = datetime(2026, 2, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


def mark(hour, value, low=None, high=None, hours=0):
    at = START + hour * HOUR
    low = value if low is None else low
    high = value if high is None else high
    return Mark(at, at + hours * HOUR, value, low, high)


def curve(*marks, **given):
    return Curve(
        **{
            "name": "Heart rate",
            "unit": "bpm",
            "hue": "heart",
            "marks": marks,
            "joins": HOUR,
            **given,
        }
    )


def draw(*curves, lanes=(), zone=UTC, hours=24, notes=()):
    return draw_time_series_chart(
        curves,
        lanes,
        start=START,
        end=START + hours * HOUR,
        zone=zone,
        says="Up",
        notes=notes,
    )


def paths(svg, kind):
    return re.findall(rf'class="sr-{kind}" d="([^"]*)"', svg)


def test_a_gap_is_not_joined():
    (line,) = paths(
        draw(curve(mark(0, 60), mark(1, 61), mark(3, 62), mark(4, 63))), "line"
    )

    assert line.count("M") == 2
    assert line.count("L") == 2


def test_a_mark_by_itself_is_a_dot():
    svg = draw(curve(mark(0, 60), mark(5, 62), mark(6, 61)))

    assert svg.count("<circle") == 1
    assert paths(svg, "line")[0].count("M") == 1


def test_peaks_are_in_the_band():
    svg = draw(curve(mark(0, 60, 50, 100), mark(1, 60, 40, 80), joins=2 * HOUR))

    (band,) = paths(svg, "band")
    heights = [float(y) for _, y in re.findall(r"([\d.]+) ([\d.]+)", band)]
    assert min(heights) == 22  # the scale ends at 100
    assert len(heights) == 4


def test_each_unit_has_its_scale_and_one_unit_shares_it():
    svg = draw(
        curve(mark(0, 60), mark(1, 80)),
        curve(mark(0, 70), mark(1, 90), hue="sleep"),
        curve(mark(0, 5, hours=1), unit="count", hue="steps", shape="bars"),
    )

    assert svg.count(">bpm</text>") == 1
    assert svg.count(">count</text>") == 1
    assert svg.count('class="sr-bar"') == 1


def test_bars_stand_on_zero_and_show_their_whole_value():
    svg = draw(curve(mark(0, 500, 1, 90, hours=1), shape="bars"))

    ((y, height),) = re.findall(r'sr-bar" .*?y="([\d.]+)" height="([\d.]+)"', svg)
    assert float(y) + float(height) == 236
    assert float(y) >= 22


def test_times_are_those_of_the_zone():
    svg = draw(curve(mark(0, 60)), zone=ZoneInfo("Asia/Kolkata"))

    assert ">06:00</text>" in svg
    assert ">2 Feb</text>" in svg


def test_long_ranges_are_told_by_days():
    svg = draw(curve(mark(0, 60)), hours=24 * 90)

    assert ">1 Feb</text>" in svg
    assert ":00</text>" not in svg
    assert svg.count('class="grid" x1') < 30


def test_stays_are_lanes_below_and_cut_to_the_time():
    night = Stay(START - HOUR, START + HOUR, "deep", "Deep & long")

    svg = draw(lanes=[Lane("Sleep", [night])])

    assert "<title>Deep &amp; long</title>" in svg
    assert re.search(r'class="st-deep" x="44"', svg)


def test_an_annotation_reaches_over_all_that_is_drawn():
    night = Stay(START, START + 8 * HOUR, "deep", "Deep")
    trip = TimeNote(START, START + 6 * HOUR, 1, "Travel")

    alone = draw(lanes=[Lane("Sleep", [night])], notes=[trip])
    below = draw(curve(mark(0, 60)), lanes=[Lane("Sleep", [night])], notes=[trip])

    spans = [re.search(r'class="cn-span" [^>]*', svg)[0] for svg in (alone, below)]
    assert [re.findall(r' (?:y|height)="([^"]+)"', span) for span in spans] == [
        ["0", "34"],
        ["22", "234"],
    ]
    # The lane covers no number, nor of two that stand below each other.
    two = draw(lanes=[Lane("Sleep", [night])], notes=[trip, trip._replace(number=2)])
    places = re.findall(r'class="cn-dot" [^>]*cy="([^"]+)" r="7"', two)
    assert places == ["7", "21"]
    assert re.search(r'class="cy-cell" x="44" y="34"', two)


def test_a_value_that_never_changes_is_drawn():
    (line,) = paths(draw(curve(mark(0, 0), mark(1, 0))), "line")

    assert line.startswith("M")


def test_without_marks_there_is_an_empty_plot():
    assert paths(draw(curve()), "line") == [""]
