"""Command palette search: orders by their own number or that of a sample or lab.

Hits name no patient.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from accounts.declarations.pages import Hit
from labs.queries.orders.order_list import find_orders_by_id, list_orders_by_id
from labs.states.orders import split_order_status
from portal.lib.ids import is_complete_uuid
from portal.lib.web.views import page_url
from portal.ui.pills import find_status_pill

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from accounts.web.requests import TenantRequest
    from labs.models import Order

HITS = 6


def search_orders_by_id(request: TenantRequest, text: str) -> list[Hit]:
    """Search orders by any part of their ID, or of a sample, lab or visit number."""
    found = find_orders_by_id(tenant=request.tenant, text=text, limit=HITS)
    return [_build_hit(request, order, text) for order in found]


def reopen_orders(request: TenantRequest, ids: Sequence[UUID]) -> list[Hit]:
    """Return those of these orders that are the tenant's."""
    found = list_orders_by_id(tenant=request.tenant, ids=ids)
    return [_build_hit(request, order, "") for order in found]


def _build_hit(request: TenantRequest, order: Order, text: str) -> Hit:
    return Hit(
        words=_("%(order)s of %(user)s")
        % {"order": str(order.pk)[:8], "user": order.user.client_user_id},
        url=page_url(request, "labs:order", order_id=order.pk),
        detail=find_status_pill(split_order_status(order.status).low).words,
        is_exact=is_complete_uuid(text, order.pk)
        or (bool(text) and text.upper() == order.sample_id.upper()),
        record=str(order.pk),
    )
