"""Erasing a user's samples.

Must not be here: when a user is erased (operations.users).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from users.models import User
from users.wearables.samples import find_store

if TYPE_CHECKING:
    from uuid import UUID


def erase_samples(tenant_pk: int, user_uuid: UUID) -> None:
    """Remove all samples of a user; their origins go with the user's row."""
    mine = User.unscoped.filter(tenant_id=tenant_pk, uuid=user_uuid)
    for user_id in mine.values_list("pk", flat=True):
        find_store().delete_user(user_id=user_id)
