"""Find the order of a kit by what a courier or a file names it by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q
from django.utils.translation import gettext as _

from labs.models import Order
from labs.queries.orders.orders import get_order_with_details
from labs.states.order_queues import is_order_in_progress
from portal.lib.errors import DomainError, NotFound

if TYPE_CHECKING:
    from uuid import UUID

    from accounts.models import Tenant


def get_order_of_shipment(
    *,
    tenant: Tenant,
    order_id: UUID | None = None,
    sample_id: str = "",
    tracking_number: str = "",
) -> Order:
    """Return the order by its id, else its sample id, else its tracking number.

    Couriers use their numbers again after years: of several orders the one in progress
    counts. Raises: order_not_found (404); order_ambiguous.
    """
    if order_id is not None:
        return get_order_with_details(tenant=tenant, order_id=order_id)
    condition = Q(pk__in=())
    if sample_id:
        condition = Q(sample_id=sample_id)
    elif tracking_number:
        condition = Q(shipment__outbound_tracking_number=tracking_number) | Q(
            shipment__inbound_tracking_number=tracking_number
        )
    rows = Order.objects.for_tenant(tenant).live().placed_here().filter(condition)
    found = list(rows.values_list("pk", "status")[:100])
    if len(found) > 1:
        found = [row for row in found if is_order_in_progress(row[1])] or found
    if not found:
        raise NotFound("order_not_found", _("Order not found."))
    if len(found) > 1:
        raise DomainError(
            "order_ambiguous", _("Several orders match. Name the order by its ID.")
        )
    return get_order_with_details(tenant=tenant, order_id=found[0][0])
