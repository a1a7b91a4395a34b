"""Erasure of every user of a deleted team."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from users.models import User
from users.operations.users.users import delete_user, erase_user

if TYPE_CHECKING:
    from accounts.models import Tenant
    from portal.lib.actor import Actor


def erase_all_users(tenant: Tenant, actor: Actor) -> None:
    """Delete and erase each user in a transaction each; this cannot be undone.

    Source: Contract 9.1; Ours: sources are given their permissions back, as for one.
    """
    mine = User.objects.for_tenant(tenant)
    for user in mine.order_by("pk").iterator():
        user.tenant = tenant
        if user.deleted_at is None:
            delete_user(user=user, actor=actor)
        erase_user(tenant=tenant, actor=actor, user_uuid=user.uuid, grace=timedelta(0))
