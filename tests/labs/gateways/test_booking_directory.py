from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from labs.gateways.booking_directory import (
    is_public_holiday,
    list_slot_start_times,
    next_full_hour,
)
from labs.states.service_centers import parse_opening_hours

NIGHT = parse_opening_hours("mon-sun 00:00-04:00")[0]


def walls(spans, zone, day):
    """Starts as the clocks of the zone show them."""
    return [
        f"{start.astimezone(ZoneInfo(zone)):%H:%M}"
        for start in list_slot_start_times(spans, zone, day)
    ]


def test_a_day_has_a_slot_every_twenty_minutes_that_ends_in_time():
    spans = parse_opening_hours("mon-fri 08:00-09:00 13:00-13:50")[0]

    assert walls(spans, "America/New_York", date(2026, 3, 2)) == [
        *("08:00", "08:20", "08:40", "13:00", "13:20"),
    ]


def test_a_skipped_hour_has_no_slots():
    found = walls(NIGHT, "America/New_York", date(2026, 3, 8))

    assert found[:6] == ["00:00", "00:20", "00:40", "01:00", "01:20", "01:40"]
    assert found[6:] == ["03:00", "03:20", "03:40"]


def test_a_repeated_hour_has_its_slots_twice():
    starts = list_slot_start_times(NIGHT, "America/New_York", date(2026, 11, 1))
    found = walls(NIGHT, "America/New_York", date(2026, 11, 1))

    assert found[3:9] == ["01:00", "01:20", "01:40", "01:00", "01:20", "01:40"]
    assert len(starts) == len(set(starts)) == 15
    assert starts[3] == datetime(2026, 11, 1, 5, tzinfo=UTC)
    assert starts[6] == datetime(2026, 11, 1, 6, tzinfo=UTC)


@pytest.mark.parametrize("day", [date(2026, 1, 5), date(2026, 7, 6)])
def test_arizona_keeps_its_time_in_summer(day):
    spans = parse_opening_hours("mon 07:00-07:20")[0]

    (start,) = list_slot_start_times(spans, "America/Phoenix", day)

    assert start.hour == 14


def test_across_a_zone_line_the_same_hours_are_an_hour_apart():
    spans = parse_opening_hours("mon 07:00-07:20")[0]
    day = date(2026, 7, 6)

    (eastern,) = list_slot_start_times(spans, "America/New_York", day)
    (central,) = list_slot_start_times(spans, "America/Chicago", day)

    assert (eastern.hour, central.hour) == (11, 12)


def test_public_holidays_are_closed_and_others_are_not():
    closed = ["2026-01-01", "2026-07-03", "2026-11-26", "2026-12-25", "2027-12-31"]
    open_ = ["2026-01-19", "2026-10-12", "2026-11-11", "2026-11-27"]

    assert [is_public_holiday(date.fromisoformat(day)) for day in closed] == [True] * 5
    assert [is_public_holiday(date.fromisoformat(day)) for day in open_] == [False] * 4
    assert walls(NIGHT, "America/New_York", date(2026, 12, 25)) == []


def test_the_next_hour_is_later_than_now_also_at_the_stroke():
    stroke = datetime(2026, 3, 2, 16, tzinfo=UTC)

    assert next_full_hour(stroke, "America/Phoenix") == datetime(
        2026, 3, 2, 17, tzinfo=UTC
    )
    # Where zones lie half an hour off, so do the hours.
    assert next_full_hour(stroke, "Asia/Kolkata") == datetime(
        2026, 3, 2, 16, 30, tzinfo=UTC
    )
