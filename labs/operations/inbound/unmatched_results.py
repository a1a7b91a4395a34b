"""Decisions about unmatched results by API clients; a repeated one changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _

from labs.operations.inbound.matching import list_candidate_orders_for_lab_report
from labs.operations.inbound.review import (
    add_lab_report_to_ended_order,
    escalate_lab_report,
    lock_lab_report,
    match_lab_report_manually,
    parse_stored_lab_report,
    reject_lab_report,
)
from labs.queries.orders.history import has_order_ended
from labs.queries.orders.orders import get_order_with_details
from labs.states.inbound import MatchStatus
from labs.states.match_reviews import MatchResolution
from portal.lib.errors import DomainError, NotFound

if TYPE_CHECKING:
    from uuid import UUID

    from labs.models import InboundReport, Order
    from portal.lib.actor import Actor

# Every decision has a reason, which a client need not give.
DEFAULT_NOTE = "Decided over the API, without a note."


@transaction.atomic
def accept_unmatched_result(
    *,
    report: InboundReport,
    actor: Actor,
    order_id: UUID | None = None,
    user_id: UUID | None = None,
    note: str = "",
) -> Order:
    """Match an unmatched result to an order, or to the one order of a user it may be.

    An order that ended without results gets them as it is. Accepted before for the same
    order: nothing changes. Raises: order_missing, where neither is given;
    order_not_found (404), also of another user; order_ambiguous, where several orders
    of the user may be meant; as match_lab_report_manually and
    add_lab_report_to_ended_order. Source: Contract 10; Ours: an order is never guessed.
    """
    row = lock_lab_report(report)
    if order_id is None:
        order_id = _find_only_order_of_user(row, user_id)
    order = get_order_with_details(tenant=row.tenant, order_id=order_id)
    if user_id is not None and order.user.uuid != user_id:
        raise _build_order_not_found_error()
    if row.status == MatchStatus.MATCHED and row.order_id == order.pk:
        return order
    why = note.strip() or DEFAULT_NOTE
    try:
        with transaction.atomic():
            match_lab_report_manually(
                report=row, actor=actor, order_id=order.pk, why=why
            )
    except DomainError as refusal:
        if refusal.code != "results_not_expected" or not has_order_ended(order):
            raise
        add_lab_report_to_ended_order(
            report=row, actor=actor, order_id=order.pk, why=why
        )
    return get_order_with_details(tenant=row.tenant, order_id=order.pk)


@transaction.atomic
def resolve_unmatched_result(
    *, report: InboundReport, actor: Actor, action: MatchResolution, note: str = ""
) -> InboundReport:
    """Reject an unmatched result, or escalate it; decided so before: nothing changes.

    Raises: as reject_lab_report and escalate_lab_report. Source: Contract 10.
    """
    row = lock_lab_report(report)
    why = note.strip() or DEFAULT_NOTE
    if action == MatchResolution.REJECT:
        if row.status == MatchStatus.REJECTED:
            return row
        return reject_lab_report(report=row, actor=actor, why=why)
    if row.status == MatchStatus.UNMATCHED and row.escalated_at is not None:
        return row
    return escalate_lab_report(report=row, actor=actor, why=why)


def _find_only_order_of_user(row: InboundReport, user_id: UUID | None) -> UUID:
    if user_id is None:
        raise DomainError(
            "order_missing", _("Send the ID of the order, or of its user."), "order_id"
        )
    if row.order is not None and row.order.user.uuid == user_id:
        return row.order.pk
    found = list_candidate_orders_for_lab_report(
        tenant=row.tenant,
        lab=row.message.lab,
        account=row.message.lab_account,
        report=parse_stored_lab_report(row),
    )
    theirs = [one.order.pk for one in found if one.order.user.uuid == user_id]
    if not theirs:
        raise _build_order_not_found_error()
    if len(theirs) > 1:
        raise DomainError(
            "order_ambiguous",
            _("Several orders of this user may be meant. Send the ID of the order."),
            "order_id",
        )
    return theirs[0]


def _build_order_not_found_error() -> NotFound:
    return NotFound("order_not_found", _("Order not found."))
