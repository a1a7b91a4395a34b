"""Choices of service centers, and the format of opening hours."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import time
from itertools import groupby, pairwise

from portal.lib.choices import OpenChoices
from portal.lib.translation import gettext_lazy

WEEKDAYS = (
    *("monday", "tuesday", "wednesday", "thursday", "friday"),
    *("saturday", "sunday"),
)
# Miles around a zip code that lookups take (contract 6.17).
RADII = (10, 20, 25, 50, 100)
DEFAULT_RADIUS = 25
# Labs whose service centers are booked here (contract 6.1).
BOOKABLE_LABS = frozenset({"quest", "sonora_quest"})

_DAY_NAMES = {name[:3]: place for place, name in enumerate(WEEKDAYS)}
_DAYS = re.compile(r"([a-z]{3})(?:-([a-z]{3}))?")
_SPAN = re.compile(r"(\d\d):(\d\d)-(\d\d):(\d\d)")


class Capability(OpenChoices):
    """A capability of a service center (contract 6.17)."""

    STAT = "stat", gettext_lazy("Urgent tests (STAT)")
    BOOKABLE_HERE = "appointment_scheduling_via_api", gettext_lazy("Bookable here")
    BOOKABLE_AT_LAB = (
        "appointment_scheduling_with_lab",
        gettext_lazy("Bookable with the lab"),
    )


class VisitConfirmation(OpenChoices):
    """Who confirms a visit at a center. Source: Ours; nobody's yes confirms nothing."""

    BOOK = "book", gettext_lazy("The site works by this book")
    MAIL = "mail", gettext_lazy("The site, by a mailed link")
    STAFF = "staff", gettext_lazy("Staff, after asking the site")


class AgreedBy(OpenChoices):
    """How a center agreed to a visit that staff enters. Source: Ours."""

    PHONE = "phone", gettext_lazy("Phone")
    EMAIL = "email", gettext_lazy("Email")
    WEBSITE = "website", gettext_lazy("Website")
    IN_PERSON = "in_person", gettext_lazy("In person")


def parse_service_center_capability(text: str) -> Capability | None:
    """Return the capability a filter means; None if it has no meaning here.

    Any value that begins with appointment_scheduling_via_ means booked here.
    Source: Contract 6.17.
    """
    if text.startswith("appointment_scheduling_via_"):
        return Capability.BOOKABLE_HERE
    return Capability.known(text)


@dataclass(frozen=True, slots=True)
class OpenSpan:
    """Local opening hours of a center on one day; `closes` is exclusive."""

    opens: time
    closes: time


Hours = tuple[tuple[OpenSpan, ...], ...]
"""Spans of each weekday, Monday first; a day without any is closed."""


def parse_opening_hours(text: str) -> Hours:
    """Parse opening hours: `mon-fri 06:30-12:00 12:30-15:30; sat 07:00-11:00`.

    Later parts replace what earlier ones said of a day; a part without times closes it.
    Raises ValueError, which names the part but no more.
    """
    days: list[tuple[OpenSpan, ...]] = [()] * len(WEEKDAYS)
    for part in filter(None, (part.strip().lower() for part in text.split(";"))):
        named, *times = part.split()
        found = _DAYS.fullmatch(named)
        if found is None or not {found[1], found[2] or found[1]} <= set(_DAY_NAMES):
            raise ValueError(f"not days: {named}")
        first, last = _DAY_NAMES[found[1]], _DAY_NAMES[found[2] or found[1]]
        if last < first:
            raise ValueError(f"days out of order: {named}")
        spans = tuple(_parse_span(written) for written in times)
        if any(later.opens < span.closes for span, later in pairwise(spans)):
            raise ValueError(f"hours overlap: {part}")
        for day in range(first, last + 1):
            days[day] = spans
    return tuple(days)


def format_opening_hours(hours: Hours) -> str:
    """Return hours as `parse_opening_hours` reads them, days that follow together."""
    parts = []
    for spans, days in groupby(enumerate(hours), key=lambda day: day[1]):
        places = [place for place, _spans in days]
        if spans:
            first, last = WEEKDAYS[places[0]][:3], WEEKDAYS[places[-1]][:3]
            named = first if first == last else f"{first}-{last}"
            times = (f"{span.opens:%H:%M}-{span.closes:%H:%M}" for span in spans)
            parts.append(" ".join((named, *times)))
    return "; ".join(parts) or "mon-sun"  # a day without times is closed


def serialize_opening_hours(hours: Hours) -> dict[str, list[list[str]]]:
    """Return hours as stored and on the wire: spans as texts by weekday."""
    return {
        name: [[f"{span.opens:%H:%M}", f"{span.closes:%H:%M}"] for span in spans]
        for name, spans in zip(WEEKDAYS, hours, strict=True)
    }


def deserialize_opening_hours(hours: dict[str, list[list[str]]]) -> Hours:
    """Return hours from the output of `serialize_opening_hours`."""
    return tuple(
        tuple(
            OpenSpan(time.fromisoformat(opens), time.fromisoformat(closes))
            for opens, closes in hours.get(name, [])
        )
        for name in WEEKDAYS
    )


def _parse_span(text: str) -> OpenSpan:
    found = _SPAN.fullmatch(text)
    if found is None:
        raise ValueError(f"not a span of hours: {text}")
    first_hour, first_minute, last_hour, last_minute = map(int, found.groups())
    span = OpenSpan(time(first_hour, first_minute), time(last_hour, last_minute))
    if span.closes <= span.opens:
        raise ValueError(f"closes before it opens: {text}")
    return span
