"""The outbox's one door: emit_event writes into the caller's transaction.

Must not be here: building a payload (the app that owns the fact does).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson

from accounts.webhooks.catalogue import EVENT_TYPES
from accounts.webhooks.models import Event

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from uuid import UUID

    from accounts.models import Tenant


@dataclass(frozen=True, slots=True)
class UserRef:
    """The user an event is about: our uuid, and the customer's own id."""

    user_uuid: UUID
    client_user_id: str


def emit_event(
    *, tenant: Tenant, user: UserRef, event_type: str, data: Mapping[str, object]
) -> Event:
    """Record an event; it exists if and only if the caller's transaction commits.

    `data` is the finished payload. Raises KeyError for a type the catalogue lacks: a
    fault of the caller. Source: Contract 8.1, 8.2; Ours: an outbox loses nothing.
    """
    event = _event(tenant, user, event_type, data)
    event.save(force_insert=True)
    return event


def emit_events(
    *,
    tenant: Tenant,
    user: UserRef,
    messages: Iterable[tuple[str, Mapping[str, object]]],
) -> list[Event]:
    """Record many events of one user, in their order, in one statement.

    Each message is an event type and its data. Otherwise as emit_event.
    """
    events = [_event(tenant, user, kind, data) for kind, data in messages]
    return Event.unscoped.bulk_create(events)


def purge_user_events(*, tenant_pk: int, user_uuid: UUID) -> None:
    """Remove every event about a user, when the user is erased."""
    Event.unscoped.filter(tenant_id=tenant_pk, user_uuid=user_uuid).delete()


def _event(
    tenant: Tenant, user: UserRef, event_type: str, data: Mapping[str, object]
) -> Event:
    kind = EVENT_TYPES[event_type]
    envelope = {
        "event_type": kind.name,
        "data": data,
        "team_id": tenant.team_id,
        "user_id": user.user_uuid,
        "client_user_id": user.client_user_id,
    }
    return Event(
        tenant=tenant,
        event_type=kind.name,
        user_uuid=user.user_uuid,
        client_user_id=user.client_user_id,
        body=orjson.dumps(envelope).decode(),
    )
