"""Reads of users' insurance. Every caller must audit the read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.models import UserInsurance

if TYPE_CHECKING:
    from users.models import User


def find_latest_insurance(
    *, user: User, is_primary: bool | None = None
) -> UserInsurance | None:
    """Return the insurance of this rank, or any, that was stored last."""
    rows = UserInsurance.objects.for_tenant(user.tenant).filter(user=user)
    if is_primary is not None:
        rows = rows.filter(is_primary=is_primary)
    found: UserInsurance | None = rows.order_by("-updated_at", "-pk").first()
    return found
