"""Calendar addresses: create, revoke, and serve the visits of one.

Whoever has an address reads its visits, and a calendar server of others stores them. So
an entry has the time, a number that means nothing elsewhere and, in a member's feed,
the center and a link that needs a sign-in; no name, no home address, no test, no lab
and no preparation, as each would say something of a person's health.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.operations.api_keys.call_limits import count_call_against_rate_limit
from accounts.operations.audit.entries import record_change, record_read
from accounts.queries import find_team_membership
from accounts.states import Area, roles_allow_access
from labs.documents.calendar_entry import FeedEntry, write_icalendar_feed
from labs.models import CalendarFeed
from labs.operations.appointments.site_confirmation import get_visit_number
from labs.queries.appointments.calendar_feeds import (
    find_member_calendar,
    find_site_name,
    get_site_calendar,
    list_visits_of_calendar,
)
from labs.states.appointments import AppointmentStatus, AppointmentType
from portal.lib.actor import Actor
from portal.lib.errors import DomainError, NotFound, TooMany
from portal.lib.periods import find_time_zone_by_name
from portal.lib.tenancy import acting_for
from portal.lib.web.links import build_absolute_url, get_public_host

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from accounts.models import Member, Tenant
    from labs.models import Appointment

CALENDAR_ACTOR = "calendar_feed"
# Ours: calendars ask every few minutes at most; one address, from all its readers.
READS_PER_MINUTE = 20
# Ours: a calendar that asks all day long is one line of the audit an hour.
READ_RECORDED_EVERY = timedelta(hours=1)
_UNSURE = (AppointmentStatus.PENDING, AppointmentStatus.RESERVED)


@dataclass(frozen=True, slots=True)
class IssuedCalendar:
    """A feed with its address, which is not stored and can't be shown again."""

    feed: CalendarFeed
    address: str


@transaction.atomic
def create_member_calendar(
    *, tenant: Tenant, actor: Actor, member: Member
) -> IssuedCalendar:
    """Create the address of a member's own feed, or rotate it: an earlier one ends.

    The feed has all visits of the environment, as the list of visits. Source: Ours.
    """
    feed = find_member_calendar(tenant=tenant, member_id=member.pk)
    return _issue(feed or CalendarFeed(tenant=tenant), actor, member)


@transaction.atomic
def create_site_calendar(
    *, tenant: Tenant, actor: Actor, member: Member, provider: str, site_code: str
) -> IssuedCalendar:
    """Create the address of a center's feed: the team's visits there; it is given away.

    An earlier address ends. Raises: site_without_visits. Source: Ours.
    """
    name = find_site_name(tenant=tenant, provider=provider, site_code=site_code)
    if name is None or not site_code:
        raise DomainError(
            "site_without_visits", _("Choose a service center with visits."), "site"
        )
    feeds = CalendarFeed.objects.for_tenant(tenant)
    feed = feeds.filter(provider=provider, site_code=site_code).first()
    if feed is None:
        feed = CalendarFeed(tenant=tenant, provider=provider, site_code=site_code)
    feed.site_name = name
    return _issue(feed, actor, member)


@transaction.atomic
def revoke_member_calendar(*, tenant: Tenant, actor: Actor, member: Member) -> None:
    """Delete a member's own feed, if any: its address is unknown from now on."""
    feed = find_member_calendar(tenant=tenant, member_id=member.pk)
    if feed is not None:
        _revoke(feed, actor)


@transaction.atomic
def rotate_site_calendar(
    *, tenant: Tenant, actor: Actor, member: Member, feed_id: UUID
) -> IssuedCalendar:
    """Replace the address of a center's feed; the old one is unknown from now on.

    Raises: calendar_not_found (404).
    """
    return _issue(get_site_calendar(tenant=tenant, feed_id=feed_id), actor, member)


@transaction.atomic
def revoke_site_calendar(*, tenant: Tenant, actor: Actor, feed_id: UUID) -> None:
    """Delete a center's feed: its address is unknown from now on.

    Raises: calendar_not_found (404).
    """
    _revoke(get_site_calendar(tenant=tenant, feed_id=feed_id), actor)


def read_calendar(*, token: str, address: str | None) -> bytes:
    """Return the feed of an address, as an iCalendar file.

    Raises: calendar_not_found (404): no address of ours, a rotated or revoked one, one
    of a deleted team, or of a member who may no longer see visits; calendar_too_often
    (429), over READS_PER_MINUTE. Source: RFC 5545.
    """
    feeds = CalendarFeed.unscoped.select_related("tenant__team")
    feed = feeds.filter(digest=_hash(token), tenant__team__deleted_at=None).first()
    if feed is None or not _may_still_read(feed):
        raise NotFound("calendar_not_found", _("No calendar belongs to this address."))
    window = count_call_against_rate_limit(
        subject=f"calendar:{feed.pk}", limit=READS_PER_MINUTE
    )
    if window.is_over:
        raise TooMany(
            "calendar_too_often",
            _("This calendar was read too often. Try again later."),
            wait=timedelta(seconds=window.seconds),
        )
    now = timezone.now()
    with acting_for(feed.tenant):
        visits = list_visits_of_calendar(feed, at=now)
        if feed.last_read_at is None or now - feed.last_read_at >= READ_RECORDED_EVERY:
            _record_read(feed, address)
    return write_icalendar_feed(
        [
            _build_site_entry(visit)
            if feed.site_code
            else _build_member_entry(feed.tenant, visit)
            for visit in visits
        ],
        name=_name_feed(feed),
        host=get_public_host(),
    )


