"""Queue of unmatched lab results, without names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.views.decorators.http import require_GET

from accounts.states import Area
from accounts.web.columns import read_list_columns
from accounts.web.rights import require_right
from labs.queries.inbound import list_lab_messages_to_review, list_lab_reports_in_status
from labs.states.inbound import MatchStatus
from labs.web.columns import LAB_MESSAGES, LAB_REPORTS
from labs.web.inbound.overview import count_unmatched_reports_and_messages
from labs.web.inbound.review_pages import (
    PROBLEMS,
    build_account_label,
    build_reason_label,
)
from portal.lib.database.sorting import SORTED_UP_TO
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import Pager, parse_list_offset, render_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from labs.models import InboundMessage, InboundReport

PAGE_SIZE = 25
_TABS = {
    MatchStatus.UNMATCHED: gettext_lazy("Unmatched"),
    PROBLEMS: gettext_lazy("Malformed or refused"),
    MatchStatus.MATCHED: gettext_lazy("Matched"),
    MatchStatus.REJECTED: gettext_lazy("Rejected"),
}


@require_GET
@require_right(Area.ORDERS)
def show_unmatched_reports_and_messages(request: TenantRequest) -> HttpResponse:
    """Show a tab's reports or messages, newest first, without names."""
    tab = request.GET.get("tab", "")
    tab = tab if tab in _TABS else str(MatchStatus.UNMATCHED)
    offset = parse_list_offset(request)
    columns = read_list_columns(
        request, LAB_MESSAGES if tab == PROBLEMS else LAB_REPORTS
    )
    rows: Sequence[InboundReport | InboundMessage]
    if tab == PROBLEMS:
        rows, total = list_lab_messages_to_review(
            tenant=request.tenant,
            offset=offset,
            limit=PAGE_SIZE,
            order_by=columns.order_asked,
        )
    else:
        rows, total = list_lab_reports_in_status(
            tenant=request.tenant,
            status=tab,
            offset=offset,
            limit=PAGE_SIZE,
            order_by=columns.order_asked,
        )
    waiting = count_unmatched_reports_and_messages(request)
    counts = {MatchStatus.UNMATCHED: waiting.reports, PROBLEMS: waiting.messages}
    return render_page(
        request,
        "labs/unmatched.html",
        section="unmatched",
        tab=tab,
        columns=columns,
        is_sort_cut=columns.is_partial and total > SORTED_UP_TO,
        tabs=[(str(name), label, counts.get(name)) for name, label in _TABS.items()],
        rows=[(row, build_account_label(row), build_reason_label(row)) for row in rows],
        is_problems=tab == PROBLEMS,
        pager=Pager(total=total, offset=offset, limit=PAGE_SIZE),
        may_open=request.rights.allow(Area.PATIENT_DETAILS),
    )
