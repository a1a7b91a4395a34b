"""Shared links of a user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exchange.models import SharedLink

if TYPE_CHECKING:
    from users.models import User

_SHOWN = 100


def list_shared_links(
    user: User, *, is_users_own: bool | None = None
) -> list[SharedLink]:
    """List a user's links, newest first, those that ended too; at most 100.

    `is_users_own` narrows to those made in the portal, or to the others. The caller
    audits the read.
    """
    rows = SharedLink.objects.for_tenant(user.tenant).filter(user=user)
    if is_users_own is not None:
        rows = rows.filter(is_users_own=is_users_own)
    return list(rows.order_by("-created_at", "pk")[:_SHOWN])
