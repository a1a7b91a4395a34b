"""Redraws: a walk-in sample collected a second time, once."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from labs.models import Order
from labs.operations.order_status.status import advance_order, lock_order
from labs.operations.orders.plans import store_order
from labs.operations.orders.requisitions import enqueue_requisition
from labs.operations.physicians.asking import request_approval
from labs.operations.production import (
    require_lab_gateway_of_account,
    require_physician,
    require_platform_account_allowed,
)
from labs.states.orders import OrderOrigin, build_order_status
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from datetime import datetime

    from portal.lib.actor import Actor

COPIED_COLUMNS = (
    "user_id",
    "transaction_id",
    "lab_id",
    "lab_test_id",
    "lab_account_id",
    "account_reason",
    "method",
    "patient_details",
    "patient_address",
    "patient_name",
    "patient_dob",
    "physician",
    "consents",
    "aoe_answers",
    "health_insurance",
    "health_insurance_id",
    "comments",
    "passthrough",
    "priority",
    "billing_type",
    "icd_codes",
    "creator_member_id",
)


@transaction.atomic
def place_redraw_order(
    *, order: Order, actor: Actor, why: str = "", occurred_at: datetime | None = None
) -> Order:
    """End a walk-in order at redraw_available and return its newly placed redraw.

    Raises: transition_not_allowed; redraw_used, as a transaction has one redraw at
    most; in production lab_gateway_required, lab_account_required, physician_required.
    Source: Contract 6.12, D23.
    """
    order = lock_order(order)
    require_lab_gateway_of_account(tenant=order.tenant, account=order.lab_account)
    if order.lab_account is None:
        require_platform_account_allowed(tenant=order.tenant, lab=order.lab)
    require_physician(
        tenant=order.tenant, account=order.lab_account, physician=order.physician
    )
    in_transaction = Order.objects.for_tenant(order.tenant).filter(
        transaction_id=order.transaction_id
    )
    if in_transaction.filter(origin=OrderOrigin.REDRAW).exists():
        raise DomainError("redraw_used", _("This order already had its one redraw."))
    advance_order(
        order=order,
        actor=actor,
        to="redraw_available",
        why=why,
        occurred_at=occurred_at,
    )
    now = timezone.now()
    redraw = Order(
        pk=uuid.uuid4(),
        tenant=order.tenant,
        parent=order,
        origin=OrderOrigin.REDRAW,
        status=build_order_status(order.method, "ordered"),
        created_at=now,
        updated_at=now,
        **{name: getattr(order, name) for name in COPIED_COLUMNS},
    )
    store_order(order=redraw, actor=actor, verb="offer_redraw")
    if redraw.physician is None:  # else the same physician orders it
        request_approval(redraw)
    enqueue_requisition(redraw)
    return redraw
