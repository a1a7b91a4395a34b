"""Source priority of a total: which source counted in each interval of a day."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlencode
from uuid import UUID

from django.contrib import messages
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.rights import require_right
from portal.lib.errors import Invalid
from portal.lib.periods import find_time_zone_by_name
from portal.lib.web.views import page_url, redirect_browser, render_page
from portal.ui.charts import draw_source_priority_chart
from users.analysis.aggregates import AggregateRequest, aggregate_samples
from users.analysis.buckets import Period
from users.analysis.source_priority import Rule
from users.operations.sources.priorities import save_source_priority
from users.queries import live_user, user_overview
from users.queries.sources.priorities import (
    find_user_source_ranking,
    read_source_priority,
)
from users.store.held_series import list_stored_series
from users.wearables.providers import find_provider
from users.wearables.timeseries import TIMESERIES, Aggregation
from users.wearables.values import EARLIEST
from users.web.explorer.series import format_number

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from django.http import HttpResponse
    from django.utils.safestring import SafeString

    from accounts.web.requests import TenantRequest
    from users.analysis.aggregates import Bucket, SourceInterval
    from users.store.dictionaries import FeedKey
    from users.wearables.timeseries import TimeseriesResource

_DAY = timedelta(days=1)
# Colours of sources, by rank; more share the last.
_HUES = 5


@dataclass(frozen=True, slots=True)
class CountedInterval:
    """An interval for which one source counted, and what others reported."""

    start: str
    end: str
    source: str
    hue: int
    value: str
    others: str


@dataclass(frozen=True, slots=True)
class SourceTotal:
    """A source of the day: what it reported, and how much of it counted."""

    source: str
    provider: str
    hue: int
    reported: str
    counted: str
    samples: int


@dataclass(frozen=True, slots=True)
class RuleTotal:
    """The day's total by one rule; `query` switches to it."""

    rule: Rule
    total: str
    query: str
    is_here: bool


@require_GET
@require_right(Area.USERS)
def show_source_priority(request: TenantRequest, user_id: str) -> HttpResponse:
    overview = user_overview(tenant=request.tenant, user_id=_uuid(user_id))
    user = overview.user
    zone = find_time_zone_by_name(user.fallback_time_zone)
    today = timezone.now().astimezone(zone).date()
    summed = [
        each
        for each in list_stored_series(user=user)
        if each.resource.aggregation == Aggregation.SUM
    ]
    held = list({each.resource.slug: each.resource for each in summed}.values())
    resource = _resource(request.GET.get("series", ""), held)
    stored_series = [each for each in summed if each.resource is resource]
    last = max((each.extent.last for each in stored_series), default=timezone.now())
    newest = min(last.astimezone(zone).date(), today)
    day = _day(request.GET.get("day", ""), today, newest)
    rule = Rule.known(request.GET.get("rule", "")) or Rule.PRIORITY
    buckets = {
        each: aggregate_samples(
            user=user, request=_wanted(resource, day, zone, each, rule)
        )
        for each in Rule
    }
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject=resource.event_resource,
        subject_id=user.uuid,
        user_uuid=user.uuid,
    )

    def query(**changes: str) -> str:
        parameters = {
            "series": resource.slug,
            "day": day.isoformat(),
            "rule": str(rule),
        }
        return "?" + urlencode(parameters | changes)

    shown = buckets[rule]
    places = _places(shown)
    return render_page(
        request,
        "users/source_priority.html",
        overview=overview,
        tab="explorer",
        resource=resource,
        resources=[(each, query(series=each.slug)) for each in held],
        day=day,
        zone_name=user.fallback_time_zone or "UTC",
        earlier=query(day=(day - _DAY).isoformat()),
        later=query(day=(day + _DAY).isoformat()) if day < today else "",
        rules=[
            RuleTotal(each, _total(found), query(rule=str(each)), each == rule)
            for each, found in buckets.items()
        ],
        rule=rule,
        total=_total(shown),
        wins=_counted_intervals(shown, places, zone),
        shares=_source_totals(shown, places),
        chart=_chart(shown, places, zone),
        explorer_query=f"?series={resource.slug}&days=7",
        ranking=[find_provider(each).name for each in find_user_source_ranking(user)],
        has_own_ranking=read_source_priority(tenant=request.tenant, user=user)
        is not None,
        here=query(),
    )


