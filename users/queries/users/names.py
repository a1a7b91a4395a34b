"""Names of users for other apps: their client_user_id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accounts.declarations.hooks import UserBook
from users.models import User

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from accounts.models import Tenant


def _names(tenant: Tenant, uuids: Sequence[UUID]) -> dict[UUID, str]:
    live = User.objects.for_tenant(tenant).live().filter(uuid__in=uuids)
    return dict(live.values_list("uuid", "client_user_id"))


def _find(tenant: Tenant, client_user_id: str) -> UUID | None:
    live = User.objects.for_tenant(tenant).live()
    found: UUID | None = (
        live.filter(client_user_id=client_user_id).values_list("uuid", flat=True)
    ).first()
    return found


BOOK = UserBook(names=_names, find=_find)
