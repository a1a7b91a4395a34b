"""Rows about a whole tenant's live users, for readers that narrow and page themselves.

Every reader of these audits the read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from users.models import Connection, Device, Summary, User

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from accounts.models import Tenant


def users_with_info(tenant: Tenant) -> QuerySet[User]:
    """Return live users with their demographics."""
    rows: QuerySet[User] = User.objects.for_tenant(tenant).live()
    return rows.select_related("info")


def connections(tenant: Tenant) -> QuerySet[Connection]:
    """Return the connections of live users that were not disconnected."""
    rows: QuerySet[Connection] = Connection.objects.for_tenant(tenant).filter(
        user__deleted_at=None, disconnected_at=None
    )
    return rows


def devices(tenant: Tenant) -> QuerySet[Device]:
    """Return the devices of live users, with their user."""
    rows: QuerySet[Device] = Device.objects.for_tenant(tenant).filter(
        user__deleted_at=None
    )
    return rows.select_related("user")


def summaries(tenant: Tenant) -> QuerySet[Summary]:
    """Return the summaries of live users as answers have them, with their user."""
    rows: QuerySet[Summary] = Summary.objects.for_tenant(tenant).filter(
        user__deleted_at=None
    )
    return rows.select_related("user").defer("raw", "layers")
