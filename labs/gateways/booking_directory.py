"""The built-in booking gateway: slots from the directory's opening hours.

Slots are computed in the site's time zone and returned in UTC.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from labs.gateways.booking import BookingState, FoundBooking
from labs.states.appointments import SLOT_LENGTH
from portal.lib.periods import find_time_zone_by_name

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from labs.gateways.booking import AppointmentRequest
    from labs.queries.appointments.bookable_sites import Site
    from labs.states.service_centers import OpenSpan

# Ours: the public holidays on which US service centers are closed; on others they work.
_CLOSED_ON = (
    "New Year's Day",
    "Memorial Day",
    "Independence Day",
    "Labor Day",
    "Thanksgiving Day",
    "Christmas Day",
)
_DAY = timedelta(days=1)


class DirectoryBooking:
    """A BookingGateway that confirms every free slot without a provider."""

    def list_slot_starts(
        self, site: Site, day: date, now: datetime
    ) -> Sequence[datetime]:
        """List all slots within opening hours, today's from the next hour on."""
        return _keep_from_next_hour(
            list_slot_start_times(*_opening_spans_of_day(site, day)), site, now
        )

    def confirm_booking(self, request: AppointmentRequest, *, within: timedelta) -> str:  # noqa: ARG002 - answers at once
        """Return an id derived from the reference."""
        return make_booking_confirmation_code(request.reference)

    def find_booking(self, reference: UUID) -> FoundBooking:
        """Return confirmed: every claimed place is booked."""
        return FoundBooking(
            BookingState.CONFIRMED, make_booking_confirmation_code(reference)
        )

    def cancel_booking(self, reference: UUID) -> None:
        """Do nothing: there is no provider."""


def make_booking_confirmation_code(reference: UUID) -> str:
    """Return the eight-character booking code printed on a patient's sheet."""
    return reference.hex[:8].upper()


@lru_cache(maxsize=16_384)
def list_slot_start_times(
    spans: tuple[OpenSpan, ...], zone_name: str, day: date
) -> tuple[datetime, ...]:
    """List slot starts (UTC) of a day within opening spans of a time zone.

    A slot ends by the time the span does. An hour that the clocks skip has none, one
    that they repeat has its slots twice; on a public holiday there are none. Source:
    Contract 6.18; Ours: clock changes.
    """
    if is_public_holiday(day):
        return ()
    zone = find_time_zone_by_name(zone_name)
    locals_ = [
        start
        for span in spans
        for start in _slot_starts_within(
            datetime.combine(day, span.opens), datetime.combine(day, span.closes)
        )
    ]
    midnight = datetime.combine(day, time(), zone)
    offset = midnight.utcoffset()
    if offset is not None and offset == (midnight + _DAY).utcoffset():
        return tuple((start - offset).replace(tzinfo=UTC) for start in locals_)
    # A set: where no hour is repeated both readings are the same moment.
    moments = {
        moment
        for start in locals_
        for fold in (0, 1)
        for moment in (start.replace(tzinfo=zone, fold=fold).astimezone(UTC),)
        if moment.astimezone(zone).replace(tzinfo=None) == start
    }
    return tuple(sorted(moments))


def is_public_holiday(day: date) -> bool:
    """Return whether service centers are closed nationwide."""
    return day in _holidays_of_year(day.year)


@cache
def _holidays_of_year(year: int) -> frozenset[date]:
    import holidays  # calendars of all the world, for one look a year

    named = holidays.country_holidays("US", years=year, language="en_US")
    return frozenset(day for day, name in named.items() if name.startswith(_CLOSED_ON))


def _opening_spans_of_day(
    site: Site, day: date
) -> tuple[tuple[OpenSpan, ...], str, date]:
    return site.hours[day.weekday()], site.time_zone, day


def _slot_starts_within(opens: datetime, closes: datetime) -> list[datetime]:
    number = (closes - opens) // SLOT_LENGTH
    return [opens + SLOT_LENGTH * step for step in range(number)]


def _keep_from_next_hour(
    starts: Sequence[datetime], site: Site, now: datetime
) -> Sequence[datetime]:
    if not starts or starts[0] > now + timedelta(hours=1):
        return starts
    soonest = next_full_hour(now, site.time_zone)
    return [start for start in starts if start >= soonest]


def next_full_hour(now: datetime, zone_name: str) -> datetime:
    """Return the next full hour of a time zone in UTC; later than now."""
    local = now.astimezone(find_time_zone_by_name(zone_name))
    past = timedelta(
        minutes=local.minute, seconds=local.second, microseconds=local.microsecond
    )
    return now - past + timedelta(hours=1)
