"""Page of a user's completeness: each day of each resource, and its proof."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from django.http import Http404
from django.utils import timezone
from django.views.decorators.http import require_GET

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.rights import require_right
from portal.lib.periods import find_time_zone_by_name
from portal.lib.web.views import render_page
from portal.ui.dates import format_day
from users.analysis.completeness import CLOSES_AFTER, prove_completeness
from users.queries import user_overview
from users.states import DayState
from users.wearables.providers import find_provider

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from users.analysis.completeness import (
        CompletenessDay,
        ResourceCompleteness,
        SourceCompleteness,
    )
    from users.models import Connection
    from users.wearables.providers import Provider

DAYS_SHOWN = 31
_DAY = timedelta(days=1)
_PROVEN = (DayState.COMPLETE, DayState.FILLED_LATER)


@dataclass(frozen=True, slots=True)
class ShownSource:
    """A source of the calendar."""

    connection: Connection
    provider: Provider
    is_read: bool
    resources: tuple[ResourceCompleteness, ...]


@dataclass(frozen=True, slots=True)
class ShownCell:
    """The day that somebody chose."""

    source: ShownSource
    resource: ResourceCompleteness
    day: CompletenessDay


@require_GET
@require_right(Area.USERS)
def show_completeness(request: TenantRequest, user_id: str) -> HttpResponse:
    overview = user_overview(tenant=request.tenant, user_id=_parse_uuid(user_id))
    zone = find_time_zone_by_name(overview.user.fallback_time_zone or "UTC")
    today = timezone.now().astimezone(zone).date()
    last = min(_parse_day(request.GET.get("until", "")) or today, today)
    first = last - (DAYS_SHOWN - 1) * _DAY
    sources = [
        _show(each)
        for each in prove_completeness(user=overview.user, first=first, last=last)
    ]
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="completeness",
        subject_id=overview.user.uuid,
        user_uuid=overview.user.uuid,
    )
    days = {
        day: format_day(day)
        for day in (first + number * _DAY for number in range(DAYS_SHOWN))
    }
    totals = {
        "complete": _count(sources, *_PROVEN),
        "filled_later": _count(sources, DayState.FILLED_LATER),
        "none": _count(sources, DayState.SOURCE_HAS_NONE),
        "missing": _count(sources, DayState.MISSING),
    }
    return render_page(
        request,
        "users/completeness.html",
        overview=overview,
        tab="completeness",
        sources=sources,
        days=days,
        first=first,
        last=last,
        before=first - _DAY,
        after=min(last + DAYS_SHOWN * _DAY, today) if last < today else None,
        totals=totals,
        due=totals["complete"] + totals["missing"],
        states=list(DayState),
        cell=_choose(request, sources),
        hours=int(CLOSES_AFTER.total_seconds() // 3600),
    )


def _show(each: SourceCompleteness) -> ShownSource:
    provider = find_provider(each.connection.provider)
    return ShownSource(each.connection, provider, each.is_read, each.resources)


def _choose(request: TenantRequest, sources: list[ShownSource]) -> ShownCell | None:
    """Return the chosen cell, by default the latest that is missing."""
    wanted = tuple(request.GET.get(name, "") for name in ("source", "resource", "day"))
    found: ShownCell | None = None
    for source in sources:
        for resource in source.resources:
            for day in resource.days:
                names = (
                    source.provider.slug,
                    resource.resource,
                    day.day.isoformat(),
                )
                if names == wanted:
                    return ShownCell(source, resource, day)
                is_hole = day.state == DayState.MISSING
                if is_hole and (found is None or found.day.day < day.day):
                    found = ShownCell(source, resource, day)
    return found


def _count(sources: list[ShownSource], *states: DayState) -> int:
    return sum(each.count(*states) for source in sources for each in source.resources)


def _parse_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _parse_uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Http404 from None
