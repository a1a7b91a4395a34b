"""Tiles, notices and navigation counts of reports on the overview."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.declarations.pages import (
    AttentionItem,
    NavCount,
    OverviewCard,
    OverviewPart,
    Tile,
    Urgency,
)
from accounts.states import Area
from portal.lib.web.views import page_url
from portal.ui.numbers import format_number
from reports.queries import (
    COUNTED_UP_TO,
    JobFilters,
    count_jobs_in_statuses,
    count_parsing_jobs_per_day,
    count_what_needs_attention,
    list_failed_jobs_since,
    list_parsing_jobs,
)
from reports.states import ParsingJobFailureReason, ParsingJobStatus
from reports.web.jobs.forms import TABS
from reports.web.jobs.rows import get_polling_interval_seconds

if TYPE_CHECKING:
    from datetime import datetime

    from accounts.web.requests import TenantRequest
    from reports.models import ParsingJob
    from reports.queries import AttentionNumbers

TREND_DAYS = 14
# A failed report can be answered by a new upload alone, so it stops asking after this.
FAILED_LATELY = timedelta(days=7)
LISTED = 4
_KEPT = "reports_needing_attention"


def build_reports_overview_part(request: TenantRequest) -> OverviewPart:
    """Return the tiles, notices and card of reports for the overview."""
    if not request.rights.allow(Area.REPORTS):
        return OverviewPart()
    tenant = request.tenant
    waiting = list_parsing_jobs(
        tenant=tenant, filters=JobFilters(statuses=TABS["open"])
    )
    oldest = list(waiting.order_by("created_at", "id")[:LISTED])
    to_review = waiting.in_status([ParsingJobStatus.PENDING_REVIEW])
    failed = list(
        list_failed_jobs_since(tenant=tenant, since=_failed_since())[: LISTED + 1]
    )
    attention = [
        _to_review(request, job) for job in to_review.order_by("created_at")[:LISTED]
    ]
    attention += [_failed(request, job) for job in failed[:LISTED]]
    if len(failed) > LISTED:
        attention.append(_more_failed(request, failed[-1]))
    return OverviewPart(
        tiles=(_waiting_tile(request, oldest), _read_tile(request)),
        attention=tuple(attention),
        cards=(OverviewCard(20, "reports/_waiting.html", {"jobs": oldest}),),
        poll_seconds=get_polling_interval_seconds(oldest),
    )


def count_reports_needing_attention(request: TenantRequest) -> NavCount | None:
    """Count the reports that need attention."""
    if not request.rights.allow(Area.REPORTS):
        return None
    number = count_attention(request).jobs
    return NavCount(number, _("to check"), "rev") if number else None


def count_documents_to_match(request: TenantRequest) -> NavCount | None:
    """Count the documents that wait for a person."""
    if not request.rights.allow(Area.REPORTS):
        return None
    number = count_attention(request).documents
    return NavCount(number, _("unmatched"), "warn") if number else None


def count_attention(request: TenantRequest) -> AttentionNumbers:
    """Count what needs attention, once for all parts of a page."""
    kept = vars(request)
    if _KEPT not in kept:
        kept[_KEPT] = count_what_needs_attention(
            tenant=request.tenant, failed_since=_failed_since()
        )
    numbers: AttentionNumbers = kept[_KEPT]
    return numbers


def _waiting_tile(request: TenantRequest, oldest: list[ParsingJob]) -> Tile:
    number = count_jobs_in_statuses(tenant=request.tenant, statuses=TABS["open"])
    return Tile(
        rank=30,
        label=_("Open reports"),
        number=min(number, COUNTED_UP_TO),
        unit=_("or more") if number > COUNTED_UP_TO else "",
        url=f"{page_url(request, 'reports:list')}?tab=open",
        detail=_("Oldest: %(age)s") % {"age": _age(oldest[0].created_at)}
        if oldest
        else _("None waiting"),
    )


def _read_tile(request: TenantRequest) -> Tile:
    number = count_jobs_in_statuses(tenant=request.tenant, statuses=TABS["completed"])
    now = timezone.now()
    uploads = count_parsing_jobs_per_day(
        tenant=request.tenant, since=now - timedelta(days=TREND_DAYS)
    )
    days = [now.date() - timedelta(days=ago) for ago in range(TREND_DAYS)]
    week = sum(uploads.get(day, 0) for day in days[:7])
    return Tile(
        rank=60,
        label=_("Completed reports"),
        number=min(number, COUNTED_UP_TO),
        unit=_("or more") if number > COUNTED_UP_TO else "",
        url=f"{page_url(request, 'reports:list')}?tab=completed",
        detail=_("%(n)s uploaded in 7 days") % {"n": format_number(week)},
        trend=tuple(uploads.get(day, 0) for day in reversed(days)),
        trend_says=_("Reports uploaded per day, last %(days)d days")
        % {"days": TREND_DAYS},
    )


def _to_review(request: TenantRequest, job: ParsingJob) -> AttentionItem:
    return AttentionItem(
        urgency=Urgency.REPORT,
        since=job.created_at,
        family="rev",
        icon="scan",
        title=_("A lab report is pending review"),
        detail=job.user.client_user_id,
        url=page_url(request, "reports:page", job_id=job.id),
        status=job.status,
    )


def _failed(request: TenantRequest, job: ParsingJob) -> AttentionItem:
    reason = ParsingJobFailureReason.known(job.failure_reason)
    return AttentionItem(
        urgency=Urgency.REPORT,
        since=job.finished_at or job.created_at,
        family="bad",
        icon="scan",
        title=_("A lab report failed"),
        detail=f"{job.user.client_user_id}. {reason.label if reason else _('Failed')}",
        url=page_url(request, "reports:page", job_id=job.id),
        status=job.status,
    )


def _more_failed(request: TenantRequest, job: ParsingJob) -> AttentionItem:
    return AttentionItem(
        urgency=Urgency.REPORT,
        since=job.finished_at or job.created_at,
        family="bad",
        icon="scan",
        title=_("More lab reports failed"),
        detail=_("In the last %(days)d days") % {"days": FAILED_LATELY.days},
        url=f"{page_url(request, 'reports:list')}?tab=failed",
        status=ParsingJobStatus.FAILED,
    )


def _failed_since() -> datetime:
    return timezone.now() - FAILED_LATELY


def _age(since: datetime) -> str:
    minutes = int((timezone.now() - since).total_seconds() // 60)
    if minutes < 60:
        return _("%(n)d min") % {"n": minutes}
    hours = minutes // 60
    if hours < 48:
        return _("%(n)d h") % {"n": hours}
    return _("%(n)d days") % {"n": hours // 24}
