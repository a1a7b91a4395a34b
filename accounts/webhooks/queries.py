"""Reads of the outbox.

Every reader of what these give audits the read (accounts.operations.audit.record_read).
Must not be here: writes, or a payload's meaning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from accounts.webhooks.models import Event

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from accounts.models import Tenant


class EventRow(NamedTuple):
    """An event without its body."""

    message_id: str
    event_type: str
    user_uuid: UUID
    client_user_id: str
    created_at: datetime


def recent_events(*, tenant: Tenant, limit: int) -> list[EventRow]:
    """The last events of a tenant, newest first; also those of deleted users."""
    rows = Event.objects.for_tenant(tenant).order_by("-id")
    return [EventRow(*row) for row in rows.values_list(*EventRow._fields)[:limit]]
