"""Choices of the booking page: sites, days and times, built from free slots."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from labs.documents.guides import get_fasting_start
from labs.gateways.booking_directory import is_public_holiday
from labs.queries.appointments.zip_codes import (
    compute_offset,
    find_zip_code_location,
    list_towns_near,
)
from labs.states.appointments import WINDOW_DAYS
from portal.lib.choices import OpenChoices
from portal.lib.languages import write_within_sentence
from portal.lib.periods import find_time_zone_by_name
from portal.lib.translation import gettext_lazy
from portal.ui.dates import write_date
from portal.ui.parts import Place, Slot, SlotDay
from portal.ui.place_map import MapPin, MapTown, draw_place_map, get_map_reach

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date, datetime, time

    from django.utils.safestring import SafeString

    from labs.operations.appointments.slots import Availability, FreeSlot
    from labs.queries.appointments.bookable_sites import Site

_NOON, _EVENING = 12, 17
_SATURDAY = 5
_PARTS = {
    "morning": gettext_lazy("Morning"),
    "afternoon": gettext_lazy("Afternoon"),
    "evening": gettext_lazy("Evening"),
}
_DAY = timedelta(days=1)
_TOWNS = 24  # names at most on the map
WINDOW = timedelta(days=WINDOW_DAYS)


class TimeOfDay(OpenChoices):
    """The times of day to show."""

    ANY = "any", gettext_lazy("Any time")
    MORNING = "morning", gettext_lazy("Mornings")
    AFTERNOON = "afternoon", gettext_lazy("Afternoons")
    WEEKEND = "weekend", gettext_lazy("Weekends")

    def includes(self, local: datetime) -> bool:
        """Return whether a local time falls in this part of the day or week."""
        match self:
            case TimeOfDay.MORNING:
                return local.hour < _NOON
            case TimeOfDay.AFTERNOON:
                return local.hour >= _NOON
            case TimeOfDay.WEEKEND:
                return local.weekday() >= _SATURDAY
            case _:
                return True


@dataclass(frozen=True, slots=True)
class GridSelection:
    """The site, day and time selected so far; outdated ones are ignored.

    `slot` is a site's code and a start (UTC).
    """

    site: str = ""
    day: date | None = None
    when: TimeOfDay = TimeOfDay.ANY
    slot: tuple[str, datetime] | None = None


@dataclass(frozen=True, slots=True)
class TimeGroup:
    """Free times under one heading."""

    legend: str
    slots: Sequence[Slot]


@dataclass(frozen=True, slots=True)
class Grid:
    """All choices that the booking page shows, and the selected ones.

    `site` is None where there is no place in reach, `slot` until a time is chosen.
    """

    places: Sequence[Place]
    map: SafeString | str
    site: Site | None
    days: Sequence[SlotDay]
    day: date | None
    groups: Sequence[TimeGroup]
    slot: FreeSlot | None
    first_day: date
    today: date
    checked_at: datetime

    @property
    def place_key(self) -> str:
        """Return the form value of the selected site."""
        return get_site_form_value(self.site) if self.site else ""

    @property
    def previous_start(self) -> date | None:
        """Return the first day of the previous 14 days, or None from today."""
        return (
            max(self.today, self.first_day - WINDOW) if self.has_earlier_days else None
        )

    @property
    def has_earlier_days(self) -> bool:
        """Return whether earlier days can be shown."""
        return self.first_day > self.today

    @property
    def next_start(self) -> date:
        """Return the first day of the next 14 days."""
        return self.first_day + WINDOW

    @property
    def has_times(self) -> bool:
        """Return whether the selected site has a free time."""
        return any(day.free for day in self.days)

    @property
    def chosen_key(self) -> str:
        """Return the booking key of the selected time, or an empty text."""
        return self.slot.booking_key if self.slot else ""


def build_booking_grid(
    found: Availability,
    selection: GridSelection,
    *,
    here: str,
    struck: Iterable[tuple[str, datetime]] = (),
) -> Grid:
    """Build the booking page's choices from free slots.

    `here` is the ZIP code that the map is around, empty where there is none; `struck`
    are times, as in Wishes, that are shown but can't be taken, free or not: one just
    lost, or the one that a visit has now.
    """
    lost = set(struck)
    by_site: dict[str, list[FreeSlot]] = {}
    sites: dict[str, Site] = {}
    for one in found.days:
        if one.site is not None:
            key = get_site_form_value(one.site)
            sites.setdefault(key, one.site)
            by_site.setdefault(key, []).extend(
                slot
                for slot in one.slots
                if selection.when.includes(get_local_slot_start(slot))
                and (slot.site.code, slot.start) not in lost
            )
    chosen = _select_site(sites, by_site, selection)
    first_day = found.days[0].day
    if chosen is None:
        days = [SlotDay(one.day, 0) for one in found.days[:WINDOW_DAYS]]
        return Grid(
            places=(),
            map="",
            site=None,
            days=days,
            day=None,
            groups=(),
            slot=None,
            first_day=first_day,
            today=first_day,
            checked_at=found.checked_at,
        )
    site = sites[chosen]
    free = by_site[chosen]
    zone = find_time_zone_by_name(site.time_zone)
    today = found.checked_at.astimezone(zone).date()
    first_day = next(one.day for one in found.days if one.site == site)
    per_day = Counter(get_local_slot_start(slot).date() for slot in free)
    days = [
        SlotDay(day, per_day[day], _explain_no_slots(site, day))
        for day in (first_day + _DAY * step for step in range(WINDOW_DAYS))
    ]
    day = selection.day if per_day[selection.day] else min(per_day, default=None)  # type: ignore[index]  # a Counter has none for None
    slot = next(
        (one for one in free if (one.site.code, one.start) == selection.slot), None
    )
    places = [
        _build_place(number, key, sites[key], by_site[key], found.checked_at)
        for number, key in enumerate(sites, 1)
    ]
    at = next(place.number for place in places if place.key == chosen)
    return Grid(
        places=places,
        map=_draw_map(places, sites, at, here),
        site=site,
        days=days,
        day=day,
        groups=_build_time_groups(free, day, site, lost),
        slot=slot,
        first_day=first_day,
        today=today,
        checked_at=found.checked_at,
    )


def get_site_form_value(site: Site) -> str:
    """Return the form value that names a site."""
    return f"{site.provider}-{site.code}"


def get_local_slot_start(slot: FreeSlot) -> datetime:
    """Return when a slot starts, in its site's time zone."""
    return slot.start.astimezone(find_time_zone_by_name(slot.site.time_zone))


