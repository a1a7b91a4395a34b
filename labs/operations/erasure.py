"""Erasing what labs keep of a user.

Must not be here: when a user is erased (users.operations.users).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.models import InboundMessage, Order, OrderTransaction, UserInsurance
from labs.states.inbound import MessageStatus

if TYPE_CHECKING:
    from uuid import UUID


def erase_orders(tenant_pk: int, user_uuid: UUID) -> None:
    """Remove a user's insurance, orders with what hangs on them, and the transactions.

    A kit that was registered to another user goes with that one; its transaction stays
    as long as an order is in it.
    """
    UserInsurance.unscoped.filter(tenant_id=tenant_pk, user__uuid=user_uuid).delete()
    mine = Order.unscoped.filter(tenant_id=tenant_pk, user__uuid=user_uuid)
    Order.unscoped.filter(tenant_id=tenant_pk, parent__in=mine).update(parent=None)
    mine.delete()
    # What is left of a message whose last report is gone says whose file it was.
    InboundMessage.unscoped.filter(
        tenant_id=tenant_pk, status=MessageStatus.TAKEN, reports=None
    ).delete()
    joined = OrderTransaction.unscoped.filter(tenant_id=tenant_pk, user__uuid=user_uuid)
    joined.filter(orders=None).delete()
    for kept in joined:
        # What another user's order keeps alive belongs to that user now.
        heir = kept.orders.order_by("created_at").values_list("user_id", flat=True)
        OrderTransaction.unscoped.filter(pk=kept.pk).update(user_id=heir[0])
