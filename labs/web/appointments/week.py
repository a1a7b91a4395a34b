"""Visits as a calendar: a week or a day, by site, each on its site's own clock.

Cells name no patient.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.rights import require_right
from labs.queries.appointments.days import (
    AppointmentTab,
    is_passed_without_sample,
    list_appointments_between,
    list_appointments_on_tab,
)
from labs.states.appointments import AppointmentProvider, AppointmentStatus
from labs.web.appointments.card import build_appointment_row
from portal.lib.periods import find_time_zone_by_name
from portal.lib.web.views import page_url, render_page

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import tzinfo

    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from labs.models import Appointment

# A week that has more is looked at by site, or by day.
VISITS_MAX = 500
_WAITING_SHOWN = 5
_WEEK = 7
# Days that a date of a calendar may have: what datetime and its zones can shift.
_FIRST_DAY, _LAST_DAY = date(1990, 1, 1), date(2100, 1, 1)
_COLLECTED = (AppointmentStatus.COMPLETED, AppointmentStatus.IN_PROGRESS)
_UNSURE = (AppointmentStatus.PENDING, AppointmentStatus.RESERVED)


@dataclass(frozen=True, slots=True)
class CalendarVisit:
    """A visit in the calendar; `starts` and `ends` are in its site's zone."""

    visit: Appointment
    starts: datetime
    ends: datetime | None
    kind: Literal["confirmed", "unsure", "collected", "missed"]


@dataclass(frozen=True, slots=True)
class CalendarDay:
    """A day of a site; `is_today` by the site's own clock."""

    on: date
    is_today: bool
    visits: tuple[CalendarVisit, ...]


@dataclass(frozen=True, slots=True)
class CalendarSite:
    """A site, or a provider who visits homes, with its days; `offset` in words."""

    key: str
    name: str
    address: str
    zone: str
    offset: str
    days: tuple[CalendarDay, ...]


@require_GET
@require_right(Area.ORDERS)
@require_right(Area.BOOKINGS)
def show_visit_calendar(request: TenantRequest) -> HttpResponse:
    """Show the visits of a week or a day by site, and record the read."""
    at = timezone.now()
    view = "day" if request.GET.get("view") == "day" else "week"
    chosen = _read_day(request.GET.get("on", ""), timezone.localdate(at))
    first = chosen if view == "day" else chosen - timedelta(days=chosen.weekday())
    days = [first + timedelta(days=n) for n in range(1 if view == "day" else _WEEK)]
    found = list_appointments_between(
        tenant=request.tenant, first=days[0], last=days[-1], limit=VISITS_MAX + 1
    )
    sites = _build_sites(found[:VISITS_MAX], days=days, at=at)
    site = request.GET.get("site", "")
    shown = [one for one in sites if one.key == site] or sites
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="visit_list",
        subject_id=f"{view} {days[0]}",
    )
    waiting = list_appointments_on_tab(
        tenant=request.tenant,
        tab=AppointmentTab.UNSURE,
        at=at,
        offset=0,
        limit=_WAITING_SHOWN,
    )
    step = timedelta(days=len(days))
    return render_page(
        request,
        "labs/visit_week.html",
        section="visits",
        view=view,
        days=days,
        sites=shown,
        all_sites=sites,
        site=site if len(shown) < len(sites) else "",
        is_cut=len(found) > VISITS_MAX,
        most=VISITS_MAX,
        counts=[
            sum(len(one.days[n].visits) for one in shown) for n in range(len(days))
        ],
        before=days[0] - step,
        after=days[0] + step,
        today=timezone.localdate(at),
        own_zone=timezone.get_current_timezone_name(),
        waiting=[build_appointment_row(one) for one in waiting.appointments],
        list_url=page_url(request, "labs:visits"),
    )


def _read_day(text: str, default: date) -> date:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return default
    return day if _FIRST_DAY < day < _LAST_DAY else default


def _build_sites(
    visits: Iterable[Appointment], *, days: Sequence[date], at: datetime
) -> list[CalendarSite]:
    def key(visit: Appointment) -> tuple[str, str, str]:
        return (visit.provider, visit.site_code, visit.time_zone)

    return sorted(
        (
            _build_site(list(group), days=days, at=at)
            for _key, group in groupby(sorted(visits, key=key), key=key)
        ),
        key=lambda site: (site.name, site.key),
    )


def _build_site(
    visits: Sequence[Appointment], *, days: Sequence[date], at: datetime
) -> CalendarSite:
    one = visits[0]
    zone = find_time_zone_by_name(one.time_zone)
    provider = AppointmentProvider.known(one.provider)
    held = sorted(
        (
            _build_visit(visit, visit.start_at.astimezone(zone), zone, at)
            for visit in visits
            if visit.start_at
        ),
        key=lambda each: each.starts,
    )
    today = at.astimezone(zone).date()
    # A home's address is its patient's, so that homes are one site of their provider.
    place = one.address if one.site_code else {}
    return CalendarSite(
        key=f"{one.provider} {one.site_code} {one.time_zone}",
        name=one.site_name
        if one.site_code
        else _("At home, %(provider)s")
        % {"provider": str(provider.label) if provider else one.provider},
        address=", ".join(
            str(place[part])
            for part in ("first_line", "city", "state")
            if place.get(part)
        ),
        zone=one.time_zone or "UTC",
        offset=_describe_offset(zone, days[0]),
        days=tuple(
            CalendarDay(
                day,
                day == today,
                tuple(each for each in held if each.starts.date() == day),
            )
            for day in days
        ),
    )


def _build_visit(
    visit: Appointment, starts: datetime, zone: tzinfo, at: datetime
) -> CalendarVisit:
    kind: Literal["confirmed", "unsure", "collected", "missed"] = "confirmed"
    if visit.status in _UNSURE:
        kind = "unsure"
    elif visit.status in _COLLECTED:
        kind = "collected"
    elif is_passed_without_sample(visit, at):
        kind = "missed"
    return CalendarVisit(
        visit, starts, visit.end_at.astimezone(zone) if visit.end_at else None, kind
    )


def _describe_offset(zone: tzinfo, day: date) -> str:
    """Return how far a zone's clock is from the reader's at noon of a day."""
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=zone)
    there, here = noon.utcoffset(), timezone.localtime(noon).utcoffset()
    hours = ((there or timedelta()) - (here or timedelta())) / timedelta(hours=1)
    if not hours:
        return _("same time as yours")
    words = _("%(hours)s h ahead of you") if hours > 0 else _("%(hours)s h behind you")
    return words % {"hours": f"{abs(hours):g}"}