def describe_fasting_for_slot(slot: FreeSlot | None) -> str:
    """Describe when fasting would start for a slot, or advise a morning time."""
    if slot is None:
        return _(
            "The patient fasts for 12 hours before the visit. Choose a morning time."
        )
    since = get_fasting_start(get_local_slot_start(slot))
    when = {"day": write_date(since, "l"), "time": f"{since:%H:%M}"}
    if get_local_slot_start(slot).hour < _NOON:
        return _("Fasting would start %(day)s at %(time)s.") % when
    return (
        _(
            "Fasting would start %(day)s at %(time)s. A morning time is easier for the"
            " patient."
        )
        % when
    )


def format_opening_hours(spans: Iterable[tuple[time, time]]) -> str:
    """Format opening hours: 06:30–12:00, 12:30–15:30."""
    return ", ".join(f"{opens:%H:%M}–{closes:%H:%M}" for opens, closes in spans)


def format_local_time(local: datetime) -> str:
    """Format a moment in its own time zone: Thu 19 Nov, 08:40 MST.

    Templates would turn it into the reader's zone.
    """
    return f"{format_day(local)}, {local:%H:%M %Z}"


def format_day(day: date) -> str:
    """Format a day: Thu 19 Nov."""
    return write_date(day, "D j M")


def _select_site(
    sites: Mapping[str, Site],
    by_site: Mapping[str, Sequence[FreeSlot]],
    selection: GridSelection,
) -> str | None:
    """Return the chosen site, else the nearest one with a free time."""
    if selection.site in sites:
        return selection.site
    if selection.slot is not None:
        code = selection.slot[0]
        found = next((key for key, site in sites.items() if site.code == code), None)
        if found:
            return found
    return next((key for key in sites if by_site[key]), next(iter(sites), None))


