"""Approve and refuse orders as one of the team's physicians."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from labs.models import OrderApproval
from labs.models.physician import REASON_MAX_LENGTH
from labs.operations.order_status.status import audit_order_change, lock_order
from labs.operations.orders.placing import cancel_order
from labs.operations.orders.requisitions import enqueue_requisition
from labs.queries.orders.approvals import approvals_for
from labs.queries.orders.orders import get_order_with_details
from labs.queries.physicians import find_physician_of_member
from labs.states.physicians import APPROVAL_MOVES, ApprovalStatus
from portal.lib.actor import ActorKind
from portal.lib.database.transitions import move_status
from portal.lib.errors import Conflict, DomainError, NotAllowed, NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from accounts.models import Tenant
    from labs.models import Physician
    from portal.lib.actor import Actor


@dataclass(frozen=True, slots=True)
class SeenOrder:
    """An order that a physician looked at; `updated_at` as it was shown."""

    order_id: UUID
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class ApprovalOutcome:
    """What became of one order; `refusal` where it could not be decided."""

    order_id: UUID
    refusal: DomainError | None = None


@dataclass(frozen=True, slots=True)
class _Decision:
    """What an acting physician decided, and when they had confirmed who they are."""

    tenant: Tenant
    actor: Actor
    physician: Physician
    status: ApprovalStatus
    confirmed_at: datetime
    reason: str = ""


def approve_orders(
    *, tenant: Tenant, actor: Actor, seen: Sequence[SeenOrder], confirmed_at: datetime
) -> list[ApprovalOutcome]:
    """Approve orders as the acting physician; each is decided on its own.

    The physician becomes the order's, with name, NPI and signature, and the requisition
    is made next. Raises: not_a_physician; signature_missing. An outcome may hold:
    approval_not_found (404), order_changed, approval_decided (409). Source: Ours; 42
    CFR 493.1241(a): a lab tests at the request of an authorized person.
    """
    physician = _get_acting_physician(tenant, actor)
    if not physician.signature:
        raise DomainError(
            "signature_missing", _("Add your signature to your profile first.")
        )
    return _decide_all(
        _Decision(tenant, actor, physician, ApprovalStatus.APPROVED, confirmed_at), seen
    )


def refuse_orders(
    *,
    tenant: Tenant,
    actor: Actor,
    seen: Sequence[SeenOrder],
    reason: str,
    confirmed_at: datetime,
) -> list[ApprovalOutcome]:
    """Refuse orders with a reason, as the acting physician; each is cancelled.

    Raises: not_a_physician; reason_missing, reason_too_long. An outcome may hold what
    that of approve_orders may.
    """
    physician = _get_acting_physician(tenant, actor)
    reason = reason.strip()
    if not reason:
        raise DomainError("reason_missing", _("Enter the reason."), "reason")
    if len(reason) > REASON_MAX_LENGTH:
        raise DomainError(
            "reason_too_long",
            _("Enter at most %(most)d characters.") % {"most": REASON_MAX_LENGTH},
            "reason",
        )
    refused = ApprovalStatus.REFUSED
    return _decide_all(
        _Decision(tenant, actor, physician, refused, confirmed_at, reason), seen
    )


def _get_acting_physician(tenant: Tenant, actor: Actor) -> Physician:
    found = (
        find_physician_of_member(tenant=tenant, member_id=UUID(actor.key))
        if actor.kind is ActorKind.MEMBER
        else None
    )
    if found is None:
        raise NotAllowed("not_a_physician", _("Complete your physician profile first."))
    return found


def _decide_all(
    decision: _Decision, seen: Sequence[SeenOrder]
) -> list[ApprovalOutcome]:
    outcomes = []
    for one in seen:
        try:
            with transaction.atomic():
                _decide(decision, one)
        except DomainError as refusal:
            outcomes.append(ApprovalOutcome(one.order_id, refusal))
        else:
            outcomes.append(ApprovalOutcome(one.order_id))
    return outcomes


def _decide(decision: _Decision, seen: SeenOrder) -> None:
    tenant, physician = decision.tenant, decision.physician
    found = OrderApproval.objects.for_tenant(tenant).filter(order_id=seen.order_id)
    if not found.exists():
        raise NotFound("approval_not_found", _("This order is not waiting for you."))
    order = lock_order(get_order_with_details(tenant=tenant, order_id=seen.order_id))
    approval: OrderApproval = found.select_for_update().get()
    if approval.status != ApprovalStatus.WAITING:
        raise Conflict("approval_decided", _("This order was decided already."))
    mine = approvals_for(tenant=tenant, physician=physician).filter(pk=approval.pk)
    if not mine.exists():
        raise NotFound("approval_not_found", _("This order is not waiting for you."))
    if order.updated_at != seen.updated_at:
        raise Conflict(
            "order_changed", _("This order changed after you opened it. Look again.")
        )
    move_status(
        approval,
        moves=APPROVAL_MOVES,
        to=decision.status,
        physician=physician,
        reason=decision.reason,
        confirmed_at=decision.confirmed_at,
        decided_at=timezone.now(),
    )
    if decision.status is ApprovalStatus.REFUSED:
        audit_order_change(order, decision.actor, "refuse_order")
        cancel_order(order=order, actor=decision.actor, why=decision.reason)
        return
    order.physician = _build_printed_physician(physician)
    order.updated_at = timezone.now()
    order.save(update_fields=["physician", "updated_at"])
    audit_order_change(order, decision.actor, "approve_order")
    enqueue_requisition(order)


def _build_printed_physician(physician: Physician) -> dict[str, Any]:
    """Return a physician in the wire's shape, with the signature to print."""
    return {
        "first_name": physician.first_name,
        "last_name": physician.last_name,
        "npi": physician.npi,
        "licensed_states": list(physician.licensed_states),
        "signature_image": {
            "content": base64.b64encode(physician.signature).decode(),
            "content_type": "image/png",
        },
    }
