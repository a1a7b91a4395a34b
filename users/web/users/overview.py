"""Tiles and attention items of the overview about users and sources."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.declarations.pages import (
    AttentionItem,
    OverviewCard,
    OverviewPart,
    Tile,
    Urgency,
)
from accounts.states import Area
from portal.lib.web.views import page_url
from users.queries import (
    COUNTED_UP_TO,
    count_connected_users_by_source,
    count_live_users,
    count_new_users_per_day,
    count_received_elements_by_hour,
    count_users_by_connection_status,
    list_sources_gone_silent,
)
from users.states import ConnectionStatus, Silence
from users.wearables.providers import find_provider
from users.web.sources.arrivals import HOUR, STRIP_HOURS, SourceDay

if TYPE_CHECKING:
    from datetime import date

    from accounts.web.requests import TenantRequest
    from users.queries import ProviderUse, SilentSource

TREND_DAYS = 26
WEEK = 7
STRIPS = 8


def build_users_overview(request: TenantRequest) -> OverviewPart:
    """Return the overview's tiles, source strips and attention items."""
    if not request.rights.allow(Area.USERS):
        return OverviewPart()
    uses = count_connected_users_by_source(tenant=request.tenant)
    days = _source_days(request, uses)
    attention = [_broken(request, use) for use in uses if use.broken]
    attention += [_overdue(day) for day in days if day.is_overdue]
    attention += [
        _silent(request, each)
        for each in list_sources_gone_silent(tenant=request.tenant)
    ]
    return OverviewPart(
        tiles=(_users_tile(request), _sources_tile(request, uses)),
        attention=tuple(attention),
        cards=(
            OverviewCard(
                10, "users/_arrivals.html", {"days": days[:STRIPS]}, is_aside=True
            ),
        ),
    )


def _source_days(request: TenantRequest, uses: list[ProviderUse]) -> list[SourceDay]:
    """Return the last day of each source, those with data first, then most used."""
    this_hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    since = this_hour - (STRIP_HOURS - 1) * HOUR
    arrived = count_received_elements_by_hour(tenant=request.tenant, since=since)
    slugs = dict.fromkeys([*(use.provider for use in uses), *arrived])
    days = [
        SourceDay(
            provider=find_provider(slug),
            url=_users_of(request, slug),
            this_hour=this_hour,
            counts=tuple(
                arrived.get(slug, {}).get(since + hour * HOUR, 0)
                for hour in range(STRIP_HOURS)
            ),
        )
        for slug in slugs
    ]
    return sorted(days, key=lambda day: day.silent_hours is None)


def _users_tile(request: TenantRequest) -> Tile:
    today = timezone.now().date()
    since = timezone.now() - timedelta(days=TREND_DAYS)
    total = count_live_users(tenant=request.tenant)
    new = count_new_users_per_day(tenant=request.tenant, since=since)
    week = sum(new.get(today - timedelta(days=ago), 0) for ago in range(WEEK))
    return Tile(
        rank=10,
        label=_("Users"),
        number=total,
        url=page_url(request, "users:list"),
        detail=_("%(number)s new this week") % {"number": f"{week:,}"}
        if week
        else _("None new this week"),
        trend=_totals(total, new, today),
        trend_says=(
            _("Users, last %(days)d days, rising")
            if new
            else _("Users, last %(days)d days, steady")
        )
        % {"days": TREND_DAYS},
    )


def _totals(total: int, new: dict[date, int], today: date) -> tuple[int, ...]:
    """Return the number of users at the end of each day, oldest first."""
    totals = [total]
    for ago in range(TREND_DAYS - 1):
        totals.append(totals[-1] - new.get(today - timedelta(days=ago), 0))
    return tuple(reversed(totals))


def _sources_tile(request: TenantRequest, uses: list[ProviderUse]) -> Tile:
    number = count_users_by_connection_status(
        tenant=request.tenant, status=ConnectionStatus.CONNECTED
    )
    broken = sum(use.broken for use in uses)
    return Tile(
        rank=50,
        label=_("Users with a source"),
        number=min(number, COUNTED_UP_TO),
        unit=_("or more") if number > COUNTED_UP_TO else "",
        url=f"{page_url(request, 'users:list')}?status={ConnectionStatus.CONNECTED}",
        detail=ngettext(
            "%(number)s connection in error",
            "%(number)s connections in error",
            broken,
        )
        % {"number": f"{broken:,}"}
        if broken
        else _("None in error"),
    )


def _broken(request: TenantRequest, use: ProviderUse) -> AttentionItem:
    source = find_provider(use.provider)
    return AttentionItem(
        urgency=Urgency.SOURCE,
        since=use.broken_since or timezone.now(),
        family="bad",
        icon="link",
        title=ngettext(
            "%(source)s has an error for %(number)s user",
            "%(source)s has an error for %(number)s users",
            use.broken,
        )
        % {"source": source.name, "number": f"{use.broken:,}"},
        detail=_("Of %(number)s connected. No data arrives until it is fixed.")
        % {"number": f"{use.connections:,}"},
        url=f"{_users_of(request, use.provider)}&status={ConnectionStatus.ERROR}",
        status=ConnectionStatus.ERROR,
    )


def _overdue(day: SourceDay) -> AttentionItem:
    pause = day.longest_pause or 1
    return AttentionItem(
        urgency=Urgency.SOURCE,
        since=day.this_hour - (day.silent_hours or 0) * HOUR,
        family="warn",
        icon="pulse",
        title=_("%(source)s is silent") % {"source": day.provider.name},
        detail=_("It usually sends data every hour.")
        if pause == 1
        else _("It usually sends data at least every %(hours)d h.") % {"hours": pause},
        url=day.url,
        status="overdue",
    )


def _silent(request: TenantRequest, silent: SilentSource) -> AttentionItem:
    source = find_provider(silent.provider)
    return AttentionItem(
        urgency=Urgency.SOURCE,
        since=silent.since,
        family="warn",
        icon="pulse",
        title=ngettext(
            "%(source)s is silent for %(number)s user",
            "%(source)s is silent for %(number)s users",
            silent.users,
        )
        % {"source": source.name, "number": f"{silent.users:,}"},
        detail=_("In the last 7 days, compared with each user's usual interval"),
        url=f"{_users_of(request, silent.provider)}&silence={Silence.WEEK}",
        status="overdue",
    )


def _users_of(request: TenantRequest, provider: str) -> str:
    return f"{page_url(request, 'users:list')}?source={provider}"
