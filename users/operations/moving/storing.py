"""Storing what another platform had: connections that need consent, and elements."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from users.gateways.moving.base import ResourceNames
from users.models import Connection, Supply
from users.operations.data.samples import SampleBatch, record_samples
from users.operations.data.summaries import SummaryBatch, record_summaries
from users.operations.sources.connections import (
    add_connection_timeline_entry,
    record_source_audit_entry,
)
from users.queries import lock_user
from users.states import ConnectionFault, ConnectionStatus, EntryKind
from users.wearables.providers import PROVIDERS
from users.wearables.readings import ElementsInvalid
from users.wearables.summaries import SUMMARIES
from users.wearables.timeseries import TIMESERIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from portal.lib.actor import Actor
    from users.gateways.moving.base import MovedConnection, MovedPart
    from users.models import MovedUser, User

# What one batch of a resource takes (contract 5.4).
_SAMPLES, _SUMMARIES = 10_000, 500
# The nearest fault of contract 2.4: no permission here, until the user gives it.
NEEDS_CONSENT = ConnectionFault.REQUIRED_SCOPES_NOT_GRANTED
RESOURCES = ResourceNames(
    {slug: each.key for slug, each in SUMMARIES.items()}, tuple(TIMESERIES)
)
UNKNOWN_PROVIDER = "unknown_provider"
INVALID = "invalid_element"
OUTSIDE = "outside_of_ingestion"


@transaction.atomic
def store_moved_connections(
    *,
    user: User,
    actor: Actor,
    platform: str,
    connections: Iterable[MovedConnection],
) -> None:
    """Store a user's live sources as ones whose user has to consent again.

    Tokens stay with the platform's application. Nothing is announced, and what is
    imported mends none. A source that the user has here already stays as it is.
    """
    user = lock_user(user)
    for each in connections:
        if each.is_live:
            _connect_broken(user, actor, platform, each.provider, each.external_user_id)


def store_moved_part(
    *, moved: MovedUser, actor: Actor, part: MovedPart
) -> tuple[int, Counter[str]]:
    """Store elements without an event; return how many, and how many not, by rule.

    The caller locked the user, and saves `moved.held_sources`. What was stored before
    is counted as stored. An element that breaks a rule of its resource is left out
    alone.
    """
    skipped: Counter[str] = Counter()
    elements = part.elements
    if part.provider not in PROVIDERS:
        return 0, Counter({UNKNOWN_PROVIDER: len(elements)})
    if _connect_broken(moved.user, actor, moved.platform, part.provider):
        moved.held_sources = [*moved.held_sources, part.provider]
    size = _SAMPLES if part.is_samples else _SUMMARIES
    stored = 0
    for first in range(0, len(elements), size):
        left = list(elements[first : first + size])
        while left:
            try:
                dropped = _record(moved.user, actor, part, left)
            except ElementsInvalid as invalid:
                at_fault = {fault.loc[0] for fault in invalid.faults}
                skipped[INVALID] += len(at_fault)
                left = [e for index, e in enumerate(left) if index not in at_fault]
                continue
            stored += len(left) - dropped
            skipped[OUTSIDE] += dropped
            break
    return stored, +skipped


@transaction.atomic
def end_held_sources(*, moved: MovedUser, actor: Actor) -> None:
    """End sources that were connected for their data alone, unless they work by now.

    The caller locked the user.
    """
    mine = Connection.objects.for_tenant(moved.tenant).live()
    held = mine.filter(
        user=moved.user,
        provider__in=moved.held_sources,
        status=ConnectionStatus.ERROR,
    )
    for connection in held.order_by("pk"):
        connection.disconnected_at = timezone.now()
        connection.save(update_fields=["disconnected_at"])
        add_connection_timeline_entry(
            connection=connection, actor=actor, kind=EntryKind.DISCONNECTED
        )


def find_moved_range(*, connection: Connection) -> list[tuple[str, datetime, datetime]]:
    """Return the resources of a source with the first and last time stored."""
    supplies = Supply.objects.for_tenant(connection.tenant).filter(
        user=connection.user, provider=connection.provider, oldest_data__isnull=False
    )
    return [
        (each.resource, each.oldest_data, each.newest_data or each.oldest_data)
        for each in supplies.order_by("resource")
    ]


def _connect_broken(
    user: User, actor: Actor, platform: str, provider: str, external_user_id: str = ""
) -> bool:
    """Store a source that needs consent; return whether it was not here."""
    mine = Connection.objects.for_tenant(user.tenant).live()
    if provider not in PROVIDERS or mine.filter(user=user, provider=provider).exists():
        return False
    connection = Connection(
        tenant=user.tenant,
        user=user,
        provider=provider,
        status=ConnectionStatus.ERROR,
        error_type=NEEDS_CONSENT,
        error_message=f"Moved in from {platform}; the user has to connect it again.",
        errored_at=timezone.now(),
        external_user_id=external_user_id,
    )
    connection.save(force_insert=True)
    record_source_audit_entry(
        user=user, actor=actor, verb="move_source_in", provider=provider
    )
    add_connection_timeline_entry(
        connection=connection,
        actor=actor,
        kind=EntryKind.FAILED,
        detail=NEEDS_CONSENT,
    )
    return True


def _record(
    user: User, actor: Actor, part: MovedPart, elements: Sequence[dict[str, Any]]
) -> int:
    """Record a batch and return how many were outside of the ingestion bounds."""
    if part.is_samples:
        return record_samples(
            user=user,
            actor=actor,
            resource=TIMESERIES[part.resource],
            batch=SampleBatch(part.provider, elements, part.source_type),
            is_history=True,
        ).dropped
    return record_summaries(
        user=user,
        actor=actor,
        resource=SUMMARIES[part.resource],
        batch=SummaryBatch(part.provider, elements, part.source_type),
        is_history=True,
        # So that what the source tells of it once it is connected is no second record.
        is_file=True,
    ).dropped
