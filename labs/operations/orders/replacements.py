"""Replace a kit that was lost or failed: send its patient another one."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from labs.models import Order
from labs.operations.account_choice import (
    resolve_lab_account,
)
from labs.operations.order_status.status import advance_order, lock_order
from labs.operations.orders.kits import make_kit_sample_id
from labs.operations.orders.plans import store_order
from labs.operations.orders.redraws import COPIED_COLUMNS
from labs.operations.orders.requisitions import enqueue_requisition
from labs.operations.physicians.asking import request_approval
from labs.operations.production import (
    require_lab_gateway,
    require_lab_gateway_of_account,
    require_physician,
)
from labs.states.catalogue import CollectionMethod
from labs.states.orders import (
    OrderOrigin,
    OrderTopLevelStatus,
    UpdateReason,
    build_order_status,
)
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from portal.lib.actor import Actor

_COPIED = (*COPIED_COLUMNS, "shipping_address", "recipient_name")


@transaction.atomic
def replace_kit(*, order: Order, actor: Actor) -> Order:
    """Send another kit for one that was lost or failed; return the new order.

    It joins the transaction with origin recreation, and its parent is the failed order,
    which stays as it is. A kit that was never registered is replaced by one to
    register. The lab account stays while it takes orders. Raises: kit_not_replaceable;
    kit_replaced, where its replacement is not cancelled; those of resolve_lab_account;
    physician_missing; in production lab_gateway_required, physician_required. Source:
    Ours: contract 6.14 recreates only what can be cancelled; D23.
    """
    order = lock_order(order)
    require_replaceable(order)
    require_lab_gateway(order.tenant)
    account = resolve_lab_account(
        tenant=order.tenant, lab=order.lab, account_id=order.lab_account_id
    )
    require_lab_gateway_of_account(tenant=order.tenant, account=account.account)
    is_registrable = order.patient_details is None
    if not is_registrable:
        require_physician(
            tenant=order.tenant, account=account.account, physician=order.physician
        )
    now = timezone.now()
    kit = Order(
        **{name: getattr(order, name) for name in _COPIED}
        | {
            "pk": uuid.uuid4(),
            "tenant": order.tenant,
            "parent": order,
            "origin": OrderOrigin.RECREATION,
            "update_reason": UpdateReason.OTHER,
            "lab_account_id": account.account.pk if account.account else None,
            "account_reason": account.reason,
            "status": build_order_status(order.method, "ordered"),
            "is_registrable": is_registrable,
            "created_at": now,
            "updated_at": now,
        }
    )
    if kit.is_registrable:
        kit.sample_id = make_kit_sample_id(kit)
    store_order(order=kit, actor=actor, verb="replace_kit")
    if kit.is_registrable:
        advance_order(order=kit, actor=actor, to="awaiting_registration")
    else:
        if kit.physician is None:  # else the same physician orders it
            request_approval(kit)
        enqueue_requisition(kit)
    return kit


def require_replaceable(order: Order) -> None:
    """Refuse to replace an order that is no failed kit, or was replaced.

    Raises: kit_not_replaceable, kit_replaced.
    """
    if (
        order.method != CollectionMethod.TESTKIT
        or order.status_parts.top != OrderTopLevelStatus.FAILED
    ):
        raise DomainError(
            "kit_not_replaceable", _("Only a lost or failed kit can be sent again.")
        )
    cancelled = build_order_status(CollectionMethod.TESTKIT, "cancelled")
    later = Order.objects.for_tenant(order.tenant).filter(parent=order)
    if later.exclude(status=cancelled).exists():
        raise DomainError("kit_replaced", _("Another kit was sent already."))
