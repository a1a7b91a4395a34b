"""Reads of calendar addresses and of the visits that they serve."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db.models import Count, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from labs.models import Appointment, CalendarFeed
from labs.states.appointments import AppointmentType
from portal.lib.errors import NotFound

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from django.db.models import QuerySet

    from accounts.models import Tenant

# Ours: a visit stays in a feed for so long after it, so that a late cancellation shows.
PAST_SHOWN = timedelta(days=30)
# Ours: a calendar loads its feed whole; the next visits come first.
ENTRIES_MAX = 1_000
# Ours: centers to choose from are those of visits of so long ago, or later.
_SITES_SINCE = timedelta(days=180)


def find_member_calendar(*, tenant: Tenant, member_id: UUID) -> CalendarFeed | None:
    """Return a member's own feed; None without one."""
    found: CalendarFeed | None = (
        CalendarFeed.objects.for_tenant(tenant)
        .filter(member_id=member_id, site_code="")
        .first()
    )
    return found


def list_site_calendars(*, tenant: Tenant) -> list[CalendarFeed]:
    """List the feeds of service centers, by name, with who created them."""
    found = CalendarFeed.objects.for_tenant(tenant).exclude(site_code="")
    return list(
        found.select_related("member").order_by("site_name", "provider", "site_code")
    )


def get_site_calendar(*, tenant: Tenant, feed_id: UUID) -> CalendarFeed:
    """Return the feed of a service center. Raises: calendar_not_found (404)."""
    feeds = CalendarFeed.objects.for_tenant(tenant).exclude(site_code="")
    found: CalendarFeed | None = feeds.filter(pk=feed_id).first()
    if found is None:
        raise NotFound("calendar_not_found", _("This calendar does not exist."))
    return found


def list_sites_without_calendar(*, tenant: Tenant) -> list[tuple[str, str, str]]:
    """List centers with visits but no feed: (provider, site code, name), by name."""
    feeds = CalendarFeed.objects.for_tenant(tenant).exclude(site_code="")
    taken = set(feeds.values_list("provider", "site_code"))
    sites = {
        (provider, code): name
        for provider, code, name in _visits_at_sites(tenant)
        .order_by("start_at")
        .values_list("provider", "site_code", "site_name")
    }
    left = [(*key, name) for key, name in sites.items() if key not in taken]
    return sorted(left, key=lambda one: (one[2], one))


def list_visits_of_calendar(feed: CalendarFeed, *, at: datetime) -> list[Appointment]:
    """List the visits of a feed, earliest first, at most ENTRIES_MAX; two queries.

    Of live users, with a time, from PAST_SHOWN ago on. `step_count` is how many status
    changes each has had.
    """
    rows: QuerySet[Appointment] = Appointment.objects.for_tenant(feed.tenant).filter(
        order__user__deleted_at=None, start_at__gte=at - PAST_SHOWN
    )
    if feed.site_code:
        rows = rows.filter(_is_at_site(feed.provider, feed.site_code))
    # A full feed loses what has passed, then what is furthest ahead.
    upcoming = rows.filter(start_at__gte=at).order_by("start_at", "pk")
    past = rows.filter(start_at__lt=at).order_by("-start_at", "pk")
    found: list[Appointment] = []
    for part in (upcoming, past):
        left = ENTRIES_MAX - len(found)
        found += part.annotate(step_count=Count("events"))[:left]
    return sorted(found, key=lambda one: (one.start_at, one.pk))


def find_site_name(*, tenant: Tenant, provider: str, site_code: str) -> str | None:
    """Return the name of a center that visits are booked at; None without a visit."""
    visits = _visits_at_sites(tenant).filter(_is_at_site(provider, site_code))
    name: str | None = (
        visits.order_by("-start_at").values_list("site_name", flat=True).first()
    )
    return name


def _visits_at_sites(tenant: Tenant) -> QuerySet[Appointment]:
    visits: QuerySet[Appointment] = Appointment.objects.for_tenant(tenant).filter(
        type=AppointmentType.SERVICE_CENTER,
        order__user__deleted_at=None,
        start_at__gte=timezone.now() - _SITES_SINCE,
    )
    return visits.exclude(site_code="")


def _is_at_site(provider: str, site_code: str) -> Q:
    return Q(
        type=AppointmentType.SERVICE_CENTER, provider=provider, site_code=site_code
    )
