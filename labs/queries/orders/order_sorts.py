"""Keys of a page of orders in the order that a list asks for.

`order_by` is a path of Order, with a minus for downwards; `parts` are querysets of the
matching orders, each with an index, in several of which an order may be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labs.models import Order
from portal.lib.database.sorting import SORTED_UP_TO, sort_newest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from django.db.models import QuerySet

    from accounts.models import Tenant
    from labs.models.order import OrderQuerySet

_NEWEST = ("-created_at", "-id")
_OF_USER = "user__client_user_id"
# So many that a search found are put in order here.
_FEW_FOUND = 1_000


def list_few_ids(parts: list[OrderQuerySet], order_by: str) -> list[UUID] | None:
    """Return all matching orders by time of creation; None where they are not few.

    One query, not one to sort and one to count.
    """
    if order_by.removeprefix("-") != "created_at":
        return None
    keys = list(sort_keys(parts, "created_at")[: _FEW_FOUND + 1])
    if len(keys) > _FEW_FOUND:
        return None
    return [key for _, key in sorted(keys, reverse=order_by.startswith("-"))]


def list_ids_by_index(
    tenant: Tenant,
    parts: list[OrderQuerySet],
    order_by: str,
    *,
    numbers: Mapping[str, int] | None,
    is_whole: bool,
    offset: int,
    limit: int,
) -> list[UUID] | None:
    """Return a page of all matching orders; None where no index has the order.

    `numbers` of the matching orders per status are known where nothing else is filtered
    by, `is_whole` says that nothing is.
    """
    path, is_down = order_by.removeprefix("-"), order_by.startswith("-")
    sign = "-" if is_down else ""
    if path == "created_at":
        keys = sort_keys(parts, "created_at")
        ordered = keys.order_by(f"{sign}created_at", f"{sign}id")
        return [key for _, key in ordered[offset : offset + limit]]
    if path == "status" and numbers is not None:
        return _list_ids_by_status(parts[0], numbers, is_down, offset, limit)
    if path == _OF_USER and is_whole:
        # By the index of users, then that of each one's orders.
        live = Order.objects.for_tenant(tenant).filter(user__tenant=tenant.pk).live()
        by_user = live.order_by(f"{sign}{_OF_USER}", *_NEWEST)
        return list(by_user.values_list("id", flat=True)[offset : offset + limit])
    return None


def list_ids_of_newest(
    tenant: Tenant, parts: list[OrderQuerySet], order_by: str, offset: int, limit: int
) -> list[UUID]:
    """Return a page of the newest SORTED_UP_TO in order."""
    orders: QuerySet[Order, Any] = parts[0]
    if len(parts) > 1:
        keys = sort_keys(parts, "created_at").order_by(*_NEWEST)[:SORTED_UP_TO]
        orders = Order.objects.for_tenant(tenant).live_among_many()
        orders = orders.filter(pk__in=[key for _, key in keys])
    found = sort_newest(orders, order_by=order_by, newest=_NEWEST)
    return list(found.values_list("id", flat=True)[offset : offset + limit])


def sort_keys(parts: list[OrderQuerySet], at: str) -> QuerySet[Order, Any]:
    """Return time and key of each order of the parts once, unordered."""
    first, *others = (part.order_by().values_list(at, "id") for part in parts)
    return first.union(*others) if others else first


def _list_ids_by_status(
    orders: OrderQuerySet,
    numbers: Mapping[str, int],
    is_down: bool,
    offset: int,
    limit: int,
) -> list[UUID]:
    """Return a page of the orders by status, the newest of each first.

    A query for each status that the page shows: of those before it, the number is
    known.
    """
    ids: list[UUID] = []
    for status in sorted(numbers, reverse=is_down):
        if offset < numbers[status] and len(ids) < limit:
            found = orders.filter(status=status).order_by(*_NEWEST)
            last = offset + limit - len(ids)
            ids += found.values_list("id", flat=True)[offset:last]
        offset = max(offset - numbers[status], 0)
    return ids