def _issue(feed: CalendarFeed, actor: Actor, member: Member) -> IssuedCalendar:
    token = secrets.token_urlsafe(32)
    is_new = feed._state.adding
    feed.member = member
    feed.digest = _hash(token)
    feed.created_at = timezone.now()
    feed.last_read_at = None
    feed.save()
    _record(feed, actor, "create_calendar" if is_new else "rotate_calendar")
    path = reverse("calendar_feed")
    # In the query string, which is never logged.
    return IssuedCalendar(feed, build_absolute_url(f"{path}?token={token}"))


def _revoke(feed: CalendarFeed, actor: Actor) -> None:
    _record(feed, actor, "revoke_calendar")
    feed.delete()


def _record(feed: CalendarFeed, actor: Actor, verb: str) -> None:
    changes: Mapping[str, object] | None = (
        {"site": f"{feed.provider} {feed.site_code}"} if feed.site_code else None
    )
    record_change(
        tenant=feed.tenant,
        actor=actor,
        verb=verb,
        subject="calendar",
        subject_id=feed.pk,
        changes=changes,
    )


def _record_read(feed: CalendarFeed, address: str | None) -> None:
    now = timezone.now()
    CalendarFeed.objects.for_tenant(feed.tenant).filter(pk=feed.pk).update(
        last_read_at=now
    )
    system = Actor.system(CALENDAR_ACTOR)
    record_read(
        tenant=feed.tenant,
        actor=Actor(system.kind, system.key, system.label, address),
        subject="calendar",
        subject_id=feed.pk,
    )


def _hash(token: str) -> bytes:
    """Return the SHA-256 of a secret of 256 bits: none is found by trying."""
    return hashlib.sha256(token.encode()).digest()


def _may_still_read(feed: CalendarFeed) -> bool:
    """Return whether a member's feed still serves: they see visits in this team."""
    if feed.site_code:
        return True
    if feed.member_id is None:
        return False
    found = find_team_membership(team=feed.tenant.team, member_id=feed.member_id)
    return (
        found is not None
        and found.member.is_active
        and all(
            roles_allow_access(
                roles=found.roles,
                area=area,
                write=False,
                environment=feed.tenant.environment,
            )
            for area in (Area.ORDERS, Area.BOOKINGS)
        )
    )


def _name_feed(feed: CalendarFeed) -> str:
    team = feed.tenant.team.name
    name = _("Visits of %(team)s") % {"team": team}
    if feed.site_name:
        name = f"{name}, {feed.site_name}"
    return f"{name} ({_('sandbox')})" if feed.tenant.is_sandbox else name


def _build_member_entry(tenant: Tenant, visit: Appointment) -> FeedEntry:
    """Build an entry of a member's feed; of a visit at home without the address."""
    is_center = visit.type == AppointmentType.SERVICE_CENTER
    address = visit.address
    lines = (
        visit.site_name,
        address.get("first_line"),
        f"{address.get('city', '')}, {address.get('state', '')}"
        f" {address.get('zip_code', '')}",
    )
    path = reverse(
        "labs:order", args=[tenant.team.slug, tenant.environment, visit.order_id]
    )
    return _build_entry(
        visit,
        summary=_("Visit, %(place)s") % {"place": visit.site_name}
        if is_center
        else _("Visit at home"),
        location=", ".join(str(line) for line in lines if line) if is_center else "",
        url=build_absolute_url(path),
    )


def _build_site_entry(visit: Appointment) -> FeedEntry:
    """Build an entry of a center's feed: it finds the visit by its number."""
    number = visit.external_id or get_visit_number(visit)
    return _build_entry(
        visit, summary=_("Visit %(number)s") % {"number": number}, location="", url=""
    )


def _build_entry(
    visit: Appointment, *, summary: str, location: str, url: str
) -> FeedEntry:
    assert visit.start_at is not None  # noqa: S101 - a feed has visits with times
    assert visit.end_at is not None  # noqa: S101 - as above
    local = visit.start_at.astimezone(find_time_zone_by_name(visit.time_zone))
    return FeedEntry(
        appointment_id=str(visit.pk),
        summary=summary,
        description=_("Local time: %(time)s.") % {"time": f"{local:%H:%M %Z}"},
        location=location,
        url=url,
        starts_at=visit.start_at,
        ends_at=visit.end_at,
        is_confirmed=visit.status not in _UNSURE,
        is_cancelled=visit.status == AppointmentStatus.CANCELLED,
        # A visit's first status is no change.
        changes=max(0, visit.step_count - 1),  # type: ignore[attr-defined]  # annotated
        changed_at=visit.updated_at,
    )
