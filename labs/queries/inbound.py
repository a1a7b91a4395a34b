"""Reads of lab messages and reports."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext as _

from labs.models import InboundMessage, InboundReport, Order
from labs.queries.orders.orders import PLACED_TEST
from labs.states.inbound import MatchStatus, MessageStatus
from labs.states.match_reviews import (
    MatchReviewStatus,
    list_reasons_by_match_decision,
)
from portal.lib.database.rows import fetch_rows
from portal.lib.database.sorting import sort_as_asked
from portal.lib.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date, datetime

    from django.db.models import QuerySet

    from accounts.models import Tenant
    from labs.models import Lab
    from labs.states.match_reviews import MatchDecision

CANDIDATES_MAX = 10
_UNMATCHED_RESULT = ("message__lab", "message__lab_account", "order__user", "alert")
_SEARCH_WORDS = 5
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_NEWEST = ("-received_at", "pk")
_TO_LOOK_AT = (MessageStatus.MALFORMED, MessageStatus.REFUSED)
_TO_REVIEW = f"""
SELECT * FROM (
    SELECT count(*), min(received_at), count(DISTINCT alert.id), min(alert.opened_at)
    FROM labs_inboundreport report
    LEFT JOIN labs_criticalalert alert ON alert.id = report.alert_id
        AND alert.order_id IS NULL AND alert.acknowledged_at IS NULL
    WHERE report.tenant_id = %(tenant)s AND report.status = '{MatchStatus.UNMATCHED}'
) reports, (
    SELECT count(*), min(received_at) FROM labs_inboundmessage
    WHERE tenant_id = %(tenant)s
        AND status IN ('{MessageStatus.MALFORMED}', '{MessageStatus.REFUSED}')
) messages
"""  # noqa: S608 - the statuses are ours


@dataclass(frozen=True, slots=True)
class ReviewQueueCounts:
    """How many items need review, and how old the oldest is.

    `critical` are unacknowledged alerts of unmatched reports, the first from
    `critical_since`.
    """

    reports: int = 0
    messages: int = 0
    since: datetime | None = None
    critical: int = 0
    critical_since: datetime | None = None

    @property
    def total(self) -> int:
        """Return reports and messages together."""
        return self.reports + self.messages


@dataclass(frozen=True, slots=True)
class UnmatchedResultFilters:
    """Filters of unmatched results; `before` is excluded, `search` are words."""

    status: MatchReviewStatus | None = None
    decision: MatchDecision | None = None
    lab_slug: str | None = None
    since: datetime | None = None
    before: datetime | None = None
    search: str | None = None


def count_lab_messages_and_reports_to_review(*, tenant: Tenant) -> ReviewQueueCounts:
    """Count unmatched reports, malformed messages and rejected orders; one query.

    By hand: every page asks.
    """
    [found] = fetch_rows(_TO_REVIEW, {"tenant": tenant.pk})
    reports, oldest_report, critical, critical_since, messages, oldest_message = found
    oldest = [since for since in (oldest_report, oldest_message) if since]
    return ReviewQueueCounts(
        reports, messages, min(oldest, default=None), critical, critical_since
    )


def list_lab_reports_in_status(
    *, tenant: Tenant, status: str, offset: int, limit: int, order_by: str = ""
) -> tuple[list[InboundReport], int]:
    """Return a page of reports in a status, newest first, and their number."""
    rows = _reports_of_tenant(tenant).filter(status=status)
    page = rows.select_related(
        "message__lab", "message__lab_account", "order__user", "alert"
    )
    page = sort_as_asked(page.order_by(*_NEWEST), order_by=order_by, newest=_NEWEST)
    return list(page[offset : offset + limit]), rows.count()


def list_unmatched_results(
    *,
    tenant: Tenant,
    filters: UnmatchedResultFilters,
    after: tuple[datetime, UUID] | None,
    limit: int,
) -> tuple[list[InboundReport], int]:
    """Return a page of reports that needed a person, newest first, and their number.

    after: time and ID of the last of the page before. Two queries.
    """
    rows = _filter_unmatched_results(_reports_of_tenant(tenant), filters)
    page = rows.select_related(*_UNMATCHED_RESULT).order_by("-received_at", "-pk")
    if after is not None:
        at, key = after
        page = page.filter(Q(received_at__lt=at) | Q(received_at=at, pk__lt=key))
    return list(page[:limit]), rows.count()


def get_unmatched_result(*, tenant: Tenant, report_id: UUID) -> InboundReport:
    """Return a report that needed a person.

    Raises: unmatched_result_not_found (404).
    """
    rows = _reports_of_tenant(tenant).exclude(reason="")
    found: InboundReport | None = (
        rows.select_related(*_UNMATCHED_RESULT).filter(pk=report_id).first()
    )
    if found is None:
        raise NotFound("unmatched_result_not_found", _("Unmatched result not found."))
    return found


def _filter_unmatched_results(
    rows: QuerySet[InboundReport], filters: UnmatchedResultFilters
) -> QuerySet[InboundReport]:
    rows = rows.exclude(reason="")
    unmatched = Q(status=MatchStatus.UNMATCHED)
    match filters.status:
        case MatchReviewStatus.PENDING:
            rows = rows.filter(unmatched, escalated_at=None)
        case MatchReviewStatus.ESCALATED:
            rows = rows.filter(unmatched, escalated_at__isnull=False)
        case MatchReviewStatus.RESOLVED:
            rows = rows.exclude(unmatched)
    if filters.decision is not None:
        reasons, is_rest = list_reasons_by_match_decision(filters.decision)
        named = Q(reason__in=reasons)
        rows = rows.exclude(named) if is_rest else rows.filter(named)
    if filters.lab_slug is not None:
        rows = rows.filter(message__lab__slug=filters.lab_slug)
    if filters.since is not None:
        rows = rows.filter(received_at__gte=filters.since)
    if filters.before is not None:
        rows = rows.filter(received_at__lt=filters.before)
    for word in (filters.search or "").split()[:_SEARCH_WORDS]:
        rows = rows.filter(text__iregex=_build_patient_pattern(word))
    return rows


def _build_patient_pattern(word: str) -> str:
    """Return a pattern of a PID segment with a name or, as YYYY-MM-DD, a birth date.

    The name is PID-5, the birth date PID-7. Patients of unmatched reports are in no
    column: the queue is short, and its text is read for it.
    """
    field = r"\|[^|\r]*"
    if _DAY.fullmatch(word):
        return rf"(^|\r)PID({field}){{6}}\|{word.replace('-', '')}"
    return rf"(^|\r)PID({field}){{4}}{field}{re.escape(word)}"


def list_lab_messages_to_review(
    *, tenant: Tenant, offset: int, limit: int, order_by: str = ""
) -> tuple[list[InboundMessage], int]:
    """Return a page of malformed messages and rejections, and their number."""
    rows = _messages_of_tenant(tenant).filter(status__in=_TO_LOOK_AT)
    page = rows.select_related("lab", "lab_account", "order").defer("content")
    page = sort_as_asked(page.order_by(*_NEWEST), order_by=order_by, newest=_NEWEST)
    return list(page[offset : offset + limit]), rows.count()


def get_inbound_lab_report(*, tenant: Tenant, report_id: UUID) -> InboundReport:
    """Return a report with its message. Raises: report_not_found (404)."""
    rows = _reports_of_tenant(tenant).select_related(
        "message__lab", "message__lab_account", "order__user", "alert"
    )
    found: InboundReport | None = rows.filter(pk=report_id).first()
    if found is None:
        raise NotFound("report_not_found", _("Report not found."))
    return found


def get_inbound_lab_message(*, tenant: Tenant, message_id: UUID) -> InboundMessage:
    """Return a message. Raises: message_not_found (404)."""
    rows = _messages_of_tenant(tenant).select_related("lab", "lab_account", "order")
    found: InboundMessage | None = rows.filter(pk=message_id).first()
    if found is None:
        raise NotFound("message_not_found", _("Message not found."))
    return found


def find_orders_by_lab_report_numbers(
    *,
    tenant: Tenant,
    lab: Lab,
    placers: Iterable[str],
    fillers: Iterable[str],
    samples: Iterable[str],
) -> list[Order]:
    """Return live orders of a lab with any of these numbers.

    A number is the order's sample id or, of ours, its id; or one by which the lab
    reported before.
    """
    filler_numbers = list(fillers)
    of_lab = _live_orders_of_lab(tenant, lab)
    before = _reports_of_tenant(tenant).filter(
        status=MatchStatus.MATCHED, message__lab=lab, fillers__overlap=filler_numbers
    )
    ids = {order for order in before.values_list("order_id", flat=True) if order}
    ids |= {found for number in placers if (found := _parse_uuid(number))}
    numbers = {*placers, *filler_numbers, *samples} - {""}
    return list(of_lab.filter(Q(sample_id__in=numbers) | Q(pk__in=ids)))


def find_replacements_of_orders(
    *, tenant: Tenant, lab: Lab, orders: Iterable[Order]
) -> list[Order]:
    """Return live orders of a lab that were placed in the place of these."""
    replaced = [order.pk for order in orders]
    return list(_live_orders_of_lab(tenant, lab).filter(parent__in=replaced))


def find_orders_by_birth_date_or_name(
    *, tenant: Tenant, lab: Lab, birth_date: date | None, family: str
) -> list[Order]:
    """Return a lab's latest live orders with this birth date or family name."""
    condition = Q()
    if birth_date is not None:
        condition |= Q(patient_dob=birth_date)
    if family:
        condition |= Q(patient_name__icontains=family)
    if not condition:
        return []
    # Ids first: an index holds what they are found by, and no row is read for it.
    placed = Order.objects.for_tenant(tenant).live_among_many().placed_here()
    live = placed.filter(condition, lab=lab)
    latest = live.order_by("-created_at").values_list("pk", flat=True)
    ids = list(latest[:CANDIDATES_MAX])
    return list(
        _live_orders_of_lab(tenant, lab).filter(pk__in=ids).order_by("-created_at")
    )


def list_completed_test_codes(*, order: Order) -> set[str]:
    """Return the codes of an order's completed tests."""
    rows = _reports_of_tenant(order.tenant).filter(
        status=MatchStatus.MATCHED, order=order
    )
    code_lists = rows.values_list("done_codes", flat=True)
    return {code for codes in code_lists for code in codes}


def _live_orders_of_lab(tenant: Tenant, lab: Lab) -> QuerySet[Order]:
    rows: QuerySet[Order] = (
        Order.objects.for_tenant(tenant)
        .live()
        .placed_here()
        .filter(lab=lab)
        .select_related("user", "lab", "lab_test", "lab_account")
        .prefetch_related(*PLACED_TEST)
    )
    return rows


def _reports_of_tenant(tenant: Tenant) -> QuerySet[InboundReport]:
    rows: QuerySet[InboundReport] = InboundReport.objects.for_tenant(tenant)
    return rows


def _messages_of_tenant(tenant: Tenant) -> QuerySet[InboundMessage]:
    rows: QuerySet[InboundMessage] = InboundMessage.objects.for_tenant(tenant)
    return rows


def _parse_uuid(number: str) -> UUID | None:
    try:
        return UUID(number)
    except ValueError:
        return None
