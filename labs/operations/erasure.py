"""Erasing what labs keep of a user.

Must not be here: when a user is erased (users.operations.users).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.models import Order, OrderTransaction

if TYPE_CHECKING:
    from uuid import UUID


def erase_orders(tenant_pk: int, user_uuid: UUID) -> None:
    """Remove a user's orders with their events and shipments, and the transactions.

    A kit that was registered to another user goes with that one; its transaction stays
    as long as an order is in it.
    """
    mine = Order.unscoped.filter(tenant_id=tenant_pk, user__uuid=user_uuid)
    Order.unscoped.filter(tenant_id=tenant_pk, parent__in=mine).update(parent=None)
    mine.delete()
    joined = OrderTransaction.unscoped.filter(tenant_id=tenant_pk, user__uuid=user_uuid)
    joined.filter(orders=None).delete()
    for kept in joined:
        # What another user's order keeps alive belongs to that user now.
        heir = kept.orders.order_by("created_at").values_list("user_id", flat=True)
        OrderTransaction.unscoped.filter(pk=kept.pk).update(user_id=heir[0])
