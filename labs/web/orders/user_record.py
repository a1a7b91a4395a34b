"""Orders and results on a user's page: rows of the timeline, critical results first."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from typing import TYPE_CHECKING

from django.utils import timezone
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
from labs.queries.orders.user_record import list_orders_in_span
from labs.queries.results.trends import list_result_trends_of_user
from labs.states.orders import Interpretation, split_order_status
from labs.web.results.rows import (
    ABNORMAL,
    build_interpretation_pill,
    format_reference_range,
)
from portal.lib.languages import write_within_sentence
from portal.lib.units import format_unit
from portal.lib.web.views import page_url
from portal.ui.dates import write_date
from portal.ui.pills import find_status_pill

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from uuid import UUID

    from accounts.declarations.user_record import RecordSpan
    from accounts.web.requests import TenantRequest
    from labs.queries.orders.user_record import OrderSpan
    from labs.queries.results.trends import MarkerResult, Trend


# Ours: what is older was seen in another way, or will not be.
_REVIEW_WITHIN = timedelta(days=90)
_UNREVIEWED_STATUS = "pending_review"


def build_user_record_part(request: TenantRequest, span: RecordSpan) -> RecordPart:
    """Return a user's orders and results, and the critical ones that wait."""
    if not request.rights.allow(Area.ORDERS):
        return RecordPart()
    orders = list_orders_in_span(
        tenant=request.tenant,
        user_uuid=span.user_uuid,
        start=span.start,
        end=span.end,
        limit=ENTRIES_AT_MOST,
    )
    trends = list_result_trends_of_user(
        tenant=request.tenant, user_uuid=span.user_uuid, reads=request.rights.reads
    )
    shown = [each for each in orders if each.created_at < span.end]
    for subject, found in (("orders", orders), ("result_trends", trends)):
        if found:
            record_read(
                tenant=request.tenant,
                actor=request.actor,
                subject=subject,
                subject_id=span.user_uuid,
                user_uuid=span.user_uuid,
            )
    waiting = {each.id for each in orders if each.has_open_alert}
    return RecordPart(
        rows=(
            RecordRow(
                rank=40,
                title=_("Orders"),
                shape="stretches",
                hue="over",
                entries=tuple(_order(request, span, each) for each in shown),
            ),
            RecordRow(
                rank=50,
                title=_("Results"),
                shape="dots",
                entries=tuple(_list_deliveries(request, span, trends.values())),
            ),
        ),
        attention=(
            *(
                _critical(request, trend)
                for trend in trends.values()
                if trend.latest.order_id in waiting
                and trend.latest.interpretation == Interpretation.CRITICAL
            ),
            *_unreviewed(request, span, trends.values()),
        ),
    )


def _unreviewed(
    request: TenantRequest, span: RecordSpan, trends: Iterable[Trend]
) -> Iterator[RecordAttention]:
    """Yield a tile of recent results that no clinician has marked as reviewed."""
    since = timezone.now() - _REVIEW_WITHIN
    found = [
        point.result
        for trend in trends
        for point in trend.points
        if not point.result.is_reviewed and point.result.at >= since
    ]
    if not found:
        return
    oldest = min(each.at for each in found)
    off = sum(each.interpretation in ABNORMAL for each in found)
    yield RecordAttention(
        rank=30 if off else 60,
        since=oldest,
        label=_("Unreviewed results"),
        status=_UNREVIEWED_STATUS,
        number=str(len(found)),
        unit=_("%(number)d out of range") % {"number": off} if off else "",
        detail=_("No clinician has marked them as reviewed. Oldest from %(day)s.")
        % {"day": write_date(oldest, "j M")},
        url=page_url(request, "labs:user_results", user_id=span.user_uuid)
        + "?show=unreviewed",
    )


def _order(request: TenantRequest, span: RecordSpan, each: OrderSpan) -> RecordEntry:
    return RecordEntry(
        at=each.created_at,
        until=min(timezone.now(), span.end) if each.is_open else each.updated_at,
        title=each.panel,
        detail=_("Order %(order)s, %(status)s")
        % {
            "order": str(each.id)[:8],
            "status": write_within_sentence(
                find_status_pill(split_order_status(each.status).low).words
            ),
        },
        icon="flask",
        family="info",
        url=page_url(request, "labs:order", order_id=each.id),
        is_open=each.is_open,
    )


def _list_deliveries(
    request: TenantRequest, span: RecordSpan, trends: Iterable[Trend]
) -> list[RecordEntry]:
    """Return an entry for the results of one order or report on one day."""
    found: dict[tuple[object, UUID | None, UUID | None], list[MarkerResult]] = (
        defaultdict(list)
    )
    for trend in trends:
        for point in trend.points:
            result = point.result
            if span.start <= result.at < span.end:
                key = (span.day_of(result.at), result.order_id, result.report_id)
                found[key].append(result)
    return [
        _delivery(results, _link(request, span, order_id))
        for (_day, order_id, _report_id), results in found.items()
    ]


def _link(request: TenantRequest, span: RecordSpan, order_id: UUID | None) -> str:
    if order_id is None:
        return page_url(request, "labs:user_results", user_id=span.user_uuid)
    return page_url(request, "labs:results", order_id=order_id)


def _delivery(results: Sequence[MarkerResult], url: str) -> RecordEntry:
    critical = [
        each for each in results if each.interpretation == Interpretation.CRITICAL
    ]
    off = sum(each.interpretation in ABNORMAL for each in results)
    parts = [
        ngettext("%(number)d result", "%(number)d results", len(results))
        % {"number": len(results)}
    ]
    if off:
        parts.append(_("%(number)d out of range") % {"number": off})
    if critical:
        parts.append(_("%(number)d critical") % {"number": len(critical)})
    said = ", ".join(parts)
    title, detail = said, results[0].lab
    if critical:
        title = _("%(name)s %(value)s, critical") % {
            "name": critical[0].name,
            "value": f"{critical[0].text} {format_unit(critical[0].unit)}".strip(),
        }
        detail = said
    return RecordEntry(
        at=max(each.at for each in results),
        title=title,
        detail=detail,
        icon="vial",
        family="bad" if critical else "warn" if off else "ok",
        url=url,
    )


def _critical(request: TenantRequest, trend: Trend) -> RecordAttention:
    newest = trend.latest
    pill = build_interpretation_pill(
        newest.interpretation, is_above=newest.is_above, is_below=newest.is_below
    )
    ranges = format_reference_range(newest)
    unit = format_unit(newest.unit)
    before = trend.points[-2].result if len(trend.points) > 1 else None
    return RecordAttention(
        rank=10,
        since=newest.at,
        label=trend.name,
        status=str(Interpretation.CRITICAL),
        pill=pill.says if pill else "",
        number=newest.text,
        unit=", ".join(
            filter(
                None,
                (unit, _("reference %(range)s") % {"range": ranges} if ranges else ""),
            )
        ),
        detail=" ".join(
            filter(
                None,
                (
                    _("Was %(value)s on %(day)s.")
                    % {"value": before.text, "day": write_date(before.at, "j M")}
                    if before
                    else "",
                    _("Not acknowledged."),
                ),
            )
        ),
        url=page_url(request, "labs:results", order_id=newest.order_id),
    )
