"""A user's page, and its tab for developers."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from django.conf import settings
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.declarations.user_record import RecordSpan
from accounts.operations.audit.entries import record_read
from accounts.queries.readers import list_latest_readers_of_user
from accounts.states import Area
from accounts.web.rights import require_right
from portal.lib.periods import find_time_zone_by_name
from portal.lib.web.views import render_page
from users.analysis.daily_readings import (
    LIMITS,
    list_days_out_of_range,
    read_daily_readings,
)
from users.analysis.recent_metrics import GLUCOSE, USUAL_DAYS, read_recent_metrics
from users.queries import list_usual_data_intervals, user_overview
from users.queries.data.annotations import list_annotations, number_annotations
from users.queries.data.summaries import has_summaries_of_kind
from users.queries.phones import list_phone_health
from users.web.record.cycle_card import KIND, build_cycle_card
from users.web.record.own_rows import build_own_part
from users.web.record.spans import read_span
from users.web.record.timeline import build_timeline, collect_parts, pick_attention
from users.web.sources.rows import build_source_row
from users.web.sources.silent_resources import list_overdue_data_rows
from users.web.users.metric_cards import build_metric_cards, describe_usual_range

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from users.analysis.daily_readings import DailyReading, DailyReadings
    from users.analysis.recent_metrics import MetricSpan
    from users.queries import UserOverview

# Ours: who read lately is shown on the page, the rest in the access log.
READERS_OF = timedelta(days=30)
READERS_AT_MOST = 5


@require_GET
@require_right(Area.USERS)
def show_user(request: TenantRequest, user_id: str) -> HttpResponse:
    """Show a user's timeline and cards over a span.

    `span` and `to` choose the days, `show` opens a birth date or the cycle, `list=all`
    lists every entry.
    """
    overview = user_overview(tenant=request.tenant, user_id=_parse_uuid(user_id))
    user = overview.user
    # Before the page's own reads are recorded.
    readers = (
        list_latest_readers_of_user(
            tenant=request.tenant,
            user_uuid=user.uuid,
            since=timezone.now() - READERS_OF,
            limit=READERS_AT_MOST,
        )
        if request.rights.allow(Area.AUDIT)
        else []
    )
    # A birth date is a patient detail: shown when asked for, to those with the right.
    show_birth_date = request.GET.get("show") == "birth-date" and request.rights.allow(
        Area.PATIENT_DETAILS
    )
    # Cycles are sensitive: read only when a member opens them, and told apart in the
    # audit.
    show_cycle = request.GET.get("show") == "cycle"
    zone = find_time_zone_by_name(user.fallback_time_zone)
    today = timezone.now().astimezone(zone).date()
    chosen = read_span(request.GET, today=today)
    span = RecordSpan(
        user_key=user.pk,
        user_uuid=user.uuid,
        first=chosen.first,
        last=chosen.last,
        zone=zone,
    )
    readings = read_daily_readings(
        user=user,
        first=chosen.first - timedelta(days=USUAL_DAYS),
        last=chosen.last,
        zone=zone,
    )
    metrics = read_recent_metrics(
        user=user,
        end=chosen.last,
        days=span.days,
        glucose={
            provider: {day: each.mean for day, each in by_day.items()}
            for provider, by_day in readings.get(GLUCOSE.key, {}).items()
        },
    )
    annotations = number_annotations(
        list_annotations(user=user, first=span.first, last=span.last)
    )
    parts = [
        build_own_part(
            request,
            span,
            connections=overview.connections,
            annotations=annotations,
            out_of_range=list_days_out_of_range(
                readings, first=chosen.first, last=chosen.last
            ),
        ),
        *collect_parts(request, span),
    ]
    timeline = build_timeline(
        parts, span, chosen, is_all=request.GET.get("list") == "all"
    )
    cycle = build_cycle_card(user=user, today=today) if show_cycle else None
    _record_reads(
        request,
        overview,
        {
            "user": True,
            "audit": bool(readers),
            "summaries": bool(metrics),
            "timeseries": bool(readings),
            "annotations": bool(annotations),
            "fallback_birth_date": show_birth_date,
            KIND: cycle is not None,
        },
    )
    return render_page(
        request,
        "users/page.html",
        overview=overview,
        span=chosen,
        zone_name=user.fallback_time_zone or "UTC",
        attention=pick_attention(parts),
        timeline=timeline,
        metric_cards=build_metric_cards(
            metrics, facts={GLUCOSE.key: _describe_glucose(readings, metrics, span)}
        ),
        usual_range=describe_usual_range(metrics),
        cycle=cycle,
        has_cycle=show_cycle or has_summaries_of_kind(user=user, kind=KIND),
        tab="overview",
        show_birth_date=show_birth_date,
        sources=[build_source_row(connection) for connection in overview.connections],
        phones=list_phone_health(user=user),
        readers=readers,
        silent=list_overdue_data_rows(list_usual_data_intervals(user=user)),
    )


@require_GET
@require_right(Area.USERS)
def show_user_for_developers(request: TenantRequest, user_id: str) -> HttpResponse:
    """Show the IDs of a user and a call that reads it."""
    overview = user_overview(tenant=request.tenant, user_id=_parse_uuid(user_id))
    _record_reads(request, overview, {"user": True})
    return render_page(
        request,
        "users/developers.html",
        overview=overview,
        tab="developers",
        public_url=settings.PUBLIC_URL,
    )


def _describe_glucose(
    readings: DailyReadings, metrics: Mapping[str, MetricSpan], span: RecordSpan
) -> list[tuple[str, str]]:
    """Return the lowest and highest reading, and the days beyond the limits."""
    shown = metrics.get(GLUCOSE.key)
    if shown is None:
        return []
    by_day: dict[date, DailyReading] = {
        day: each
        for day, each in readings[GLUCOSE.key][shown.provider].items()
        if span.first <= day <= span.last
    }
    limits = next(each for each in LIMITS if each.resource == GLUCOSE.key)
    out = list_days_out_of_range(
        {GLUCOSE.key: {shown.provider: by_day}}, first=span.first, last=span.last
    )
    return [
        (
            _("Lowest and highest"),
            _("%(low).1f to %(high).1f")
            % {
                "low": min(each.low for each in by_day.values()),
                "high": max(each.high for each in by_day.values()),
            },
        ),
        (
            _("Days beyond %(low).1f to %(high).1f")
            % {"low": limits.low, "high": limits.high},
            _("%(number)d of %(all)d") % {"number": len(out), "all": len(by_day)},
        ),
    ]


def _record_reads(
    request: TenantRequest, overview: UserOverview, read: Mapping[str, bool]
) -> None:
    for subject in (name for name, is_read in read.items() if is_read):
        record_read(
            tenant=request.tenant,
            actor=request.actor,
            subject=subject,
            subject_id=overview.user.uuid,
            user_uuid=overview.user.uuid,
        )


def _parse_uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Http404 from None
