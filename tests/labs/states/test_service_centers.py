from __future__ import annotations

from datetime import time

import pytest

from labs.states.service_centers import (
    Capability,
    OpenSpan,
    deserialize_opening_hours,
    parse_opening_hours,
    parse_service_center_capability,
    serialize_opening_hours,
)

MORNING = OpenSpan(time(6, 30), time(12))
AFTERNOON = OpenSpan(time(12, 30), time(15, 30))
SATURDAY = OpenSpan(time(7), time(11))


def test_hours_are_read_by_weekday():
    hours = parse_opening_hours("mon-fri 06:30-12:00 12:30-15:30; Sat 07:00-11:00; wed")

    day = (MORNING, AFTERNOON)
    assert hours == (day, day, (), day, day, (SATURDAY,), ())


def test_hours_are_stored_and_read_again():
    hours = parse_opening_hours("tue 06:30-12:00")

    assert serialize_opening_hours(hours)["tuesday"] == [["06:30", "12:00"]]
    assert serialize_opening_hours(hours)["monday"] == []
    assert deserialize_opening_hours(serialize_opening_hours(hours)) == hours


@pytest.mark.parametrize(
    "text",
    [
        "someday 07:00-08:00",
        "fri-mon 07:00-08:00",
        "mon 7-8",
        "mon 09:00-08:00",
        "mon 25:00-26:00",
        "mon 07:00-12:00 11:00-13:00",
        "07:00-12:00",
    ],
)
def test_what_is_no_hours_is_refused(text):
    with pytest.raises(ValueError):
        parse_opening_hours(text)


def test_any_way_to_book_through_us_is_one_capability():
    assert parse_service_center_capability("appointment_scheduling_via_anything") == (
        Capability.BOOKABLE_HERE
    )
    assert parse_service_center_capability("stat") == Capability.STAT
    assert parse_service_center_capability("parking") is None
