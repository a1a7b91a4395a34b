"""Recreate orders with corrected details, and preview it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import translation
from django.utils.translation import gettext as _

from labs.models import Order
from labs.operations.account_choice import (
    ResolvedAccount,
    resolve_lab_account,
    resolve_other_lab_account,
)
from labs.operations.appointments.changes import cancel_home_appointment_of_order
from labs.operations.catalogue.order_sets import OrderSet, resolve_recreated_order_set
from labs.operations.order_status.status import advance_order, lock_order
from labs.operations.orders.checks import require_adult_or_permitted_minor
from labs.operations.orders.placing import require_cancellable
from labs.operations.orders.plans import (
    OrderPlan,
    OrderRequest,
    build_order_columns,
    get_lab_of_chosen_account,
    get_user_to_order_for,
    require_comments_not_too_long,
    require_terms_of_account,
    store_order,
)
from labs.operations.orders.requisitions import enqueue_requisition
from labs.operations.physicians.asking import request_approval
from labs.operations.production import (
    require_home_visits,
    require_lab_gateway,
    require_platform_account_allowed,
)
from labs.states.accounts import AccountReason
from labs.states.catalogue import CollectionMethod
from labs.states.orders import OrderOrigin, UpdateReason
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from labs.models import Lab
    from portal.lib.actor import Actor


@dataclass(frozen=True, slots=True)
class RecreationRequest:
    """The changes of a recreated order; None copies the old value (contract 6.14)."""

    reason: UpdateReason
    order_set: OrderSet | None = None
    method: CollectionMethod | None = None
    patient_details: Mapping[str, Any] | None = None
    patient_address: Mapping[str, Any] | None = None
    physician: Mapping[str, Any] | None = None
    lab_account_id: UUID | None = None
    comments: str | None = None


@transaction.atomic
def recreate_order(
    *, order: Order, actor: Actor, recreation: RecreationRequest
) -> Order:
    """Cancel an order and place it again with corrected details.

    INCORRECT_LAB never carries the account over: a fresh one is resolved with the old
    one left out. An archived panel may be ordered again; answers to questions that the
    new tests do not ask are left behind. Raises: order_not_cancellable;
    kit_not_registered; lab_account_incorrect; those of place_order. Source:
    Specification 3; contract 6.14.
    """
    order = lock_order(order)
    plan = preview_recreation(order=order, recreation=recreation)
    cancel_home_appointment_of_order(order=order, actor=actor)
    with translation.override("en"):  # what is stored
        why = str(recreation.reason.label)
    advance_order(order=order, actor=actor, to="cancelled", why=why)
    recreated = Order(
        transaction_id=order.transaction_id,
        parent=order,
        origin=OrderOrigin.RECREATION,
        update_reason=recreation.reason,
        **build_order_columns(tenant=order.tenant, plan=plan),
    )
    store_order(order=recreated, actor=actor, verb="recreate_order")
    request_approval(recreated)
    enqueue_requisition(recreated)
    return recreated


def preview_recreation(*, order: Order, recreation: RecreationRequest) -> OrderPlan:
    """Return what recreate_order would store, or raise why not; store nothing.

    Raises: as recreate_order. Source: Ours: who recreates an order sees first which
    account it gets, and why.
    """
    require_cancellable(order)
    if order.patient_details is None and recreation.patient_details is None:
        raise DomainError(
            "kit_not_registered",
            _("No patient is registered to this kit. Cancel it and send another."),
        )
    tenant, request = order.tenant, _build_recreated_request(order, recreation)
    require_lab_gateway(tenant)
    user = get_user_to_order_for(tenant=tenant, user_id=request.user_id)
    require_comments_not_too_long(request.comments)
    resolved = resolve_recreated_order_set(
        tenant=tenant,
        order_set=request.order_set,
        method=request.method,
        lab=get_lab_of_chosen_account(tenant=tenant, account_id=request.lab_account_id),
    )
    account = _resolve_account(order, recreation, resolved.lab)
    require_home_visits(tenant=tenant, method=resolved.method)
    require_terms_of_account(tenant=tenant, account=account.account, request=request)
    require_adult_or_permitted_minor(tenant, request.patient_details)
    marker_ids = {marker.pk for marker in resolved.markers}
    answers = tuple(a for a in request.aoe_answers if a["marker_id"] in marker_ids)
    return OrderPlan(user, resolved, account, replace(request, aoe_answers=answers))


def _resolve_account(
    order: Order, recreation: RecreationRequest, lab: Lab
) -> ResolvedAccount:
    """Return the account of a recreated order, and why it is this one.

    The account stays with its lab, unless another is named or the lab was wrong.
    """
    tenant, account_id = order.tenant, recreation.lab_account_id
    if recreation.reason == UpdateReason.INCORRECT_LAB:
        return resolve_other_lab_account(
            tenant=tenant, lab=lab, wrong=order.lab_account, account_id=account_id
        )
    if account_id is None and order.lab_id == lab.pk:
        if order.lab_account is None:
            require_platform_account_allowed(tenant=tenant, lab=lab)
        return ResolvedAccount(order.lab_account, AccountReason.CARRIED_OVER)
    return resolve_lab_account(tenant=tenant, lab=lab, account_id=account_id)


def _build_recreated_request(
    order: Order, recreation: RecreationRequest
) -> OrderRequest:
    """Build the request of a recreated order from the old order and its changes."""
    method = CollectionMethod.known(order.method)
    return OrderRequest(
        user_id=order.user.uuid,
        order_set=recreation.order_set or OrderSet(lab_test_ids=(order.lab_test_id,)),
        method=recreation.method or (None if recreation.order_set else method),
        lab_account_id=recreation.lab_account_id,
        patient_details=recreation.patient_details or order.patient_details or {},
        patient_address=recreation.patient_address
        or order.patient_address
        or order.shipping_address
        or {},
        physician=recreation.physician or order.physician,
        comments=order.comments if recreation.comments is None else recreation.comments,
        health_insurance=order.health_insurance,
        priority=order.priority,
        billing_type=order.billing_type,
        icd_codes=tuple(order.icd_codes),
        consents=tuple(order.consents),
        aoe_answers=tuple(order.aoe_answers),
        passthrough=order.passthrough,
        creator_member_id=order.creator_member_id,
    )
