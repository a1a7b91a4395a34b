"""Store the reports of a message, match them to orders, and hold what is in doubt.

What is certain of a report goes to its order. The lines in doubt become a report of
their own, which waits for a person like one without an order.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from labs.gateways.hl7.deliveries import build_result_delivery_from_report
from labs.gateways.hl7.messages import parse_hl7_message_text
from labs.gateways.hl7.reports import Doubt
from labs.gateways.hl7.results import parse_hl7_result_reports
from labs.models import InboundMessage, InboundReport
from labs.models.inbound import NUMBER_MAX_LENGTH
from labs.operations.documents.lab_documents import store_documents_of_report
from labs.operations.inbound.critical_reports import open_alert_of_unmatched_report
from labs.operations.inbound.match_review_events import emit_match_review_event
from labs.operations.inbound.matching import find_order_by_lab_report_numbers
from labs.operations.order_status.status import lock_order
from labs.operations.results.critical import (
    move_critical_alert_to_order,
    set_version_of_moved_alerts,
)
from labs.operations.results.deliveries import store_result_delivery
from labs.queries.inbound import list_completed_test_codes
from labs.queries.results.results import (
    find_current_result_version,
    get_result_identity_key,
    list_results_of_version,
)
from labs.states.inbound import MATCH_MOVES, MatchStatus, UnmatchedReason
from portal.lib.database.transitions import move_status
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from zoneinfo import ZoneInfo

    from labs.gateways.hl7.reports import Report
    from labs.gateways.results import ResultDelivery
    from labs.models import Order, ResultVersion
    from portal.lib.actor import Actor

# Ours: an acknowledgement lists no more, and a person reads no more.
DOUBTS_MAX = 100


def store_lab_reports(
    *, actor: Actor, message: InboundMessage, reports: Iterable[Report]
) -> None:
    """Store a message's reports, and match each to its order if that is certain."""
    # All rows first: the held lines of one take the next position.
    rows = [
        (_create_report(message, report, position=position, text=report.text), report)
        for position, report in enumerate(reports)
    ]
    for row, report in rows:
        match = find_order_by_lab_report_numbers(
            tenant=message.tenant,
            lab=message.lab,
            account=message.lab_account,
            report=report,
        )
        reason = match.reason
        if match.order is not None:
            reason = _match_automatically(actor, row, match.order, report)
        if reason is not None:
            _hold_report(row, report, reason)


def match_lab_report_to_order(
    *,
    actor: Actor,
    row: InboundReport,
    order: Order,
    report: Report,
    by: str = "",
    why: str = "",
    store: Callable[..., ResultVersion] | None = None,
) -> None:
    """Match a report to an order and store its results and documents.

    A report of nothing yet is matched all the same. `by` and `why` are a person's;
    `store` is how the results are stored, by default store_result_delivery. The alert
    of its critical results becomes the order's. Lines in doubt stay held, as a
    report of their own; that one becomes missing results with the lab's words, where
    the order has no result of the same name. Raises: transition_not_allowed;
    results_not_expected, where the order takes none.
    """
    accepts_held = row.reason == UnmatchedReason.HELD_LINES
    delivery = build_result_delivery_from_report(
        report,
        is_final=_completes_order(order, report, accepts_held=accepts_held),
        received_at=row.received_at,
        accepts_held=accepts_held,
    )
    doubts = [] if accepts_held else row.doubts
    move_status(
        row,
        moves=MATCH_MOVES,
        to=MatchStatus.MATCHED,
        order_id=order.pk,
        resolved_at=timezone.now(),
        resolved_by=by,
        why=why,
        done_codes=_list_numbers(report.list_done_codes(accepts_held=accepts_held)),
        doubts=row.doubts if accepts_held else [],
    )
    if row.alert_id is not None or accepts_held:
        lock_order(order)
    if row.alert_id is not None:
        move_critical_alert_to_order(alert_id=row.alert_id, order=order)
    if accepts_held:
        delivery = _leave_out_known_results(order, delivery)
    holds_results = False
    if delivery.results or delivery.missing:
        store = store or store_result_delivery
        version = store(order=order, actor=actor, delivery=delivery)
        set_version_of_moved_alerts(version=version)
    else:
        account = order.lab_account
        holds_results = account is not None and account.reports_by_document
    store_documents_of_report(
        order=order, actor=actor, report=report, holds_results=holds_results
    )
    if doubts:
        _hold_lines(row, report, doubts)


