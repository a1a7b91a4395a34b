"""Free slots: 14 days of each site, and alternatives to a lost slot."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from django.utils import timezone
from django.utils.translation import gettext as _

from labs.operations.appointments.booking_keys import BookingKeys
from labs.operations.gateways import get_booking_gateway
from labs.operations.production import require_home_visits, require_service_centers
from labs.payloads.appointments import SlotAnswer, build_appointment_location
from labs.queries.appointments.bookable_sites import (
    Site,
    list_bookable_center_sites,
    list_bookable_home_visit_providers,
)
from labs.queries.appointments.slots import (
    count_taken_slot_places,
    get_shared_slot_pool,
)
from labs.queries.appointments.zip_codes import find_zip_code_location
from labs.states.appointments import BOOKING_KEY_TTL, SLOT_LENGTH, WINDOW_DAYS
from labs.states.catalogue import CollectionMethod
from labs.states.service_centers import DEFAULT_RADIUS
from portal.lib.errors import DomainError
from portal.lib.periods import find_day_start, find_time_zone_by_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from accounts.models import Tenant
    from labs.operations.appointments.booking_keys import OfferedSlot

_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)
# Ours: sites publish their hours no further ahead.
_FARTHEST = timedelta(days=366)
# How far from a taken slot's site alternatives are searched, and at how many sites.
_OTHER_SITES_MILES = 25
_OTHER_SITES_MAX = 10


class FreeSlot(NamedTuple):
    """A free slot (UTC); its key can book it until `expires_at`.

    A tuple, as thousands are made for an answer.
    """

    site: Site
    start: datetime
    available: int
    booking_key: str
    expires_at: datetime

    @property
    def end(self) -> datetime:
        """Return when the appointment ends."""
        return self.start + SLOT_LENGTH


@dataclass(frozen=True, slots=True)
class SlotDay:
    """A local date of a site and its free slots; `site` is None where none is."""

    day: date
    slots: Sequence[FreeSlot]
    site: Site | None


@dataclass(frozen=True, slots=True)
class Availability:
    """14 days of each site, nearest first; `time_zone` if all share one."""

    days: list[SlotDay]
    time_zone: str | None
    checked_at: datetime


class SlotTaken(DomainError):
    """The slot is taken or expired; `alternatives` are the nearest free ones.

    The lost slot's own start and site are `lost`.
    """

    def __init__(self, lost: OfferedSlot, alternatives: Sequence[FreeSlot]) -> None:
        super().__init__(
            "slot_taken",
            _("This time is no longer available. Choose another."),
            "booking_key",
        )
        self.lost = lost
        self.alternatives = tuple(alternatives)

    @property
    def details(self) -> dict[str, object]:
        """Return the alternatives as on the wire (contract 6.18)."""
        return {
            "alternatives": [
                {
                    **build_free_slot(slot),
                    "location": build_appointment_location(slot.site),
                }
                for slot in self.alternatives
            ]
        }


def build_free_slot(slot: FreeSlot) -> SlotAnswer:
    """Build a free slot as on the wire (contract 6.18)."""
    return {
        "booking_key": slot.booking_key,
        "start": slot.start,
        "end": slot.end,
        "expires_at": slot.expires_at,
        "price": slot.site.price,
        "is_priority": False,
        "num_appointments_available": slot.available,
    }


def list_center_slots(
    *,
    tenant: Tenant,
    lab_slug: str,
    zip_code: str = "",
    miles: int = DEFAULT_RADIUS,
    site_codes: Sequence[str] = (),
    start: date | None = None,
    order_id: UUID | None = None,
) -> Availability:
    """List 14 days of slots at a lab's bookable service centers.

    Near a zip code, at sites of these codes, or both. Always fourteen dates for each
    site, from `start` or today on the site's clock; without any site once, with none.
    A zip code that is not known has none in reach. What is held for `order_id` counts
    as free. Three queries. Raises: start_date_past; start_date_too_far;
    directory_required. Source: Specification 9; contract 6.18, D23.
    """
    require_service_centers(tenant=tenant, lab_slugs=[lab_slug])
    place = find_zip_code_location(zip_code)
    sites: Sequence[Site] = ()
    if place or not zip_code:
        sites = list_bookable_center_sites(
            tenant=tenant,
            lab_slug=lab_slug,
            place=place,
            miles=miles,
            codes=site_codes,
        )
    return _build_availability(
        tenant, sites, start, place.time_zone if place else "", order_id
    )


def list_home_slots(
    *,
    tenant: Tenant,
    address: Mapping[str, Any],
    start: date | None = None,
    order_id: UUID | None = None,
) -> Availability:
    """List 14 days of at-home slots for an address, shaped as in contract 6.18.

    Raises: as list_center_slots. Source: Contract 6.18.
    """
    require_home_visits(tenant=tenant, method=CollectionMethod.AT_HOME_PHLEBOTOMY)
    place = find_zip_code_location(str(address["zip_code"]))
    zone_name = place.time_zone if place else ""
    sites = list_bookable_home_visit_providers(tenant, address)
    return _build_availability(tenant, sites, start, zone_name, order_id)


def find_nearest_slots(
    *, tenant: Tenant, lost: OfferedSlot, order_id: UUID | None = None
) -> list[FreeSlot]:
    """Return up to three free slots nearest to a lost one.

    The same site within the hour, the same day at another site, the next open day at
    the same hour; what of these is missing is made up by the next nearest in time.
    Source: Contract 6.18; workflows D3.
    """
    now = timezone.now()
    zone = find_time_zone_by_name(lost.site.time_zone)
    day = max(lost.start.astimezone(zone).date(), now.astimezone(zone).date())
    sites = [lost.site, *_nearby_sites(tenant, lost)]
    found = _build_availability(tenant, sites, day, "", order_id).days
    free = [
        slot
        for one in found
        for slot in one.slots
        if (slot.site.code, slot.start) != (lost.site.code, lost.start)
    ]
    here = [slot for slot in free if slot.site.code == lost.site.code]
    there = [slot for slot in free if slot.site.code != lost.site.code]

    def start_distance(slot: FreeSlot) -> timedelta:
        return abs(slot.start - lost.start)

    same_site = [slot for slot in here if start_distance(slot) <= _HOUR]
    same_day = [slot for slot in there if slot.start.astimezone(zone).date() == day]
    wall = lost.start.astimezone(zone).replace(tzinfo=None)
    later = [slot for slot in here if slot.start.astimezone(zone).date() > day]

    def time_of_day_distance(slot: FreeSlot) -> tuple[date, timedelta]:
        local = slot.start.astimezone(zone).replace(tzinfo=None)
        shifted = datetime.combine(wall.date(), local.time())
        return local.date(), abs(shifted - wall)

    chosen = [
        *sorted(same_site, key=start_distance)[:1],
        *sorted(
            same_day, key=lambda slot: (start_distance(slot), slot.site.miles or 0)
        )[:1],
        *sorted(later, key=time_of_day_distance)[:1],
    ]
    rest = sorted((slot for slot in free if slot not in chosen), key=start_distance)
    return [*chosen, *rest][:3]


def build_slot_taken_error(
    *, tenant: Tenant, lost: OfferedSlot, order_id: UUID | None = None
) -> SlotTaken:
    """Build the refusal of a taken slot with its alternatives."""
    return SlotTaken(
        lost, find_nearest_slots(tenant=tenant, lost=lost, order_id=order_id)
    )


def _nearby_sites(tenant: Tenant, lost: OfferedSlot) -> list[Site]:
    """List other sites of the provider near the lost slot's, nearest first."""
    if lost.site.price:
        return []
    place = find_zip_code_location(str(lost.site.address["zip_code"]))
    if place is None:
        return []
    at_site = replace(place, latitude=lost.site.latitude, longitude=lost.site.longitude)
    near = list_bookable_center_sites(
        tenant=tenant,
        lab_slug=lost.site.provider,
        place=at_site,
        miles=_OTHER_SITES_MILES,
    )
    return [site for site in near if site.code != lost.site.code][:_OTHER_SITES_MAX]


