"""Recreate orders with corrected details, and preview it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils.translation import gettext as _

from labs.operations.appointments.changes import cancel_home_appointment_of_order
from labs.operations.catalogue.order_sets import OrderSet
from labs.operations.order_status.status import advance_order, lock_order
from labs.operations.orders.checks import require_adult_or_permitted_minor
from labs.operations.orders.placing import (
    OrderPlan,
    OrderRequest,
    require_cancellable,
    store_validated_order,
    validate_order_request,
)
from labs.states.catalogue import CollectionMethod
from labs.states.orders import OrderOrigin, UpdateReason
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from labs.models import Order
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
    advance_order(
        order=order, actor=actor, to="cancelled", why=str(recreation.reason.label)
    )
    plan.fields.update(
        transaction_id=order.transaction_id,
        parent=order,
        origin=OrderOrigin.RECREATION,
        update_reason=recreation.reason,
    )
    return store_validated_order(order.tenant, actor, plan, "recreate_order")


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
    wrong_lab = recreation.reason == UpdateReason.INCORRECT_LAB
    request = _build_recreated_request(order, recreation)
    carried = recreation.lab_account_id is None and not wrong_lab
    plan = validate_order_request(
        order.tenant,
        request,
        leave_out=order.lab_account if wrong_lab else None,
        carried=order if carried else None,
        with_archived=True,
    )
    require_adult_or_permitted_minor(order.tenant, request.patient_details)
    marker_ids = {marker.pk for marker in plan.resolved.markers}
    answers = tuple(a for a in request.aoe_answers if a["marker_id"] in marker_ids)
    return replace(plan, request=replace(request, aoe_answers=answers))


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
