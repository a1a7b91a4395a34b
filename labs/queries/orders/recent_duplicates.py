"""Reads of recent orders that a new one would duplicate.

A repeated order can be intended (contract 1.6): the dashboard asks for confirmation,
the API does not.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db.models import Q
from django.utils import timezone

from labs.models import Order
from labs.queries.orders.orders import PLACED_TEST
from labs.states.orders import OrderTopLevelStatus

if TYPE_CHECKING:
    from collections.abc import Collection
    from uuid import UUID

    from accounts.models import Tenant

TWIN_WINDOW = timedelta(hours=24)
_CALLED_OFF = (OrderTopLevelStatus.CANCELLED, OrderTopLevelStatus.FAILED)


def list_recent_duplicate_orders(
    *, tenant: Tenant, user_id: UUID, marker_ids: Collection[int]
) -> list[Order]:
    """List a user's orders of the last 24 hours for exactly these markers,

    Panels and single markers that come to the same set are the same; cancelled and
    failed orders are no twins. Two queries. Source: Ours (workflows D3).
    """
    called_off = Q()
    for top in _CALLED_OFF:
        called_off |= Q(status__startswith=f"{top}.")
    recent = (
        Order.objects.for_tenant(tenant)
        .live()
        .of_user(user_id)
        .filter(created_at__gt=timezone.now() - TWIN_WINDOW)
        .exclude(called_off)
        .select_related("lab_test")
        .prefetch_related(*PLACED_TEST)
        .order_by("-created_at", "-pk")
    )
    marker_set = set(marker_ids)
    return [
        order
        for order in recent
        if {marker.pk for marker in order.placed.markers} == marker_set
    ]
