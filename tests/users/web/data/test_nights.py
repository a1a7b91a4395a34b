from __future__ import annotations

from datetime import UTC, date, datetime
from uuid import uuid4

from tests.factories.summaries import night_element
from users.queries import SummaryRow
from users.web.data.nights import Night

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def night(**wanted):
    body = night_element(**wanted)
    return Night(SummaryRow(uuid4(), "oura", "ring", None, None, body, NOON, NOON))


def lines(shown):
    return [(row.stage, row.at, row.until, row.length) for row in shown.table]


def test_a_night_is_told_by_the_clock_where_it_was_slept():
    shown = night()

    assert shown.clock_times == "23:00 to 01:00"
    assert shown.day == date(2026, 2, 28)
    assert shown.length == "2 h 00 min"
    assert lines(shown) == [
        ("Light", "23:00", "23:30", "30 min"),
        ("Deep", "23:30", "00:30", "1 h 00 min"),
        ("REM", "00:30", "01:00", "30 min"),
    ]


def test_a_night_is_laid_under_the_heart_rate_of_its_time():
    assert night().explorer_query.endswith(
        "&start=2026-02-28T22:00:00Z&end=2026-03-01T00:00:00Z"
    )


def test_a_night_that_began_after_midnight_is_of_the_day_before():
    shown = night(
        session_start="2026-03-01T01:00:00", session_end="2026-03-01T08:00:00"
    )

    assert shown.start.date() == date(2026, 3, 1)
    assert shown.day == date(2026, 2, 28)


def test_totals_come_in_the_order_of_the_lanes():
    shown = night(stage_type=[1, 4, 1])

    assert shown.legend == [("awake", "Awake 1 h 00 min"), ("deep", "Deep 1 h 00 min")]
    assert (shown.deep, shown.rem) == ("1 h 00 min", "")
    assert shown.says == "2 h 00 min in bed. Awake 1 h 00 min, Deep 1 h 00 min."


def test_an_unknown_code_has_a_lane_of_its_own_named_by_its_number():
    shown = night(stage_type=[2, 17, -1])

    assert shown.legend == [
        ("light", "Light 30 min"),
        ("unknown", "Unknown 30 min"),
        ("unknown", "Stage 17 1 h 00 min"),
    ]
    assert ">Stage 17<" in shown.chart


def test_a_hole_is_a_line_of_the_table():
    shown = night(stage_end_offset_second=[1200, 5400, 7000])

    assert lines(shown)[1:2] == [("No data", "23:20", "23:30", "10 min")]
    assert lines(shown)[-1] == ("No data", "00:56", "01:00", "3 min")


def test_a_night_without_stages_is_shown():
    shown = night(
        stage_type=[], stage_start_offset_second=[], stage_end_offset_second=[]
    )

    assert shown.says == "2 h 00 min in bed. No stages."
    assert lines(shown) == [("No data", "23:00", "01:00", "2 h 00 min")]
    assert "<rect" not in shown.shares