def parse_stored_report_text(text: str, *, zone: ZoneInfo) -> Report:
    """Return the report of a stored text; zone: of times without an offset."""
    (report,) = parse_hl7_result_reports(parse_hl7_message_text(text), zone=zone)
    return report


def list_doubts_of_message(message: InboundMessage) -> list[Doubt]:
    """Return why lines of a message are held, in its order; at most DOUBTS_MAX.

    The same after a person has decided about them.
    """
    rows = message.reports.values_list("doubts", flat=True)
    doubts = [Doubt(**doubt) for found in rows for doubt in found]
    return sorted(doubts, key=lambda one: (one.place[:3], one.number))[:DOUBTS_MAX]


def _create_report(
    message: InboundMessage, report: Report, *, position: int, text: str
) -> InboundReport:
    row = InboundReport(
        tenant=message.tenant,
        message=message,
        position=position,
        text=text,
        placers=_list_numbers(report.placers),
        fillers=_list_numbers(report.fillers),
        samples=_list_numbers(report.samples),
        done_codes=_list_numbers(report.list_done_codes()),
        doubts=[asdict(doubt) for doubt in report.doubts[:DOUBTS_MAX]],
        received_at=message.received_at,
    )
    row.save(force_insert=True)
    return row


def _match_automatically(
    actor: Actor, row: InboundReport, order: Order, report: Report
) -> UnmatchedReason | None:
    try:
        with transaction.atomic():
            match_lab_report_to_order(actor=actor, row=row, order=order, report=report)
    except DomainError:
        return UnmatchedReason.NOT_EXPECTED
    return None


def _hold_lines(
    row: InboundReport, report: Report, doubts: list[dict[str, object]]
) -> None:
    """Hold the lines in doubt of a matched report, as a report of their own.

    Source: Ours: what is certain must not wait for what is not.
    """
    # Two reports of one message, matched at once, must not both be its next.
    message = (
        InboundMessage.objects.for_tenant(row.tenant)
        .select_for_update(of=("self",))
        .select_related("lab", "lab_account")
        .get(pk=row.message_id)
    )
    message.tenant = row.tenant
    last = message.reports.aggregate(last=Max("position"))["last"]
    held = _create_report(message, report, position=last + 1, text=report.held_text)
    held.doubts, held.done_codes = doubts, []
    held.save(update_fields=["doubts", "done_codes"])
    _hold_report(held, report.keep_held(), UnmatchedReason.HELD_LINES)


def _hold_report(row: InboundReport, report: Report, reason: UnmatchedReason) -> None:
    row.reason = reason
    open_alert_of_unmatched_report(row=row, report=report)
    row.save(
        update_fields=["reason", "critical_results", "alert", "critical_checked_at"]
    )
    emit_match_review_event(row, "created")


def _leave_out_known_results(order: Order, delivery: ResultDelivery) -> ResultDelivery:
    """Leave out what the order has a result of: a missing one would replace it."""
    version = find_current_result_version(order=order)
    rows = list_results_of_version(version) if version else []
    known = {get_result_identity_key(row) for row in rows}
    return replace(
        delivery,
        missing=tuple(
            gap
            for gap in delivery.missing
            if (gap.provider_id or gap.loinc or gap.name, gap.sub_id) not in known
        ),
    )


def _completes_order(order: Order, report: Report, *, accepts_held: bool) -> bool:
    """Return whether this report is the last of its order; not with lines held.

    By the lab's codes of what was ordered; of a lab that reports by other codes, where
    every test of the report is done.
    """
    if report.doubts and not accepts_held:
        return False
    ordered = {marker.provider_id for marker in order.placed.markers}
    if not ordered & report.codes:
        return all(test.is_done for test in report.tests)
    now = report.list_done_codes(accepts_held=accepts_held)
    return ordered <= now | list_completed_test_codes(order=order)


def _list_numbers(numbers: Iterable[str]) -> list[str]:
    return sorted({number[:NUMBER_MAX_LENGTH] for number in numbers})
