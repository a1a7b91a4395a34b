"""Order plans: the steps that validate an order, and the one that stores it.

Placing, importing and recreating an order and ordering a kit are each a function of
their own; they share these steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from labs.models.order import COMMENTS_MAX_LENGTH, OrderTransaction
from labs.operations.account_choice import (
    require_billing_type_allowed,
)
from labs.operations.catalogue.order_sets import find_or_create_panel_of_order_set
from labs.operations.order_status.status import (
    audit_order_change,
    emit_order_event,
    store_order_event,
)
from labs.operations.orders.checks import require_start_date_not_past
from labs.operations.physicians.asking import require_ordering_physician
from labs.operations.production import (
    require_lab_gateway_of_account,
    require_physician,
)
from labs.queries.accounts import get_linked_lab_account
from labs.states.accounts import Billing
from labs.states.orders import build_order_status
from portal.lib.errors import DomainError, Invalid, NotFound
from users.queries import find_user

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date
    from uuid import UUID

    from accounts.models import Tenant
    from labs.models import Lab, LabAccount, Order
    from labs.operations.account_choice import (
        ResolvedAccount,
    )
    from labs.operations.catalogue.order_sets import OrderSet, ResolvedSet
    from labs.states.catalogue import CollectionMethod
    from portal.lib.actor import Actor
    from users.queries import UserRow


@dataclass(frozen=True, slots=True)
class OrderRequest:
    """An order to place (contract 6.6).

    Details, address, physician, insurance and consents have the wire's shapes, checked
    by the edge. `comments` is the order's clinical comment.
    """

    user_id: UUID
    order_set: OrderSet
    patient_details: Mapping[str, Any]
    patient_address: Mapping[str, Any]
    method: CollectionMethod | None = None
    lab_account_id: UUID | None = None
    comments: str = ""
    physician: Mapping[str, Any] | None = None
    health_insurance: Mapping[str, Any] | None = None
    priority: bool = False
    billing_type: str = Billing.CLIENT_BILL
    icd_codes: tuple[str, ...] = ()
    consents: tuple[Mapping[str, Any], ...] = ()
    activate_by: date | None = None
    aoe_answers: tuple[Mapping[str, Any], ...] = ()
    passthrough: str = ""
    creator_member_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class OrderPlan:
    """A validated order, before it is stored."""

    user: UserRow
    resolved: ResolvedSet
    account: ResolvedAccount
    request: OrderRequest


def get_user_to_order_for(*, tenant: Tenant, user_id: UUID) -> UserRow:
    """Return the user of an order. Raises: user_not_found (404)."""
    found = find_user(tenant=tenant, user_id=user_id)
    if found is None:
        raise NotFound("user_not_found", _("User not found."), "user_id")
    return found.user


def get_lab_of_chosen_account(*, tenant: Tenant, account_id: UUID | None) -> Lab | None:
    """Return the lab of the account an order names; None where it names none.

    Raises: lab_account_not_found (404). Source: Contract 6.4.
    """
    if account_id is None:
        return None
    return get_linked_lab_account(tenant=tenant, account_id=account_id).lab


def require_comments_not_too_long(comments: str) -> None:
    """Refuse a long clinical comment. Raises: comments_too_long (422)."""
    if len(comments) > COMMENTS_MAX_LENGTH:
        raise Invalid(
            "comments_too_long",
            _("Enter at most %(most)d characters.") % {"most": COMMENTS_MAX_LENGTH},
            "comments",
        )


def require_terms_of_account(
    *, tenant: Tenant, account: LabAccount | None, request: OrderRequest
) -> None:
    """Refuse an order that its lab account does not take as requested.

    Raises: lab_gateway_required, billing_not_allowed, those of
    require_ordering_physician, activate_by_past, health_insurance_missing, in this
    order. Source: Contract 6.4, 6.6, D23.
    """
    require_lab_gateway_of_account(tenant=tenant, account=account)
    _require_billing_type(account, request)
    require_ordering_physician(
        tenant=tenant,
        account=account,
        physician=request.physician,
        state=str(request.patient_address.get("state", "")),
    )
    _require_start_and_insurance(request)


def require_terms_of_import(
    *, tenant: Tenant, account: LabAccount | None, request: OrderRequest
) -> None:
    """Refuse what require_terms_of_account does, of an order placed elsewhere.

    Nobody of the team approves it: its lab has it already. Raises: physician_missing,
    physician_required, and as require_terms_of_account.
    """
    _require_billing_type(account, request)
    require_physician(tenant=tenant, account=account, physician=request.physician)
    _require_start_and_insurance(request)


def _require_billing_type(account: LabAccount | None, request: OrderRequest) -> None:
    require_billing_type_allowed(
        account=account,
        billing_type=request.billing_type,
        state=str(request.patient_address.get("state", "")),
    )


def _require_start_and_insurance(request: OrderRequest) -> None:
    require_start_date_not_past(request.activate_by)
    if (
        request.billing_type == Billing.COMMERCIAL_INSURANCE
        and request.health_insurance is None
    ):
        raise DomainError(
            "health_insurance_missing",
            _("Send health_insurance: commercial insurance requires it."),
            "health_insurance",
        )


def create_order_transaction(*, tenant: Tenant, user: UserRow) -> OrderTransaction:
    """Create the transaction that joins an order with its redraws and recreations."""
    row = OrderTransaction(tenant=tenant, user_id=user.id)
    row.save(force_insert=True)
    return row


def build_order_columns(*, tenant: Tenant, plan: OrderPlan) -> dict[str, Any]:
    """Return the columns of a planned order, without its transaction and origin.

    Creates the panel of an order set that has none of its own. Source: Contract 6.3,
    6.6.
    """
    request = plan.request
    details = request.patient_details
    method = str(plan.resolved.method)
    return {
        "tenant": tenant,
        "user_id": plan.user.id,
        "lab": plan.resolved.lab,
        "lab_test": find_or_create_panel_of_order_set(
            tenant=tenant, resolved=plan.resolved
        ),
        "lab_account": plan.account.account,
        "account_reason": plan.account.reason,
        "method": method,
        "status": build_order_status(method, "ordered"),
        "patient_details": dict(details),
        "patient_address": dict(request.patient_address),
        "patient_name": f"{details['first_name']} {details['last_name']}",
        "patient_dob": details["dob"],
        "physician": dict(request.physician) if request.physician else None,
        "health_insurance": (
            dict(request.health_insurance) if request.health_insurance else None
        ),
        "consents": [dict(consent) for consent in request.consents],
        "aoe_answers": [dict(answer) for answer in request.aoe_answers],
        "comments": request.comments,
        "passthrough": request.passthrough,
        "priority": request.priority,
        "billing_type": request.billing_type,
        "icd_codes": list(request.icd_codes),
        "creator_member_id": request.creator_member_id,
        "activate_by": request.activate_by,
    }


def store_order(*, order: Order, actor: Actor, verb: str) -> None:
    """Store a new order with its first status, its audit entry and its event.

    Raises: sample_id_taken. Source: Contract 6.6, 6.12.
    """
    try:
        with transaction.atomic():
            order.save(force_insert=True)
    except IntegrityError:
        raise DomainError(
            "sample_id_taken",
            _("Another order at this lab has this sample ID."),
            "sample_id",
        ) from None
    store_order_event(order, actor)
    audit_order_change(order, actor, verb)
    emit_order_event(order, "created")
