"""Overview item and navigation count of unmatched lab results.

Items name no patient.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.declarations.pages import AttentionItem, NavCount, OverviewPart, Urgency
from accounts.states import Area
from labs.queries.inbound import count_lab_messages_and_reports_to_review
from portal.lib.web.views import page_url

if TYPE_CHECKING:
    from accounts.web.requests import TenantRequest
    from labs.queries.inbound import ReviewQueueCounts

# By request: a page's tabs and its navigation show the same numbers.
_counts: WeakKeyDictionary[TenantRequest, ReviewQueueCounts] = WeakKeyDictionary()


def count_unmatched_reports_and_messages(request: TenantRequest) -> ReviewQueueCounts:
    """Count unmatched reports and messages, once per request."""
    if request not in _counts:
        _counts[request] = count_lab_messages_and_reports_to_review(
            tenant=request.tenant
        )
    return _counts[request]


def build_unmatched_report_nav_count(request: TenantRequest) -> NavCount | None:
    """Build the navigation count of unmatched reports and messages."""
    if not request.rights.allow(Area.ORDERS):
        return None
    number = count_unmatched_reports_and_messages(request).total
    return NavCount(number, _("need review"), "warn") if number else None


def build_unmatched_report_overview_item(request: TenantRequest) -> OverviewPart:
    """Build the overview item of unmatched reports and messages."""
    if not request.rights.allow(Area.ORDERS):
        return OverviewPart()
    counts = count_unmatched_reports_and_messages(request)
    if counts.since is None:
        return OverviewPart()
    url = page_url(request, "labs:unmatched")
    only_messages = not counts.reports
    if only_messages:
        title = ngettext(
            "%(count)d lab message to review",
            "%(count)d lab messages to review",
            counts.messages,
        ) % {"count": counts.messages}
    else:
        title = ngettext(
            "%(count)d lab report matches no order",
            "%(count)d lab reports match no order",
            counts.reports,
        ) % {"count": counts.reports}
    return OverviewPart(
        attention=(
            *_build_critical_items(request, counts),
            AttentionItem(
                urgency=Urgency.ORDER,
                since=counts.since,
                family="warn",
                icon="vial",
                title=title,
                url=f"{url}?tab=problems" if only_messages else url,
                detail=_("Held until matched to an order")
                if counts.reports
                else _("A lab message can't be read, or a lab refused an order"),
                status="unmatched",
            ),
        )
    )


def _build_critical_items(
    request: TenantRequest, counts: ReviewQueueCounts
) -> tuple[AttentionItem, ...]:
    if counts.critical_since is None:
        return ()
    title = ngettext(
        "%(count)d critical result matches no order",
        "%(count)d critical results match no order",
        counts.critical,
    ) % {"count": counts.critical}
    return (
        AttentionItem(
            urgency=Urgency.CRITICAL_RESULT,
            since=counts.critical_since,
            family="bad",
            icon="alert",
            title=title,
            url=page_url(request, "labs:critical"),
            detail=_("Acknowledge it, then find its order"),
            status="not_acknowledged",
        ),
    )
