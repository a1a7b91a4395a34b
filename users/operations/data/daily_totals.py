"""Totals of days: activity summaries of sources that send samples alone."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Max, Min
from django.utils import timezone

from accounts.models import Tenant
from portal.lib.actor import Actor
from portal.lib.jobs import jobs
from portal.lib.periods import find_time_zone_by_name
from users.analysis.aggregates import (
    MERGED_DAYS_MAX,
    AggregateRequest,
    aggregate_samples,
)
from users.analysis.buckets import Period
from users.analysis.source_priority import Rule
from users.models import Arrival, Summary, Supply, User
from users.operations.data.summaries import SummaryBatch, record_summaries
from users.queries import get_connection_status, lock_user
from users.states import ConnectionStatus, SourceType
from users.wearables.providers import PROVIDERS
from users.wearables.resources import ELEMENTS_MAX, derive_summary_id
from users.wearables.summaries import ACTIVITY, PROFILE, SUMMARIES
from users.wearables.timeseries import TIMESERIES

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date
    from uuid import UUID

    from users.operations.data.summaries import Recorded

# Fields of an activity summary that samples add up to, by their timeseries, and whether
# they are whole numbers.
_TOTALS = {
    "steps": ("steps", True),
    "distance": ("distance", False),
    "floors_climbed": ("floors_climbed", True),
    "calories_active": ("calories_active", False),
}
TOTALED = frozenset(_TOTALS)
# Kept with the element: the fields that were worked out here, and may be again.
_WORKED_OUT = "worked_out"
_MERGED = str(SourceType.MULTIPLE_SOURCES)
_DAY = timedelta(days=1)
TOTALS_JOB = "users.update_daily_totals"
_TOTALER = Actor.system(TOTALS_JOB)
_ARRIVING = [TIMESERIES[slug].event_resource for slug in _TOTALS]
# The job runs every ten minutes, and one that is late finds what it missed.
_LATELY = timedelta(minutes=25)
_AGAIN = timedelta(days=7)
_WORKING = {ConnectionStatus.CONNECTED, ConnectionStatus.PAUSED}
# Ours: no phone or watch has counted for longer.
_DAYS_MAX = 3660


def update_daily_totals(
    *, user: User, actor: Actor, provider: str, days: Iterable[date]
) -> None:
    """Work out the activity of days from a source's samples, and store what changed.

    Of devices that measured at the same time the one of the higher rank counts (watch
    before phone), so that nothing counts twice; days are those of the user's fallback
    time zone. A value that the source gave itself stays. Days without samples are left
    alone. Raises: not_found. Source: Contract 4.4, 10 (merge); Ours: totals of sources
    that give none.
    """
    wanted = sorted(set(days))
    while wanted:
        last = wanted[0] + (MERGED_DAYS_MAX - 1) * _DAY
        part = [day for day in wanted if day <= last]
        wanted = wanted[len(part) :]
        _update(user, actor, provider, part)


def enqueue_daily_totals() -> int:
    """Enqueue a run for each tenant that movement arrived for lately; return how many.

    Over all tenants.
    """
    lately = Arrival.unscoped.filter(
        at__gt=timezone.now() - _LATELY, resource__in=_ARRIVING
    )
    tenants = Tenant.objects.filter(
        pk__in=lately.values("tenant").distinct(), team__deleted_at=None
    )
    for tenant in tenants.order_by("pk"):
        jobs.enqueue_job(
            TOTALS_JOB, tenant=tenant, lock=f"{TOTALS_JOB}:{tenant.pk}", priority=-10
        )
    return len(tenants)


def update_daily_totals_of_tenant(*, tenant: Tenant) -> int:
    """Work out the activity of users whose samples arrived lately; return how many.

    Of sources that give no activity themselves; a phone's are worked out with each of
    its batches. One that is broken or ended since is left alone: what is worked out
    here would connect it. The last days are worked out again, and all days where the
    first has no activity yet: a source's past comes as a whole. Source: Ours: samples
    are pushed often, and adding up with each push would slow them all.
    """
    arrived = (
        Arrival.objects.for_tenant(tenant)
        .filter(at__gt=timezone.now() - _LATELY, resource__in=_ARRIVING)
        .exclude(created=0, updated=0)
        .values_list("user", "provider")
        .distinct()
    )
    number = 0
    for user_pk, provider in sorted(arrived):
        known = PROVIDERS.get(provider)
        if known is None or (
            "activity" in known.resources and known.auth_type != "sdk"
        ):
            continue
        user = (
            User.objects.for_tenant(tenant).filter(pk=user_pk, deleted_at=None).first()
        )
        if user is None:
            continue
        user.tenant = tenant
        if get_connection_status(user=user, provider=provider) not in _WORKING:
            continue
        days = _find_days(user, provider)
        if days:
            update_daily_totals(user=user, actor=_TOTALER, provider=provider, days=days)
            number += 1
    return number


def _find_days(user: User, provider: str) -> list[date]:
    supplies = Supply.objects.for_tenant(user.tenant).filter(
        user=user, provider=provider, resource__in=_ARRIVING
    )
    span = supplies.aggregate(oldest=Min("oldest_data"), newest=Max("newest_data"))
    if span["oldest"] is None or span["newest"] is None:
        return []
    zone = find_time_zone_by_name(user.fallback_time_zone or "UTC")
    first = span["oldest"].astimezone(zone).date()
    last = span["newest"].astimezone(zone).date()
    own = derive_summary_id(user.uuid, provider, ACTIVITY.slug, f"key:{first}")
    if _read_raw(user, [own]):
        first = max(first, last - _AGAIN)
    number = min((last - first).days, _DAYS_MAX)
    return [last - each * _DAY for each in range(number + 1)]


@transaction.atomic
def record_day_values(
    *, user: User, actor: Actor, provider: str, slug: str, day: str, values: Any
) -> Recorded:
    """Merge values into the summary of a day, or of the person, that stands.

    Raises: ElementsInvalid; not_found.
    """
    user = lock_user(user)
    key = "" if slug == PROFILE.slug else day
    own = derive_summary_id(user.uuid, provider, slug, f"key:{key}")
    raw = _read_raw(user, [own]).get(own, {})
    merged = {**raw, **values}
    for name, value in values.items():
        if isinstance(value, dict) and isinstance(raw.get(name), dict):
            merged[name] = {**raw[name], **value}
    if slug != PROFILE.slug:
        merged["calendar_date"] = day
    return record_summaries(
        user=user,
        actor=actor,
        resource=SUMMARIES[slug],
        batch=SummaryBatch(provider, [merged], _MERGED),
    )


@transaction.atomic
def _update(user: User, actor: Actor, provider: str, days: list[date]) -> None:
    user = lock_user(user)
    zone = find_time_zone_by_name(user.fallback_time_zone or "UTC")
    found: dict[date, dict[str, Any]] = {day: {} for day in days}
    for slug, (name, is_whole) in _TOTALS.items():
        request = AggregateRequest(
            resource=TIMESERIES[slug],
            start=days[0],
            end=days[-1],
            period=Period.DAY,
            zone=zone,
            rule=Rule.MERGE,
            provider=provider,
        )
        for bucket in aggregate_samples(user=user, request=request):
            day = bucket.start.astimezone(zone).date()
            if day in found and bucket.total is not None and bucket.count:
                total = round(bucket.total) if is_whole else round(bucket.total, 3)
                found[day][name] = found[day].get(name, 0) + total
    ids = {
        day: derive_summary_id(user.uuid, provider, ACTIVITY.slug, f"key:{day}")
        for day in days
    }
    stored = _read_raw(user, ids.values())
    elements = []
    for day, totals in found.items():
        raw = stored.get(ids[day], {})
        ours = set(raw.get(_WORKED_OUT, ()))
        new = {
            name: total
            for name, total in totals.items()
            if name in ours or raw.get(name) is None
        }
        if any(raw.get(name) != total for name, total in new.items()):
            elements.append(
                {
                    **raw,
                    **new,
                    "calendar_date": day.isoformat(),
                    _WORKED_OUT: sorted(ours | new.keys()),
                }
            )
    for first in range(0, len(elements), ELEMENTS_MAX):
        record_summaries(
            user=user,
            actor=actor,
            resource=ACTIVITY,
            batch=SummaryBatch(
                provider, elements[first : first + ELEMENTS_MAX], _MERGED
            ),
        )


def _read_raw(user: User, ids: Iterable[UUID]) -> dict[UUID, dict[str, Any]]:
    """Return what was sent of summaries before, by ID."""
    mine = Summary.objects.for_tenant(user.tenant).filter(user=user, pk__in=list(ids))
    return {pk: dict(raw) for pk, raw in mine.values_list("pk", "raw")}
