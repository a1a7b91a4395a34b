from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from portal.lib.periods import (
    SkippedTime,
    convert_local_time_to_utc,
    find_day_start,
    find_time_zone_by_name,
    list_time_zones,
)

BERLIN = ZoneInfo("Europe/Berlin")


def test_a_wall_clock_time_becomes_utc():
    found = convert_local_time_to_utc(
        datetime.fromisoformat("2026-07-01T12:00"), BERLIN
    )

    assert found == datetime(2026, 7, 1, 10, tzinfo=UTC)
    assert found.tzinfo is UTC


def test_an_hour_that_comes_twice_means_the_first():
    found = convert_local_time_to_utc(
        datetime.fromisoformat("2026-10-25T02:30"), BERLIN
    )

    assert found == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)


def test_an_hour_that_never_came_is_refused():
    with pytest.raises(SkippedTime):
        convert_local_time_to_utc(datetime.fromisoformat("2026-03-29T02:30"), BERLIN)


def test_zones_are_those_of_the_database_spelt_as_there():
    assert "Europe/Berlin" in list_time_zones()
    assert "europe/berlin" not in list_time_zones()


@pytest.mark.parametrize("name", ["", "Mars/Olympus_Mons"])
def test_an_unknown_zone_is_utc(name):
    assert find_time_zone_by_name(name) is UTC


def test_a_known_zone_is_found():
    assert find_time_zone_by_name("Europe/Berlin") == BERLIN


def test_a_day_starts_when_clocks_first_date_it():
    cairo = ZoneInfo("Africa/Cairo")

    assert find_day_start(date(2026, 7, 1), BERLIN) == datetime(
        2026, 6, 30, 22, tzinfo=UTC
    )
    # Cairo's clocks jumped from midnight to one o'clock.
    assert find_day_start(date(2024, 4, 26), cairo) == datetime(
        2024, 4, 25, 22, tzinfo=UTC
    )


@pytest.mark.parametrize(
    ("local", "zone"),
    [
        ("0001-01-01T00:00", "Asia/Tokyo"),
        ("9999-12-31T23:00", "America/Los_Angeles"),
    ],
)
def test_a_time_at_an_end_of_the_calendar_is_none(local, zone):
    with pytest.raises(SkippedTime):
        convert_local_time_to_utc(datetime.fromisoformat(local), ZoneInfo(zone))
