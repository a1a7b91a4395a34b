"""Hold back orders that one of the team's physicians has yet to approve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from labs.models import OrderApproval
from labs.states.physicians import ApprovalStatus
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from labs.models import Order


def awaits_approval(order: Order) -> bool:
    """Return whether a physician has yet to approve an order, or refused it."""
    held = OrderApproval.objects.for_tenant(order.tenant).filter(order_id=order.pk)
    return bool(held.exclude(status=ApprovalStatus.APPROVED).exists())


def require_approved(order: Order) -> None:
    """Refuse to go on with an order that no physician approved.

    Raises: order_not_approved. Source: Ours: no requisition without its physician.
    """
    if awaits_approval(order):
        raise DomainError(
            "order_not_approved", _("A physician must approve this order first.")
        )
