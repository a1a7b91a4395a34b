"""The patient's sheet of a booked appointment: when, where, how to prepare.

It is one page in plain words and large type.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from labs.documents.codes import draw_qr_code
from labs.documents.guides import get_fasting_start
from labs.documents.sheet import MARGIN, SOFT, WIDTH, Sheet
from labs.documents.typeface import (
    BOLD,
    REGULAR,
    break_text_into_lines,
    measure_text_width,
)
from portal.ui.dates import write_date

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from labs.documents.guides import CollectionGuide

_SIZE = 10.5
_LEADING = 1.36
_INDENT = 16.0
_LABEL = 92.0
_QR = 76.0


@dataclass(frozen=True, slots=True)
class AppointmentDetails:
    """An appointment as printed on documents.

    Moments are in the zone of the place. `address` are lines, `hours` pairs of days and
    times; `latitude` and `longitude` are degrees. `changes` counts what was changed
    since the booking. `is_confirmed` is false while the provider has not confirmed.
    """

    appointment_id: str
    order_id: str
    starts_at: datetime
    ends_at: datetime
    place: str
    address: Sequence[str]
    phone: str
    hours: Sequence[tuple[str, str]]
    latitude: float
    longitude: float
    lab: str
    team: str
    external_id: str
    guide: CollectionGuide
    is_fasting: bool
    is_confirmed: bool
    is_cancelled: bool
    is_sandbox: bool
    changes: int = 0


def render_appointment_page(appointment: AppointmentDetails, *, patient: str) -> Sheet:
    """Render the patient's page in the current language; `patient` is the full name."""
    foot = [_("Order %(id)s") % {"id": appointment.order_id}]
    if appointment.external_id:
        foot.append(_("Visit %(id)s") % {"id": appointment.external_id})
    sheet = Sheet(
        title=_("Your visit"),
        running_head=_("Your visit, continued"),
        foot="     ".join(foot),
    )
    sheet.y += 20
    sheet.write_line(_("Your visit"), size=22, font=BOLD)
    sheet.y += 8
    sheet.write_paragraph(
        _("For %(name)s") % {"name": patient} if patient else appointment.lab, size=12
    )
    _draw_notices(sheet, appointment)
    _draw_when_and_where(sheet, appointment)
    _draw_points(
        sheet,
        _("Before you come"),
        _preparation_points(appointment),
        marks=("\N{BULLET}",),
    )
    steps = appointment.guide.steps
    numbers = [f"{number}." for number in range(1, len(steps) + 1)]
    _draw_points(sheet, _("At the visit"), steps, marks=numbers)
    _draw_points(
        sheet, _("After the visit"), appointment.guide.after, marks=("\N{BULLET}",)
    )
    sheet.y += 12
    sheet.write_paragraph(
        _(
            "If you can't come, call %(team)s as early as you can to reschedule or"
            " cancel. In an emergency, call 911."
        )
        % {"team": appointment.team},
        size=_SIZE,
    )
    return sheet


def format_full_local_time(at: datetime) -> str:
    """Format a moment as `Thursday 19 November 2026, 08:40 MST`, in the language."""
    return write_date(at, "l j F Y, H:i T")


def describe_fasting_start(appointment: AppointmentDetails) -> str:
    """Say when fasting starts, in the language."""
    since = get_fasting_start(appointment.starts_at)
    return _("Start fasting on %(day)s at %(time)s.") % {
        "day": write_date(since, "l j F"),
        "time": f"{since:%H:%M}",
    }


def _draw_notices(sheet: Sheet, appointment: AppointmentDetails) -> None:
    for text, holds in (
        (_("CANCELLED: do not come to this visit"), appointment.is_cancelled),
        (
            _("NOT CONFIRMED YET: wait for confirmation from your clinic"),
            not appointment.is_confirmed,
        ),
        (_("SANDBOX: not a real visit, do not come"), appointment.is_sandbox),
    ):
        if holds:
            sheet.draw_notice(text)


def _preparation_points(appointment: AppointmentDetails) -> tuple[str, ...]:
    if not appointment.is_fasting:
        return appointment.guide.before
    first, *others = appointment.guide.before
    return (f"{describe_fasting_start(appointment)} {first}", *others)


def _draw_when_and_where(sheet: Sheet, appointment: AppointmentDetails) -> None:
    sheet.y += 10
    top = sheet.y
    right = MARGIN + WIDTH - _QR
    put_square = draw_qr_code(
        f"geo:{appointment.latitude},{appointment.longitude}", size=_QR
    )
    sheet.draw(lambda canvas: put_square(canvas, right, top + 4))
    caption = _("Scan to open a map")
    sheet.write_line(
        caption,
        x=right + (_QR - measure_text_width(caption, 8)) / 2,
        y=top + _QR + 15,
        size=8,
        grey=SOFT,
    )
    room = WIDTH - _QR - 20
    for label, text, font in (
        (_("When"), format_full_local_time(appointment.starts_at), BOLD),
        (
            "",
            _("Until %(time)s, local time") % {"time": f"{appointment.ends_at:%H:%M}"},
            REGULAR,
        ),
        (_("Where"), appointment.place, BOLD),
        ("", "\n".join(appointment.address), REGULAR),
        (_("Phone"), appointment.phone, REGULAR),
        (_("Lab"), appointment.lab, REGULAR),
        (_("Visit number"), appointment.external_id, BOLD),
        (
            _("Hours"),
            "\n".join(f"{days} {times}" for days, times in appointment.hours),
            REGULAR,
        ),
    ):
        _draw_pair(sheet, label, text, room=room, font=font)
    sheet.y = max(sheet.y, top + _QR + 18)


def _draw_pair(sheet: Sheet, label: str, text: str, *, room: float, font: str) -> None:
    if not text:
        return
    size = 12.0 if font == BOLD else _SIZE
    for number, line in enumerate(
        break_text_into_lines(text, size, room - _LABEL, font=font)
    ):
        sheet.y += size * _LEADING
        if number == 0:
            sheet.write_line(label, size=_SIZE - 1, grey=SOFT)
        sheet.write_line(line, x=MARGIN + _LABEL, size=size, font=font)


def _draw_points(
    sheet: Sheet, title: str, texts: Sequence[str], *, marks: Sequence[str]
) -> None:
    """Write a heading and its points; a point never splits across pages."""
    if not texts:
        return
    sheet.y += 12
    sheet.write_heading(title, keep=2 * _SIZE * _LEADING)
    sheet.y -= 4
    for number, text in enumerate(texts):
        lines = break_text_into_lines(text, _SIZE, WIDTH - _INDENT)
        sheet.ensure_room(len(lines) * _SIZE * _LEADING + 3)
        sheet.y += 2
        for line_number, line in enumerate(lines):
            sheet.y += _SIZE * _LEADING
            if line_number == 0:
                sheet.write_line(marks[number % len(marks)], size=_SIZE, font=BOLD)
            sheet.write_line(line, x=MARGIN + _INDENT, size=_SIZE)
