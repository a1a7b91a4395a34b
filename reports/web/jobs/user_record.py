"""Reports on a user's page: a row of the timeline, and those that wait for review."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.declarations.user_record import (
    ENTRIES_AT_MOST,
    RecordAttention,
    RecordEntry,
    RecordPart,
    RecordRow,
)
from accounts.operations.audit.entries import record_read
from accounts.states import Area
from portal.lib.languages import write_within_sentence
from portal.lib.web.views import page_url
from portal.ui.dates import write_date
from portal.ui.pills import find_status_pill
from reports.queries.user_record import list_reports_in_span
from reports.states import ParsingJobStatus

if TYPE_CHECKING:
    from accounts.declarations.families import Family
    from accounts.declarations.user_record import RecordSpan
    from accounts.web.requests import TenantRequest
    from reports.queries.user_record import UploadedReport

_FAMILIES: dict[ParsingJobStatus, Family] = {
    ParsingJobStatus.PENDING_REVIEW: "rev",
    ParsingJobStatus.COMPLETED: "ok",
    ParsingJobStatus.FAILED: "bad",
}


def build_user_record_part(request: TenantRequest, span: RecordSpan) -> RecordPart:
    """Return a user's reports and those that wait for review; one query."""
    if not request.rights.allow(Area.REPORTS):
        return RecordPart()
    reports = list_reports_in_span(
        tenant=request.tenant,
        user_uuid=span.user_uuid,
        start=span.start,
        end=span.end,
        limit=ENTRIES_AT_MOST,
    )
    if reports:
        record_read(
            tenant=request.tenant,
            actor=request.actor,
            subject="report_list",
            subject_id=span.user_uuid,
            user_uuid=span.user_uuid,
        )
    return RecordPart(
        rows=(
            RecordRow(
                rank=60,
                title=_("Reports"),
                shape="dots",
                entries=tuple(
                    _build_entry(request, each)
                    for each in reports
                    if span.start <= each.created_at < span.end
                ),
            ),
        ),
        attention=tuple(
            _build_tile(request, span, each)
            for each in reports
            if each.status == ParsingJobStatus.PENDING_REVIEW
        ),
    )


def _build_entry(request: TenantRequest, each: UploadedReport) -> RecordEntry:
    status = ParsingJobStatus.known(each.status)
    return RecordEntry(
        at=each.created_at,
        title=_("Report of %(lab)s") % {"lab": each.lab} if each.lab else _("Report"),
        detail=", ".join(
            (
                _count_values(each),
                write_within_sentence(find_status_pill(each.status).words),
            )
        ),
        icon="scan",
        family=_FAMILIES.get(status, "mute") if status else "mute",
        url=page_url(request, "reports:page", job_id=each.id),
    )


def _build_tile(
    request: TenantRequest, span: RecordSpan, each: UploadedReport
) -> RecordAttention:
    local = each.created_at.astimezone(span.zone)
    return RecordAttention(
        rank=30,
        since=each.created_at,
        label=_("Report"),
        status=each.status,
        number=str(each.values),
        unit=ngettext("value", "values", each.values),
        detail=", ".join(filter(None, (each.lab, write_date(local, "j M Y, H:i")))),
        url=page_url(request, "reports:page", job_id=each.id),
    )


def _count_values(each: UploadedReport) -> str:
    return ngettext("%(number)d value", "%(number)d values", each.values) % {
        "number": each.values
    }