@require_POST
@require_right(Area.USERS, write=True)
def rank_user_source(request: TenantRequest, user_id: str) -> HttpResponse:
    """Let a source count first for a user, or without one use the team's ranking."""
    user = live_user(tenant=request.tenant, user_id=_uuid(user_id))
    source = request.POST.get("source", "")
    ranking: list[str] = []
    if source:
        others = [each for each in find_user_source_ranking(user) if each != source]
        ranking = [source, *others]
    try:
        save_source_priority(
            tenant=request.tenant, actor=request.actor, sources=ranking, user=user
        )
    except Invalid as refusal:
        messages.error(request, refusal.message)
    else:
        name = find_provider(source).name
        messages.success(
            request,
            _("%(source)s counts first for this user.") % {"source": name}
            if source
            else _("The team's source priority is used for this user."),
        )
    place = page_url(request, "users:ledger", user_id=user.uuid)
    back = parse_qs(request.POST.get("here", "").removeprefix("?"))
    kept: dict[str, str] = {
        key: back[key][0] for key in ("series", "day", "rule") if key in back
    }
    return redirect_browser(request, f"{place}?{urlencode(kept)}")


def _wanted(
    resource: TimeseriesResource, day: date, zone: tzinfo, rule: Rule, here: Rule
) -> AggregateRequest:
    request = AggregateRequest(
        resource=resource, start=day, end=day, period=Period.DAY, zone=zone, rule=rule
    )
    return replace(request, with_intervals=True) if rule == here else request


def _places(buckets: Sequence[Bucket]) -> dict[FeedKey, int]:
    """Number the sources by rank, from 1."""
    sources = dict.fromkeys(
        share.source for bucket in buckets for share in bucket.sources
    )
    return {source: min(n, _HUES) for n, source in enumerate(sources, start=1)}


def _name(source: FeedKey) -> str:
    provider = find_provider(source.provider).name
    known = source.source_type not in ("", "unknown")
    return f"{provider}, {source.source_type}" if known else provider


def _total(buckets: Sequence[Bucket]) -> str:
    return format_number(sum(bucket.total or 0 for bucket in buckets))


def _lines(buckets: Sequence[Bucket]) -> list[SourceInterval]:
    found = [line for bucket in buckets for line in bucket.intervals]
    return sorted(found, key=lambda line: line.start)


def _counted_intervals(
    buckets: Sequence[Bucket], places: dict[FeedKey, int], zone: tzinfo
) -> list[CountedInterval]:
    return [
        CountedInterval(
            f"{line.start.astimezone(zone):%H:%M}",
            f"{line.end.astimezone(zone):%H:%M}",
            _name(line.source),
            places[line.source],
            format_number(line.value),
            ", ".join(
                f"{_name(each)} {format_number(value)}" for each, value in line.others
            ),
        )
        for line in _lines(buckets)
    ]


def _source_totals(
    buckets: Sequence[Bucket], places: dict[FeedKey, int]
) -> list[SourceTotal]:
    totals: dict[FeedKey, list[float]] = {}
    for bucket in buckets:
        for share in bucket.sources:
            mine = totals.setdefault(share.source, [0.0, 0.0, 0.0])
            mine[0] += share.reported or 0
            mine[1] += share.counted or 0
            mine[2] += share.samples
    return [
        SourceTotal(
            _name(source),
            source.provider,
            places[source],
            format_number(own),
            format_number(counted),
            int(samples),
        )
        for source, (own, counted, samples) in totals.items()
    ]


def _chart(
    buckets: Sequence[Bucket], places: dict[FeedKey, int], zone: tzinfo
) -> SafeString:
    """Draw which source counted at each time, and the others below."""
    if not buckets:
        return draw_source_priority_chart(
            [], [], start=0, end=1, ticks=[], says=_("No data")
        )
    start, end = buckets[0].start, buckets[-1].end
    lines = _lines(buckets)
    ticks = []
    at = start
    while at < end:
        local = at.astimezone(zone)
        if local.hour % 4 == 0 and local.minute == 0:
            ticks.append((at.timestamp(), f"{local:%H:%M}"))
        at += timedelta(minutes=30)
    return draw_source_priority_chart(
        [
            (
                line.start.timestamp(),
                line.end.timestamp(),
                places[line.source],
                f"{_name(line.source)}: {format_number(line.value)}",
            )
            for line in lines
        ],
        [
            (
                line.start.timestamp(),
                line.end.timestamp(),
                places[source],
                _("%(source)s, not counted: %(value)s")
                % {"source": _name(source), "value": format_number(value)},
            )
            for line in lines
            for source, value in line.others
        ],
        start=start.timestamp(),
        end=end.timestamp(),
        ticks=ticks,
        says="; ".join(
            _("%(start)s to %(end)s %(source)s")
            % {"start": win.start, "end": win.end, "source": win.source}
            for win in _counted_intervals(buckets, places, zone)
        )
        or _("No source has data"),
    )


def _resource(slug: str, held: Sequence[TimeseriesResource]) -> TimeseriesResource:
    resource = TIMESERIES.get(slug)
    if resource is not None and resource.aggregation == Aggregation.SUM:
        return resource
    return held[0] if held else TIMESERIES["steps"]


def _day(text: str, today: date, newest: date) -> date:
    """Return the requested day, or the newest with data."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return newest
    return day if EARLIEST <= day <= today + _DAY else newest


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Http404 from None
