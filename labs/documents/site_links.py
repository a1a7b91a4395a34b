"""Signed links by which a service center answers for a visit without signing in.

A link is signed with SECRET_KEY and names when the center was asked, so that a later
link ends an earlier one. Its secret part is in the query string, which is never logged.
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
    from labs.models import Appointment

_SALT = "labs.site-confirmation"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class SiteLinkClaim:
    """The content of a validly signed link; `asked_at` is UTC."""

    tenant_id: int
    appointment_id: UUID
    asked_at: datetime


def build_site_link(appointment: Appointment) -> str:
    """Return the URL by which the center answers; only of one that was asked."""
    assert appointment.site_asked_at is not None  # noqa: S101 - the caller asked
    ticks = (appointment.site_asked_at - _EPOCH) // _TICK
    token = _signer().sign_object([appointment.tenant_id, appointment.pk.hex, ticks])
    return build_absolute_url(f"{reverse('site_confirmation')}?token={token}")


def verify_site_link_token(token: str) -> SiteLinkClaim | None:
    """Return the content of a token; None if wrongly signed."""
    try:
        tenant_id, appointment_id, ticks = _signer().unsign_object(token)
    except (BadSignature, ValueError):
        return None
    return SiteLinkClaim(tenant_id, UUID(appointment_id), _EPOCH + ticks * _TICK)


def _signer() -> Signer:
    return Signer(salt=_SALT)
