"""Calendar entries of appointments (iCalendar, RFC 5545), alone and as a feed.

An entry names neither the patient nor a test, as calendars are shared. The entries of a
feed say even less, as a calendar server of others fetches and stores them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from labs.documents.appointment_sheet import describe_fasting_start

if TYPE_CHECKING:
    from collections.abc import Iterable

    from icalendar import Calendar, Event

    from labs.documents.appointment_sheet import AppointmentDetails

# Ours: how often a calendar should ask for a feed again (RFC 7986, 5.7).
_REFRESH_INTERVAL = timedelta(hours=1)
_PRODUCT = "-//Assay//Visits//EN"


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """A visit as one entry of a feed; moments are aware, in any zone.

    `changes` counts what was changed since the booking, `changed_at` is when it was
    last. `location` and `url` are empty where the reader gets none.
    """

    appointment_id: str
    summary: str
    description: str
    location: str
    url: str
    starts_at: datetime
    ends_at: datetime
    is_confirmed: bool
    is_cancelled: bool
    changes: int
    changed_at: datetime


def write_icalendar_entry(
    appointment: AppointmentDetails, *, host: str, at: datetime
) -> bytes:
    """Write the entry, stamped `at` a moment; `host` makes its id globally unique.

    Moments are UTC, which every calendar shows on its own clock. A visit that was moved
    comes under the same name with a higher number, so that a calendar that has it moves
    it too. Texts are in the current language. Source: RFC 5545; Ours (spec silent): a
    reminder a day ahead, and one when fasting begins.
    """
    from icalendar import Alarm

    calendar = _new_calendar()
    calendar.add("method", "CANCEL" if appointment.is_cancelled else "PUBLISH")
    event = _new_event(
        uid=f"{appointment.appointment_id}@{host}",
        starts_at=appointment.starts_at,
        ends_at=appointment.ends_at,
        status=_get_calendar_status(
            is_cancelled=appointment.is_cancelled,
            is_confirmed=appointment.is_confirmed,
        ),
        changes=appointment.changes,
        stamp=at,
    )
    event.add("summary", _("Lab visit, %(place)s") % {"place": appointment.place})
    event.add("location", ", ".join((appointment.place, *appointment.address)))
    event.add("geo", (round(appointment.latitude, 6), round(appointment.longitude, 6)))
    event.add("description", _describe_entry(appointment))
    for before, text in _list_alarms(appointment):
        alarm = Alarm()
        alarm.add("action", "DISPLAY")
        alarm.add("trigger", -before)
        alarm.add("description", text)
        event.add_component(alarm)
    calendar.add_component(event)
    body: bytes = calendar.to_ical()
    return body


def write_icalendar_feed(
    entries: Iterable[FeedEntry], *, name: str, host: str
) -> bytes:
    """Write a feed; the same visits give the same bytes.

    A cancelled visit stays as such, so that a calendar that keeps what left a feed
    marks it. Without METHOD, each entry is stamped when it was last changed, and it has
    no reminder: those are the reader's to set. Source: RFC 5545 3.7.2, 3.8.7.2; RFC
    7986 5.1, 5.7.
    """
    from icalendar import vText

    calendar = _new_calendar()
    calendar.add("name", name)
    calendar.add("x-wr-calname", vText(name))  # what readers older than RFC 7986 show
    calendar.add(
        "refresh-interval", _REFRESH_INTERVAL, parameters={"VALUE": "DURATION"}
    )
    for one in entries:
        event = _new_event(
            uid=f"{one.appointment_id}@{host}",
            starts_at=one.starts_at,
            ends_at=one.ends_at,
            status=_get_calendar_status(
                is_cancelled=one.is_cancelled, is_confirmed=one.is_confirmed
            ),
            changes=one.changes,
            stamp=one.changed_at,
        )
        event.add("last-modified", one.changed_at.astimezone(UTC))
        event.add("transp", "TRANSPARENT" if one.is_cancelled else "OPAQUE")
        for field in ("summary", "description", "location", "url"):
            if text := getattr(one, field):
                event.add(field, text)
        calendar.add_component(event)
    body: bytes = calendar.to_ical()
    return body


def _new_calendar() -> Calendar:
    from icalendar import Calendar

    calendar = Calendar()
    calendar.add("version", "2.0")
    calendar.add("prodid", _PRODUCT)
    return calendar


def _new_event(
    *,
    uid: str,
    starts_at: datetime,
    ends_at: datetime,
    status: str,
    changes: int,
    stamp: datetime,
) -> Event:
    from icalendar import Event

    event = Event()
    event.add("uid", uid)
    event.add("sequence", changes)
    event.add("dtstamp", stamp.astimezone(UTC))
    event.add("dtstart", starts_at.astimezone(UTC))
    event.add("dtend", ends_at.astimezone(UTC))
    event.add("status", status)
    event.add("class", "PRIVATE")
    return event


def _get_calendar_status(*, is_cancelled: bool, is_confirmed: bool) -> str:
    if is_cancelled:
        return "CANCELLED"
    return "CONFIRMED" if is_confirmed else "TENTATIVE"


def _describe_entry(appointment: AppointmentDetails) -> str:
    number, phone = appointment.external_id, appointment.phone
    lines = [
        _("Local time: %(time)s.") % {"time": f"{appointment.starts_at:%H:%M %Z}"},
        _("Visit number: %(number)s.") % {"number": number} if number else "",
        _("Phone: %(phone)s.") % {"phone": phone} if phone else "",
        describe_fasting_start(appointment) if appointment.is_fasting else "",
        *appointment.guide.before,
    ]
    return "\n".join(text for text in lines if text)


def _list_alarms(appointment: AppointmentDetails) -> list[tuple[timedelta, str]]:
    if appointment.is_cancelled:
        return []
    alarms = [(timedelta(days=1), _("Your lab visit is tomorrow."))]
    if appointment.is_fasting:
        alarms.append((timedelta(hours=12), _("Start fasting now for your lab visit.")))
    return alarms
