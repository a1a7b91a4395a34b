"""Record events and their deliveries in the caller's transaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson
from django.utils import timezone

from accounts.webhooks.catalogue import load_event_types
from accounts.webhooks.feed import FEED_LOCK, FLOOR_MASK, TENANT_MASK
from accounts.webhooks.models import Event, new_message_id
from portal.lib.database import rows
from portal.lib.database.prepared import NamedStatement

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from uuid import UUID

    from accounts.models import Tenant

# One statement, so that an event costs its caller one round trip, however many
# endpoints there are. A disabled endpoint keeps what it misses. The lock, kept to the
# end of the transaction and taken before any id is, tells the feed above which id this
# transaction's events are (accounts.webhooks.feed).
EMIT = f"""
WITH turn AS MATERIALIZED (
    SELECT pg_advisory_xact_lock_shared(
        ({FEED_LOCK}::bigint << 56)
        | ((%(tenant)s::bigint & {TENANT_MASK}) << 40)
        | ((last_value - CASE WHEN is_called THEN 0 ELSE 1 END) & {FLOOR_MASK}))
    FROM webhooks_event_id_seq
), given AS (
    SELECT * FROM unnest(%(message_ids)s::text[], %(types)s::text[], %(bodies)b::text[])
        WITH ORDINALITY AS t(message_id, event_type, body, place)
), made AS (
    INSERT INTO webhooks_event
        (tenant_id, message_id, event_type, user_uuid, client_user_id, body, created_at)
    SELECT %(tenant)s::bigint, message_id, event_type, %(user_uuid)s::uuid,
        %(client_user_id)s::text, body, %(at)s::timestamptz
    FROM turn CROSS JOIN given ORDER BY place
    RETURNING id, message_id, event_type
), sent AS (
    INSERT INTO webhooks_delivery
        (tenant_id, endpoint_id, event_id, event_type, user_uuid, status, lane,
         attempts, step, due_at, last_fault, created_at)
    SELECT %(tenant)s::bigint, endpoint.id, made.id, made.event_type,
        %(user_uuid)s::uuid,
        CASE WHEN endpoint.disabled_at IS NULL THEN 'pending' ELSE 'held' END,
        0, 0, 0, now(), '', %(at)s::timestamptz
    FROM made
    JOIN webhooks_endpoint AS endpoint
        ON endpoint.tenant_id = %(tenant)s::bigint AND endpoint.deleted_at IS NULL
    WHERE endpoint.filter_types IS NULL OR EXISTS (
        SELECT 1 FROM unnest(endpoint.filter_types) AS f(wanted)
        WHERE f.wanted = made.event_type
            OR (f.wanted LIKE '%%.' AND starts_with(made.event_type, f.wanted))
    )
    ORDER BY made.id, endpoint.id
)
SELECT id, message_id FROM made
"""  # noqa: S608 - numbers of our own
_EMIT = NamedStatement("emit_events", EMIT)


@dataclass(frozen=True, slots=True)
class UserRef:
    """The user an event is about: our uuid, and the customer's own id."""

    user_uuid: UUID
    client_user_id: str


def emit_event(
    *, tenant: Tenant, user: UserRef, event_type: str, data: Mapping[str, object]
) -> Event:
    """Record an event and its deliveries; they exist if the caller's commit does.

    `data` is the finished payload. Raises KeyError for a type the catalogue lacks: a
    fault of the caller. Source: Contract 8.1, 8.2; Ours: an outbox loses nothing.
    """
    [event] = emit_events(tenant=tenant, user=user, messages=[(event_type, data)])
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
    at = timezone.now()
    events = [
        Event(
            tenant=tenant,
            message_id=new_message_id(),
            event_type=load_event_types()[kind].name,
            user_uuid=user.user_uuid,
            client_user_id=user.client_user_id,
            body=_body(tenant, user, kind, data),
            created_at=at,
        )
        for kind, data in messages
    ]
    if not events:
        return []
    # Bodies are large: sent as text, their quotes alone would cost more than the rest.
    made = _EMIT.fetch(
        {
            "tenant": tenant.pk,
            "user_uuid": user.user_uuid,
            "client_user_id": user.client_user_id,
            "at": at,
            "message_ids": rows.pack_text_array(event.message_id for event in events),
            "types": rows.pack_text_array(event.event_type for event in events),
            "bodies": rows.pack_text_array(event.body for event in events),
        }
    )
    ids = {message_id: pk for pk, message_id in made}
    for event in events:
        event.pk = ids[event.message_id]
        event._state.adding = False
    return events


def _body(
    tenant: Tenant, user: UserRef, event_type: str, data: Mapping[str, object]
) -> str:
    return orjson.dumps(
        {
            "event_type": event_type,
            "data": data,
            "team_id": tenant.team_id,
            "user_id": user.user_uuid,
            "client_user_id": user.client_user_id,
        }
    ).decode()
