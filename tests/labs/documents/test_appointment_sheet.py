from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from labs.documents.appointment_sheet import AppointmentDetails, render_appointment_page
from labs.documents.calendar_entry import write_icalendar_entry
from labs.documents.guides import get_collection_guide, get_fasting_start
from tests.labs.printed import pages_of

PHOENIX = ZoneInfo("America/Phoenix")
NEW_YORK = ZoneInfo("America/New_York")
STAMP = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)


def visit(**fields):
    starts_at = fields.pop("starts_at", datetime(2026, 11, 24, 8, 40, tzinfo=PHOENIX))
    is_fasting = fields.pop("is_fasting", True)
    return AppointmentDetails(
        **{
            "appointment_id": "5f0e",
            "order_id": "0b6d",
            "starts_at": starts_at,
            "ends_at": starts_at + timedelta(minutes=20),
            "place": "Harborview; Service Center",
            "address": ("8577 Garden Road", "Phoenix, AZ 85004"),
            "phone": "+16025550102",
            "hours": (("Monday to Friday", "06:00 to 14:30"),),
            "latitude": 33.46,
            "longitude": -112.0664,
            "lab": "Quest",
            "team": "Harbor Longevity",
            "external_id": "Q-77",
            "guide": get_collection_guide(
                method="walk_in_test", sample_type="serum", fasting=is_fasting
            ),
            "is_fasting": is_fasting,
            "is_confirmed": True,
            "is_cancelled": False,
            "is_sandbox": False,
            **fields,
        }
    )


def entry(visit):
    text = write_icalendar_entry(visit, host="assay.example", at=STAMP).decode()
    assert all(len(line.encode()) <= 75 for line in text.split("\r\n"))
    return text.replace("\r\n ", "").split("\r\n")


def test_the_sheet_says_when_where_and_how_to_get_ready():
    (page,) = pages_of(render_appointment_page(visit(), patient="Ada Example").to_pdf())

    for text in (
        "For Ada Example",
        "Tuesday 24 November 2026, 08:40 MST",
        "Until 09:00",
        "Harborview; Service Center",
        "8577 Garden Road",
        "Visit number Q-77",
        "Start fasting on Monday 23 November at 20:40.",
        "Monday to Friday 06:00 to 14:30",
    ):
        assert text in page
    assert "SANDBOX" not in page
    assert "NOT CONFIRMED" not in page


@pytest.mark.parametrize(
    ("fields", "notice"),
    [
        ({"is_confirmed": False}, "NOT CONFIRMED YET"),
        ({"is_cancelled": True}, "CANCELLED"),
        ({"is_sandbox": True}, "SANDBOX"),
    ],
)
def test_the_sheet_says_first_what_nobody_may_overlook(fields, notice):
    (page,) = pages_of(render_appointment_page(visit(**fields), patient="Ada").to_pdf())

    assert notice in page


def test_hours_of_a_fast_are_hours_across_a_change_of_clocks():
    after_spring = datetime(2026, 3, 8, 8, 0, tzinfo=NEW_YORK)
    after_autumn = datetime(2026, 11, 1, 8, 0, tzinfo=NEW_YORK)

    assert f"{get_fasting_start(after_spring):%d %H:%M %Z}" == "07 19:00 EST"
    assert f"{get_fasting_start(after_autumn):%d %H:%M %Z}" == "31 21:00 EDT"


def test_a_calendar_gets_the_moment_in_utc_and_nothing_of_the_patient():
    lines = entry(visit())

    assert lines[:2] == ["BEGIN:VCALENDAR", "VERSION:2.0"]
    for line in (
        "METHOD:PUBLISH",
        "UID:5f0e@assay.example",
        "SEQUENCE:0",
        "DTSTAMP:20261120T090000Z",
        "DTSTART:20261124T154000Z",
        "DTEND:20261124T160000Z",
        "STATUS:CONFIRMED",
        "SUMMARY:Lab visit\\, Harborview\\; Service Center",
        "TRIGGER:-PT12H",
    ):
        assert line in lines
    assert lines.count("BEGIN:VALARM") == 2


@pytest.mark.parametrize(
    ("fields", "status", "method", "reminders"),
    [
        ({"is_confirmed": False, "is_fasting": False}, "TENTATIVE", "PUBLISH", 1),
        ({"is_cancelled": True, "changes": 2}, "CANCELLED", "CANCEL", 0),
    ],
)
def test_a_calendar_is_told_how_sure_a_visit_is(fields, status, method, reminders):
    lines = entry(visit(**fields))

    assert f"STATUS:{status}" in lines
    assert f"METHOD:{method}" in lines
    assert f"SEQUENCE:{fields.get('changes', 0)}" in lines
    assert lines.count("BEGIN:VALARM") == reminders