def _build_place(
    number: int, key: str, site: Site, free: Sequence[FreeSlot], now: datetime
) -> Place:
    first = min(free, key=lambda slot: slot.start, default=None)
    return Place(
        key=key,
        number=number,
        name=site.name,
        address=_describe_location(site, first),
        miles=site.miles,
        first_free=_format_first_free(get_local_slot_start(first), now)
        if first
        else "",
    )


def _describe_location(site: Site, first: FreeSlot | None) -> str:
    lines = [site.address["first_line"], site.address.get("second_line")]
    address = ", ".join(str(line) for line in (*lines, site.address["city"]) if line)
    if first is None:
        return address
    spans = [(one.opens, one.closes) for one in site.hours[_weekday(first)]]
    return _("%(address)s, open %(hours)s") % {
        "address": address,
        "hours": format_opening_hours(spans),
    }


def _weekday(slot: FreeSlot) -> int:
    return get_local_slot_start(slot).weekday()


def _format_first_free(local: datetime, now: datetime) -> str:
    """Format a site's first free time: Today 14:20, Wed 18 Nov."""
    days = (local.date() - now.astimezone(local.tzinfo).date()).days
    if days > 1:
        return format_day(local.date())
    time = {"time": f"{local:%H:%M}"}
    return _("Tomorrow %(time)s") % time if days else _("Today %(time)s") % time


def _explain_no_slots(site: Site, day: date) -> str:
    is_closed = not site.hours[day.weekday()] or is_public_holiday(day)
    return _("Closed") if is_closed else _("None")


def _draw_map(
    places: Sequence[Place], sites: Mapping[str, Site], at: int, here: str
) -> SafeString | str:
    """Draw the locations around a ZIP code; an empty text where it is unknown."""
    middle = find_zip_code_location(here)
    if middle is None:
        return ""
    pins = []
    for place in places:
        site = sites[place.key]
        east, north = compute_offset(middle, site.latitude, site.longitude)
        pins.append(MapPin(place.number, east, north, place.name, f"site-{place.key}"))
    towns = [
        MapTown(town.name, *compute_offset(middle, town.latitude, town.longitude))
        for town in list_towns_near(middle.zip_code, get_map_reach(pins))[:_TOWNS]
    ]
    label = ngettext(
        "Map of %(count)d location around %(zip_code)s",
        "Map of %(count)d locations around %(zip_code)s",
        len(pins),
    ) % {"count": len(pins), "zip_code": middle.zip_code}
    return draw_place_map(pins, towns, middle=middle.zip_code, chosen=at, says=label)


def _build_time_groups(
    free: Sequence[FreeSlot],
    day: date | None,
    site: Site,
    struck: Iterable[tuple[str, datetime]],
) -> list[TimeGroup]:
    """Group the selected day's times by part of the day."""
    if day is None:
        return []
    zone = find_time_zone_by_name(site.time_zone)
    here = [
        (local, Slot(slot.booking_key, "", key_id=f"slot-{local.timestamp():.0f}"))
        for slot in free
        if (local := get_local_slot_start(slot)).date() == day
    ]
    here += [
        (local, Slot("", "", is_taken=True, key_id=f"slot-{local.timestamp():.0f}"))
        for code, start in struck
        if code == site.code and (local := start.astimezone(zone)).date() == day
    ]
    here.sort(key=lambda one: one[0].timestamp())
    twice = Counter(f"{local:%H:%M}" for local, slot in here)
    groups: dict[str, list[Slot]] = {}
    for local, slot in here:
        written = f"{local:%H:%M}"
        # The hour that clocks repeat needs their name beside it.
        shown = f"{local:%H:%M %Z}" if twice[written] > 1 else written
        part = "morning" if local.hour < _NOON else "afternoon"
        part = "evening" if local.hour >= _EVENING else part
        groups.setdefault(part, []).append(
            Slot(slot.key, shown, is_taken=slot.is_taken, key_id=slot.key_id)
        )
    return [
        TimeGroup(
            f"{_PARTS[part]}"
            if number
            else f"{write_date(day, 'l j F')}, {write_within_sentence(_PARTS[part])}",
            slots,
        )
        for number, (part, slots) in enumerate(groups.items())
    ]
