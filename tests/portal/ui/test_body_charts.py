from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from xml.etree import ElementTree as ET

import pytest

from portal.ui.body_charts import (
    CycleDay,
    Lane,
    Stretch,
    draw_menstrual_cycle_chart,
    draw_share_bar,
    draw_sleep_stage_chart,
    find_gaps_in_sleep_stages,
    format_duration,
)

START = datetime(2026, 3, 1, 22, 30, tzinfo=UTC)
LANES = [Lane("Awake", "awake"), Lane("<b>Odd</b>", "unknown")]


def parse(drawn):
    return ET.fromstring(drawn)  # noqa: S314 - our own


def draw(stretches, hours=2):
    end = START + timedelta(hours=hours)
    drawn = draw_sleep_stage_chart(
        stretches, lanes=LANES, start=START, end=end, says="A <night>"
    )
    return drawn, parse(drawn)


def titles(svg):
    return [each.text for each in svg.iter("title")]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 min"), (89, "1 min"), (3599, "1 h 00 min"), (3900, "1 h 05 min")],
)
def test_a_length_of_time_is_told_in_hours_and_minutes(seconds, words):
    assert format_duration(seconds) == words


def test_a_night_draws_each_stage_and_each_hole():
    _, svg = draw([Stretch(0, 0, 1800), Stretch(1, 1800, 3600), Stretch(0, 5400, 7200)])

    assert titles(svg) == [
        "No data, 23:30 to 00:00, 30 min",
        "Awake, 22:30 to 23:00, 30 min",
        "<b>Odd</b>, 23:00 to 23:30, 30 min",
        "Awake, 00:00 to 00:30, 30 min",
    ]
    # Stages that touch are joined, those around a hole are not.
    assert [each.get("class") for each in svg.iter("line")].count("hyp-join") == 1


def test_texts_are_escaped():
    drawn, _ = draw([Stretch(1, 0, 7200)])

    assert "<b>" not in drawn
    assert "A &lt;night&gt;" in drawn


def test_a_night_without_stages_is_one_hole():
    _, svg = draw([])

    assert titles(svg) == ["No data, 22:30 to 00:30, 2 h 00 min"]


@pytest.mark.parametrize(("hours", "marks"), [(0.4, 0), (8, 8), (72, 12)])
def test_full_hours_are_marked_and_long_sessions_stay_readable(hours, marks):
    drawn, _ = draw([], hours)

    assert len(re.findall(r">\d\d:00<", drawn)) == marks


def test_holes_are_before_between_and_after():
    found = find_gaps_in_sleep_stages(
        [Stretch(0, 5, 10), Stretch(0, 10, 20), Stretch(1, 25, 30)], 40
    )

    assert list(found) == [(0, 5), (20, 25), (30, 40)]


def test_shares_fill_the_bar():
    drawn = draw_share_bar(
        [(LANES[0], 3600), (LANES[1], 0), (LANES[0], 3600)], says="x"
    )

    svg = parse(drawn)
    assert titles(svg) == ["Awake: 1 h 00 min", "Awake: 1 h 00 min"]
    assert [float(each.get("width")) for each in svg.iter("rect")] == [108.5, 108.5]


def strip(*days, **options):
    made = [
        CycleDay(date=date(2026, 3, 1) + timedelta(days=n), number=n + 1, **day)
        for n, day in enumerate(days)
    ]
    return parse(draw_menstrual_cycle_chart(made, says="A cycle", **options))


def test_a_cycle_draws_what_each_day_has():
    svg = strip(
        {"flow": "odd", "flow_level": 2, "temperature": 36.4},
        {"temperature": 36.5, "is_spotting": True},
        {"test": "positive", "is_positive": True, "is_fertile": True},
        {"test": "negative", "is_today": True, "temperature": 36.7},
        {"is_predicted": True},
        cover_line=36.55,
    )

    assert titles(svg) == [
        "Fertile window",
        "Cover line 36.55 °C",
        "Sun 1 Mar: 36.40 °C",
        "Mon 2 Mar: 36.50 °C",
        "Wed 4 Mar: 36.70 °C",
        "Sun 1 Mar: odd flow",
        "Mon 2 Mar: bleeding between periods",
        "Tue 3 Mar: ovulation test positive",
        "Wed 4 Mar: ovulation test negative",
        "Thu 5 Mar: predicted period",
    ]
    (path,) = [each.get("d") for each in svg.iter("path")]
    # A day without temperature breaks the line.
    assert re.sub(r"[\d. ]", "", path) == "MLM"


def test_a_cycle_with_nothing_logged_still_has_its_days():
    svg = strip({}, {})

    assert titles(svg) == []
    assert [each.text for each in svg.iter("text")][-2:] == ["1", "2"]


@pytest.mark.parametrize(("low", "high"), [(36.4, 36.4), (25, 45)])
def test_any_temperatures_have_a_scale(low, high):
    svg = strip({"temperature": low}, {"temperature": high})

    assert len([e for e in svg.iter("line") if e.get("class") == "grid"]) >= 1


def test_a_day_says_all_of_itself():
    day = CycleDay(
        date=date(2026, 3, 1),
        number=1,
        flow="heavy",
        flow_level=3,
        temperature=36.4,
        is_fertile=True,
        other=("mucus dry",),
        is_today=True,
    )

    assert day.words == "heavy flow, fertile window, 36.40 °C, mucus dry, today"
