"""Gaps: open and close what is missing of a source's days, each with one event."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts.models import Tenant
from accounts.webhooks.operations import emit_event
from portal.lib.errors import NotFound
from portal.lib.jobs import jobs
from portal.lib.periods import find_day_start, find_time_zone_by_name
from users.analysis.completeness import (
    CLOSES_AFTER,
    DAYS_MAX,
    prove_connection_completeness,
)
from users.gateways.sources import list_push_only_providers
from users.models import Connection, Pull, SourceGap, SourceGrant
from users.queries import lock_user
from users.states import ConnectionStatus, DayState

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date, datetime, tzinfo

    from django.db.models import QuerySet

    from users.analysis.completeness import CompletenessDay, ResourceCompleteness
    from users.models import User

GAP_JOB = "users.check_gaps"
# Ours: twice the time after which a source that pushes is polled, so that a day which
# has just closed is no gap.
OPENS_AFTER = timedelta(hours=6)
_CHECK_EVERY = timedelta(hours=3)
# Of one run of the job; the rest is left to the next.
CHECKED_AT_ONCE = 500
_DAYS_AN_EVENT = 1000
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class _ChangedDay:
    """A day of a resource as its event says it."""

    resource: str
    day: date
    state: DayState
    error_type: str = ""


def enqueue_due_gap_checks() -> int:
    """Enqueue a check for each tenant with sources to check; return how many.

    Over all tenants. Source: Issue "Sources", 5; Ours: how often.
    """
    tenants = Tenant.objects.filter(
        pk__in=_filter_due(timezone.now()).values("tenant"), team__deleted_at=None
    )
    for tenant in tenants.order_by("pk"):
        jobs.enqueue_job(GAP_JOB, tenant=tenant, lock=f"{GAP_JOB}:{tenant.pk}")
    return len(tenants)


def check_due_source_gaps(*, tenant: Tenant) -> bool:
    """Check the sources of a tenant that are due; return whether some are left.

    A killed run continues with what it had not checked.
    """
    due = _filter_due(timezone.now()).filter(tenant=tenant)
    found = due.select_related("connection__user__tenant").order_by("pk")
    grants = list(found[:CHECKED_AT_ONCE])
    for grant in grants:
        grant.connection.user.tenant = tenant
        try:
            update_source_gaps(connection=grant.connection)
        except NotFound:
            continue  # its user was deleted meanwhile
    return len(grants) == CHECKED_AT_ONCE


@transaction.atomic
def update_source_gaps(*, connection: Connection) -> None:
    """Open the gaps of a source and close those that are filled, with their events.

    A day of a resource is a gap if it is missing OPENS_AFTER after it closed, and no
    read of that age or less is under way. Days before the source was connected are
    none, and a paused source opens none. Of two processes the second finds the rows of
    the first. Raises: not_found. Source: Issue "Sources", 5.
    """
    user = lock_user(connection.user)
    live = Connection.objects.for_tenant(user.tenant).live()
    kept: Connection | None = live.filter(pk=connection.pk).first()
    if kept is None:
        return
    now = timezone.now()
    zone = find_time_zone_by_name(user.fallback_time_zone or "UTC")
    stored = {(gap.resource, gap.day) for gap in _list_gaps(kept)}
    days = sorted({*_list_days(kept, now, zone), *(day for _resource, day in stored)})
    opens = _may_open(kept, now)
    opened, closed = [], []
    for found in prove_connection_completeness(
        connection=kept, user=user, days=days, zone=zone
    ):
        for each in found.days:
            is_stored = (found.resource, each.day) in stored
            is_missing = each.state == DayState.MISSING
            change = _ChangedDay(
                found.resource,
                each.day,
                each.state,
                found.error_type if is_missing else "",
            )
            if is_stored and not is_missing:
                closed.append(change)
            elif opens and not is_stored and _is_gap(found, each, now, zone):
                opened.append(change)
    SourceGap.objects.for_tenant(user.tenant).bulk_create(
        SourceGap(
            tenant=user.tenant, connection=kept, resource=each.resource, day=each.day
        )
        for each in opened
    )
    _delete_gaps(kept, closed)
    _emit(kept, user, "opened", opened)
    _emit(kept, user, "closed", closed)
    SourceGrant.objects.for_tenant(user.tenant).filter(connection=kept).update(
        gaps_checked_at=now
    )


def close_filled_source_gaps(*, connection: Connection) -> None:
    """Check the gaps of a source that was just read, if it has any.

    A user that was deleted meanwhile has none.
    """
    if _list_gaps(connection).exists():
        try:
            update_source_gaps(connection=connection)
        except NotFound:
            return


def close_gaps_of_ended_source(*, connection: Connection, user: User) -> None:
    """Close all gaps of a source that is disconnected: nothing reads it any more.

    The caller holds the user's lock.
    """
    closed = [
        _ChangedDay(gap.resource, gap.day, DayState.NOT_READ)
        for gap in _list_gaps(connection).order_by("day", "resource")
    ]
    _delete_gaps(connection, closed)
    _emit(connection, user, "closed", closed)


def _filter_due(now: datetime) -> QuerySet[SourceGrant]:
    return SourceGrant.unscoped.filter(
        Q(gaps_checked_at=None) | Q(gaps_checked_at__lte=now - _CHECK_EVERY),
        connection__disconnected_at=None,
        connection__user__deleted_at=None,
    ).exclude(
        Q(connection__status=ConnectionStatus.PAUSED)
        # They prove nothing, so that nothing is known to be missing.
        | Q(connection__provider__in=list_push_only_providers())
    )


def _list_gaps(connection: Connection) -> QuerySet[SourceGap]:
    mine: QuerySet[SourceGap] = SourceGap.objects.for_tenant(connection.tenant)
    return mine.filter(connection=connection)


def _list_days(connection: Connection, now: datetime, zone: tzinfo) -> list[date]:
    """Return the days that may be a gap: since the connection, DAYS_MAX at most."""
    last = (now - OPENS_AFTER - CLOSES_AFTER).astimezone(zone).date() - _DAY
    first = max(
        connection.created_on.astimezone(zone).date(), last - (DAYS_MAX - 1) * _DAY
    )
    return [first + number * _DAY for number in range((last - first).days + 1)]


def _may_open(connection: Connection, now: datetime) -> bool:
    if connection.status == ConnectionStatus.PAUSED:
        return False
    reads = Pull.objects.for_tenant(connection.tenant).open()
    fresh = reads.filter(connection=connection, scheduled_at__gt=now - OPENS_AFTER)
    return not fresh.filter(is_announced=False).exists()


def _is_gap(
    found: ResourceCompleteness, each: CompletenessDay, now: datetime, zone: tzinfo
) -> bool:
    if each.state != DayState.MISSING:
        return False
    closes = find_day_start(each.day + _DAY, zone) + CLOSES_AFTER
    if found.read_until is None or found.read_until < closes:
        return now >= closes + OPENS_AFTER
    # It was read, and changed since.
    return each.announced_at is not None and now >= each.announced_at + OPENS_AFTER


def _delete_gaps(connection: Connection, days: Sequence[_ChangedDay]) -> None:
    which = Q()
    for each in days:
        which |= Q(resource=each.resource, day=each.day)
    if days:
        _list_gaps(connection).filter(which).delete()


def _emit(
    connection: Connection, user: User, how: str, days: Sequence[_ChangedDay]
) -> None:
    for first in range(0, len(days), _DAYS_AN_EVENT):
        emit_event(
            tenant=user.tenant,
            user=user.ref,
            event_type=f"provider.gap.{how}",
            data={
                "user_id": str(user.uuid),
                "provider": connection.provider,
                "time_zone": user.fallback_time_zone or "UTC",
                "days": [
                    {
                        "resource": each.resource,
                        "date": each.day.isoformat(),
                        "state": each.state.value,
                        "error_type": each.error_type or None,
                    }
                    for each in days[first : first + _DAYS_AN_EVENT]
                ],
            },
        )
