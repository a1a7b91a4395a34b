from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from users.analysis.buckets import Period, list_bucket_edges

BERLIN = ZoneInfo("Europe/Berlin")
HOUR = timedelta(hours=1)


def lengths(edges):
    return [(end - start) / HOUR for start, end in pairwise(edges)]


def at(*parts):
    return datetime(*parts, tzinfo=UTC)


def test_days_begin_at_midnight_of_the_zone():
    edges = list_bucket_edges(date(2026, 3, 1), date(2026, 3, 2), Period.DAY, BERLIN)

    assert edges == [at(2026, 2, 28, 23), at(2026, 3, 1, 23), at(2026, 3, 2, 23)]


@pytest.mark.parametrize(
    ("day", "zone", "hours"),
    [
        (date(2026, 3, 29), "Europe/Berlin", 23),
        (date(2026, 10, 25), "Europe/Berlin", 25),
        (date(2026, 4, 5), "Australia/Lord_Howe", 24.5),
        (date(2026, 10, 4), "Australia/Lord_Howe", 23.5),
        (date(2026, 10, 25), "Asia/Kolkata", 24),
        (date(2018, 11, 4), "America/Sao_Paulo", 23),  # midnight was skipped
        (date(2018, 2, 17), "America/Sao_Paulo", 25),  # 23 o'clock came twice
        (date(2026, 11, 1), "America/Havana", 25),  # midnight comes twice
    ],
    ids=str,
)
def test_a_day_is_as_long_as_its_clocks_make_it(day, zone, hours):
    zone = ZoneInfo(zone)

    by_day = list_bucket_edges(day, day, Period.DAY, zone)
    by_hour = list_bucket_edges(day, day, Period.HOUR, zone)

    assert lengths(by_day) == [hours]
    assert (by_hour[0], by_hour[-1]) == tuple(by_day)
    assert sum(lengths(by_hour)) == hours
    assert max(lengths(by_hour)) == 1


def test_an_hour_that_comes_twice_is_two():
    edges = list_bucket_edges(
        date(2026, 10, 25), date(2026, 10, 25), Period.HOUR, BERLIN
    )

    local = [edge.astimezone(BERLIN) for edge in edges]
    assert [each.hour for each in local[:5]] == [0, 1, 2, 2, 3]
    assert set(lengths(edges)) == {1}


def test_hours_are_those_of_the_clocks_after_half_an_hour_was_skipped():
    zone = ZoneInfo("Australia/Lord_Howe")

    edges = list_bucket_edges(date(2026, 10, 4), date(2026, 10, 4), Period.HOUR, zone)

    assert [edge.astimezone(zone).strftime("%H:%M") for edge in edges[:5]] == [
        *("00:00", "01:00", "02:30", "03:00", "04:00")
    ]


def test_weeks_begin_on_monday_and_are_cut_to_the_range():
    edges = list_bucket_edges(date(2026, 3, 25), date(2026, 4, 7), Period.WEEK, BERLIN)

    assert [edge.astimezone(BERLIN).strftime("%a %d %H") for edge in edges] == [
        *("Wed 25 00", "Mon 30 00", "Mon 06 00", "Wed 08 00")
    ]
    assert lengths(edges)[:2] == [5 * 24 - 1, 7 * 24]


def test_a_day_that_a_zone_never_had_is_no_bucket():
    zone = ZoneInfo("Pacific/Apia")

    edges = list_bucket_edges(date(2011, 12, 29), date(2011, 12, 31), Period.DAY, zone)

    assert lengths(edges) == [24, 24]
