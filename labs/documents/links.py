"""Signed links to a requisition, which open it without signing in.

A link is signed with SECRET_KEY and valid for seven days. Its secret part is in the
query string, which is never logged.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from django.core.signing import BadSignature, Signer
from django.urls import reverse

from portal.lib.web.links import build_absolute_url

if TYPE_CHECKING:
    from labs.models import Order

LINK_TTL = timedelta(days=7)  # Specification 8
_SALT = "labs.requisition-link"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class RequisitionLinkClaim:
    """The content of a validly signed link; `issued_at` is UTC."""

    tenant_id: int
    order_id: UUID
    issued_at: datetime


def get_requisition_link_url(order: Order) -> str | None:
    """Return the URL of an order's current requisition link, even expired; or None.

    The same text until another one is issued. Source: Contract D19.
    """
    if order.requisition_issued_at is None:
        return None
    ticks = (order.requisition_issued_at - _EPOCH) // _TICK
    token = _link_signer().sign_object([order.tenant_id, order.pk.hex, ticks])
    return build_absolute_url(f"{reverse('requisition_link')}?token={token}")


def get_requisition_link_expiry(order: Order) -> datetime | None:
    """Return when an order's requisition link expires; None without one."""
    issued = order.requisition_issued_at
    return None if issued is None else issued + LINK_TTL


def verify_requisition_link_token(token: str) -> RequisitionLinkClaim | None:
    """Return the content of a requisition link's token; None if wrongly signed."""
    try:
        tenant_id, order_id, ticks = _link_signer().unsign_object(token)
    except (BadSignature, ValueError):
        return None
    return RequisitionLinkClaim(tenant_id, UUID(order_id), _EPOCH + ticks * _TICK)


def _link_signer() -> Signer:
    return Signer(salt=_SALT)
