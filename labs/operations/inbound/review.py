"""Review of lab reports and messages: match, reject, escalate, restore, dismiss.

Each decision is audited with its reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_change
from labs.models import InboundMessage, InboundReport
from labs.models.inbound import WHY_MAX_LENGTH
from labs.operations.inbound.match_review_events import emit_match_review_event
from labs.operations.inbound.processing import (
    get_default_lab_time_zone,
    limit_concurrent_message_parsing,
)
from labs.operations.inbound.reports import (
    match_lab_report_to_order,
    parse_stored_report_text,
)
from labs.operations.results.deliveries import (
    require_order_ended,
    store_result_delivery_after_end,
)
from labs.queries.orders.orders import get_order_with_details
from labs.states.inbound import (
    MATCH_MOVES,
    MESSAGE_MOVES,
    MatchStatus,
    MessageStatus,
)
from portal.lib.database.transitions import move_status
from portal.lib.errors import Conflict, DomainError

if TYPE_CHECKING:
    from uuid import UUID

    from labs.gateways.hl7.reports import Report
    from labs.models import Order
    from portal.lib.actor import Actor


def parse_stored_lab_report(row: InboundReport) -> Report:
    """Parse a stored report. Raises: reader_busy (503)."""
    with limit_concurrent_message_parsing(row.tenant, length=len(row.text)):
        return parse_stored_report_text(
            row.text, zone=get_default_lab_time_zone(row.tenant)
        )


@transaction.atomic
def match_lab_report_manually(
    *, report: InboundReport, actor: Actor, order_id: UUID, why: str
) -> InboundReport:
    """Match an unmatched report to the order a member chose.

    Also against the evidence: the person has looked, and says why. Raises:
    order_not_found (404); why_missing, why_too_long; other_lab; no_person, as nobody
    could read the results; results_not_expected; transition_not_allowed; reader_busy
    (503).
    """
    why = _validate_reason(why)
    row = lock_lab_report(report)
    order = _get_order_of_lab(row, order_id)
    match_lab_report_to_order(
        actor=actor,
        row=row,
        order=order,
        report=parse_stored_lab_report(row),
        by=actor.label,
        why=why,
    )
    _record_review(
        row, actor, "match_report", {"order": [None, str(order.pk)]}, order.user.uuid
    )
    return row


@transaction.atomic
def add_lab_report_to_ended_order(
    *, report: InboundReport, actor: Actor, order_id: UUID, why: str
) -> InboundReport:
    """Add a report's results to an order that ended without them; its status stays.

    For a lost kit that was found, or a sample drawn of a cancelled order. Raises: as
    match_lab_report_manually, with order_not_ended in place of results_not_expected.
    Source: Contract D24.
    """
    why = _validate_reason(why)
    row = lock_lab_report(report)
    order = _get_order_of_lab(row, order_id)
    require_order_ended(order)
    match_lab_report_to_order(
        actor=actor,
        row=row,
        order=order,
        report=parse_stored_lab_report(row),
        by=actor.label,
        why=why,
        store=store_result_delivery_after_end,
    )
    _record_review(
        row,
        actor,
        "add_report_to_ended_order",
        {"order": [None, str(order.pk)]},
        order.user.uuid,
    )
    return row


@transaction.atomic
def reject_lab_report(
    *, report: InboundReport, actor: Actor, why: str
) -> InboundReport:
    """Reject a report that belongs to no order; it can be restored.

    Raises: why_missing, why_too_long; critical_not_acknowledged (409);
    transition_not_allowed.
    """
    why = _validate_reason(why)
    row = lock_lab_report(report)
    if has_open_critical_alert(row):
        raise Conflict(
            "critical_not_acknowledged",
            _("Acknowledge the critical result before you reject the report."),
        )
    move_status(
        row,
        moves=MATCH_MOVES,
        to=MatchStatus.REJECTED,
        resolved_at=timezone.now(),
        resolved_by=actor.label,
        why=why,
    )
    _record_review(row, actor, "reject_report")
    return row


@transaction.atomic
def escalate_lab_report(
    *, report: InboundReport, actor: Actor, why: str
) -> InboundReport:
    """Escalate an unmatched report that a member is unsure about; it stays unmatched.

    Raises: why_missing, why_too_long; report_not_unmatched. Source: Contract 10.
    """
    why = _validate_reason(why)
    row = lock_lab_report(report)
    if row.status != MatchStatus.UNMATCHED:
        raise DomainError(
            "report_not_unmatched", _("This report has been decided on already.")
        )
    row.escalated_at, row.why = timezone.now(), why
    row.save(update_fields=["escalated_at", "why"])
    _record_review(row, actor, "escalate_report")
    return row


@transaction.atomic
def restore_rejected_lab_report(
    *, report: InboundReport, actor: Actor
) -> InboundReport:
    """Restore a rejected report to unmatched. Raises: transition_not_allowed."""
    row = lock_lab_report(report)
    move_status(
        row,
        moves=MATCH_MOVES,
        to=MatchStatus.UNMATCHED,
        escalated_at=None,
        resolved_at=None,
        resolved_by="",
        why="",
    )
    _record_review(row, actor, "put_back_report")
    return row


@transaction.atomic
def dismiss_lab_message(
    *, message: InboundMessage, actor: Actor, why: str
) -> InboundMessage:
    """Dismiss a malformed or rejected message; it stays stored.

    Raises: why_missing, why_too_long; transition_not_allowed.
    """
    why = _validate_reason(why)
    move_status(
        message,
        moves=MESSAGE_MOVES,
        to=MessageStatus.DISMISSED,
        resolved_at=timezone.now(),
        resolved_by=actor.label,
        why=why,
    )
    record_change(
        tenant=message.tenant,
        actor=actor,
        verb="dismiss_message",
        subject="lab_message",
        subject_id=message.pk,
    )
    return message


def has_open_critical_alert(row: InboundReport) -> bool:
    """Return whether a report has a critical result that only its alert shows.

    What became an order's is acknowledged there.
    """
    alert = row.alert
    return alert is not None and alert.order_id is None and not alert.acknowledged_at


def _get_order_of_lab(row: InboundReport, order_id: UUID) -> Order:
    """Return a chosen order. Raises: order_not_found, other_lab, no_person."""
    order = get_order_with_details(tenant=row.tenant, order_id=order_id)
    if order.lab_id != row.message.lab_id:
        raise DomainError("other_lab", _("This order belongs to another lab."), "order")
    if order.patient_details is None:
        raise DomainError(
            "no_person", _("No patient is registered to this order yet."), "order"
        )
    return order


def _validate_reason(why: str) -> str:
    why = why.strip()
    if not why:
        raise DomainError("why_missing", _("Enter a reason."), "why")
    if len(why) > WHY_MAX_LENGTH:
        raise DomainError(
            "why_too_long",
            _("Enter at most %(most)d characters.") % {"most": WHY_MAX_LENGTH},
            "why",
        )
    return why


def lock_lab_report(report: InboundReport) -> InboundReport:
    """Return the report as it is now, locked until the transaction ends."""
    rows = InboundReport.objects.for_tenant(report.tenant).select_for_update(
        of=("self",)
    )
    found: InboundReport = rows.select_related(
        "message__lab", "message__lab_account", "order__user", "alert"
    ).get(pk=report.pk)
    found.tenant = report.tenant
    return found


def _record_review(
    row: InboundReport,
    actor: Actor,
    verb: str,
    changes: dict[str, object] | None = None,
    user_uuid: UUID | None = None,
) -> None:
    record_change(
        tenant=row.tenant,
        actor=actor,
        verb=verb,
        subject="lab_report",
        subject_id=row.pk,
        user_uuid=user_uuid,
        changes=changes,
    )
    emit_match_review_event(row, "updated")
