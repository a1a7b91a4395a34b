"""Calendar entries of appointments (iCalendar, RFC 5545).

An entry names neither the patient nor a test, as calendars are shared.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from labs.documents.guides import get_fasting_start

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labs.documents.appointment_sheet import AppointmentDetails

# RFC 5545 3.1: a line has at most 75 octets, without its end.
_LINE_MAX = 75
_ESCAPED = str.maketrans({"\\": "\\\\", ";": "\\;", ",": "\\,", "\n": "\\n", "\r": ""})


def write_icalendar_entry(
    appointment: AppointmentDetails, *, host: str, at: datetime
) -> bytes:
    """Write the entry, stamped `at` a moment; `host` makes its id globally unique.

    Moments are UTC, which every calendar shows on its own clock. A visit that was moved
    comes under the same name with a higher number, so that a calendar that has it moves
    it too. Source: RFC 5545; Ours (spec silent): a reminder a day ahead, and one when
    fasting begins.
    """
    location = ", ".join((appointment.place, *appointment.address))
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//Assay//Visits//EN",
        f"METHOD:{'CANCEL' if appointment.is_cancelled else 'PUBLISH'}",
        "BEGIN:VEVENT",
        f"UID:{appointment.appointment_id}@{host}",
        f"SEQUENCE:{appointment.changes}",
        f"DTSTAMP:{_format_utc(at)}",
        f"DTSTART:{_format_utc(appointment.starts_at)}",
        f"DTEND:{_format_utc(appointment.ends_at)}",
        f"STATUS:{_calendar_status(appointment)}",
        f"SUMMARY:{_escape_text(f'Lab visit, {appointment.place}')}",
        f"LOCATION:{_escape_text(location)}",
        f"GEO:{appointment.latitude:.6f};{appointment.longitude:.6f}",
        f"DESCRIPTION:{_escape_text(_entry_description(appointment))}",
        "CLASS:PRIVATE",
        *([] if appointment.is_cancelled else _alarm_lines(appointment)),
        "END:VEVENT",
        "END:VCALENDAR",
    ]
    return "".join(
        f"{part}\r\n" for line in lines for part in _fold_line(line)
    ).encode()


def _calendar_status(appointment: AppointmentDetails) -> str:
    if appointment.is_cancelled:
        return "CANCELLED"
    return "CONFIRMED" if appointment.is_confirmed else "TENTATIVE"


def _entry_description(appointment: AppointmentDetails) -> str:
    lines = [
        f"Local time: {appointment.starts_at:%H:%M %Z}.",
        f"Visit number: {appointment.external_id}." if appointment.external_id else "",
        f"Phone: {appointment.phone}." if appointment.phone else "",
        _fasting_reminder(appointment) if appointment.is_fasting else "",
        *appointment.guide.before,
    ]
    return "\n".join(text for text in lines if text)


def _fasting_reminder(appointment: AppointmentDetails) -> str:
    since = get_fasting_start(appointment.starts_at)
    return f"Start fasting on {since:%A} {since.day} {since:%B} at {since:%H:%M}."


def _alarm_lines(appointment: AppointmentDetails) -> list[str]:
    alarms = [("-P1D", "Your lab visit is tomorrow.")]
    if appointment.is_fasting:
        alarms.append(("-PT12H", "Start fasting now for your lab visit."))
    return [
        line
        for trigger, text in alarms
        for line in (
            "BEGIN:VALARM",
            "ACTION:DISPLAY",
            f"TRIGGER:{trigger}",
            f"DESCRIPTION:{text}",
            "END:VALARM",
        )
    ]


def _format_utc(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y%m%dT%H%M%SZ}"


def _escape_text(text: str) -> str:
    return text.translate(_ESCAPED)


def _fold_line(line: str) -> Iterator[str]:
    """Split a line into pieces of at most _LINE_MAX octets."""
    piece = ""
    for sign in line:
        if len((piece + sign).encode()) > _LINE_MAX:
            yield piece
            piece = " "
        piece += sign
    yield piece