def _build_availability(
    tenant: Tenant,
    sites: Sequence[Site],
    start: date | None,
    zone_name: str,
    order_id: UUID | None,
) -> Availability:
    now = timezone.now()
    zones = {site.time_zone for site in sites} or {zone_name}
    today = {
        name: now.astimezone(find_time_zone_by_name(name)).date() for name in zones
    }
    if start is not None and start < min(today.values()):
        raise DomainError(
            "start_date_past", _("Choose a start date from today on."), "start_date"
        )
    if start is not None and start > max(today.values()) + _FARTHEST:
        raise DomainError(
            "start_date_too_far",
            _("Choose a start date within one year."),
            "start_date",
        )
    days = [
        SlotDay(first + _DAY * step, (), None)
        for first in (start or min(today.values()),)
        for step in range(WINDOW_DAYS)
    ]
    if sites:
        days = _build_days(tenant, sites, start, today, now, order_id)
    return Availability(
        days=days,
        time_zone=min(zones) or None if len(zones) == 1 else None,
        checked_at=now,
    )


def _build_days(
    tenant: Tenant,
    sites: Sequence[Site],
    start: date | None,
    today: Mapping[str, date],
    now: datetime,
    order_id: UUID | None,
) -> list[SlotDay]:
    gateway, keys, pool = (
        get_booking_gateway(tenant),
        BookingKeys(tenant),
        get_shared_slot_pool(tenant),
    )
    # Zones lie on both sides of UTC: a day more at either end holds them all.
    first = find_day_start(start or min(today.values()), UTC) - _DAY
    end = first + _DAY * (WINDOW_DAYS + 3)
    taken = {
        provider: count_taken_slot_places(
            pool=pool,
            provider=provider,
            site_codes=[site.code for site in sites if site.provider == provider],
            first=first,
            end=end,
            now=now,
            order_id=order_id,
        )
        for provider in {site.provider for site in sites}
    }
    expires_at = (now + BOOKING_KEY_TTL).replace(microsecond=0)
    days = []
    for site in sites:
        first_day = start or today[site.time_zone]
        full, write = taken[site.provider], keys.writer(site, expires_at)
        for step in range(WINDOW_DAYS):
            day = first_day + _DAY * step
            starts = gateway.list_slot_starts(site, day, now)
            if starts and starts[0] <= now:
                starts = [opens for opens in starts if opens > now]
            free = [
                FreeSlot(site, opens, left, write(opens), expires_at)
                for opens in starts
                if (left := site.places - full.get((site.code, opens), 0)) > 0
            ]
            days.append(SlotDay(day, free, site))
    return days
