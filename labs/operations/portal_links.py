"""Links to a user's own portal, for API clients.

It is in labs because a link can open an order.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from labs.models import Order
from portal.lib.errors import NotFound
from users.operations.connect.link_sessions import LinkRequest, create_connect_link
from users.states.links import PortalContext

if TYPE_CHECKING:
    from uuid import UUID

    from portal.lib.actor import Actor
    from users.models import LinkSession, User

# Ours: contract 2.2 names no time. One is opened at once, the other read later.
PORTAL_TTL = {
    PortalContext.LAUNCH: timedelta(minutes=30),
    PortalContext.COMMUNICATIONS: timedelta(days=7),
}


def create_portal_link(
    *, user: User, actor: Actor, context: PortalContext, order_id: UUID | None = None
) -> LinkSession:
    """Create a link to a user's portal; with an order, its test is shown first.

    It works for PORTAL_TTL of its context, for whoever has it, until a member ends it
    or the user is deleted. Raises: not_found; order_not_found (404), also of another
    user's. Source: Contract 2.2; Ours: the times, and that no result is shown.
    """
    if order_id is not None:
        orders = Order.objects.for_tenant(user.tenant).live().of_user(user.uuid)
        if not orders.filter(pk=order_id).exists():
            raise NotFound("order_not_found", _("Order not found."))
    return create_connect_link(
        user=user,
        actor=actor,
        request=LinkRequest(opens_portal=True, order_id=order_id),
        lasts=PORTAL_TTL[context],
    )
