"""Command palette search: orders by order ID or sample ID.

Hits name no patient.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from accounts.declarations.pages import Hit
from labs.queries.orders.order_list import find_orders_by_id
from labs.states.orders import split_order_status
from portal.lib.ids import is_complete_uuid
from portal.lib.web.views import page_url
from portal.ui.pills import find_status_pill

if TYPE_CHECKING:
    from accounts.web.requests import TenantRequest

HITS = 6


def search_orders_by_id(request: TenantRequest, text: str) -> list[Hit]:
    """Search orders by the start of their ID or by their whole sample ID."""
    return [
        Hit(
            words=_("%(order)s of %(user)s")
            % {"order": str(order.pk)[:8], "user": order.user.client_user_id},
            url=page_url(request, "labs:order", order_id=order.pk),
            detail=find_status_pill(split_order_status(order.status).low).words,
            is_exact=is_complete_uuid(text, order.pk)
            or text.upper() == order.sample_id.upper(),
        )
        for order in find_orders_by_id(tenant=request.tenant, text=text, limit=HITS)
    ]
