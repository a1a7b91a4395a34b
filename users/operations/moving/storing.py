"""Storing what another platform had: connections that need consent, and elements."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from accounts.declarations.hooks import list_app_hooks
from users.gateways.moving.base import ORDERS, WORKOUT_STREAMS, ResourceNames
from users.models import Connection, Summary, Supply
from users.operations.data.samples import SampleBatch, record_samples
from users.operations.data.streams import record_workout_stream
from users.operations.data.summaries import SummaryBatch, record_summaries
from users.operations.sources.connections import (
    add_connection_timeline_entry,
    record_source_audit_entry,
)
from users.queries import lock_user
from users.states import ConnectionFault, ConnectionStatus, EntryKind
from users.wearables.providers import PROVIDERS
from users.wearables.readings import ElementsInvalid
from users.wearables.streams import STREAM_RESOURCE, StreamInvalid
from users.wearables.summaries import SUMMARIES, WORKOUTS
from users.wearables.timeseries import TIMESERIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from django.db.models import QuerySet

    from portal.lib.actor import Actor
    from users.gateways.moving.base import MovedConnection, MovedPart
    from users.models import MovedUser, User
    from users.operations.data.samples import RecordedSamples
    from users.operations.data.summaries import Recorded

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
WORKOUT_MISSING = "workout_not_here"


@dataclass(slots=True)
class StoredPart:
    """How many elements are stored, new or changed, and by rule left out."""

    stored: int = 0
    changed: int = 0
    skipped: Counter[str] = field(default_factory=Counter)


@transaction.atomic
def store_moved_connections(
    *, moved: MovedUser, actor: Actor, connections: Iterable[MovedConnection]
) -> None:
    """Store a user's live sources as ones whose user has to consent again.

    Tokens stay with the platform's application. Nothing is announced, and what is
    imported mends none. A source that the user has here already stays as it is. One
    that was stored so earlier, and has been disconnected there since, is ended.
    """
    user, platform = lock_user(moved.user), moved.platform
    live = {each.provider: each for each in connections if each.is_live}
    for each in live.values():
        _connect_broken(user, actor, platform, each.provider, each.external_user_id)
    _end_connections(
        Connection.objects.for_tenant(user.tenant)
        .live()
        .filter(user=user, error_message=_say_moved(platform))
        .exclude(provider__in=[*live, *moved.held_sources]),
        actor,
    )


def store_moved_part(*, moved: MovedUser, actor: Actor, part: MovedPart) -> StoredPart:
    """Store elements without an event.

    The caller locked the user, and saves `moved.held_sources`. What was stored before
    is counted as stored. An element that breaks a rule of its resource is left out
    alone.
    """
    if part.resource == ORDERS:
        return _store_orders(moved, actor, part)
    if part.provider not in PROVIDERS:
        return StoredPart(0, 0, Counter({UNKNOWN_PROVIDER: len(part.elements)}))
    # Of a source without a connection nothing is left where its data brought nothing.
    before = transaction.savepoint()
    is_held = _connect_broken(moved.user, actor, moved.platform, part.provider)
    if part.resource == WORKOUT_STREAMS:
        stored = _store_streams(moved, actor, part)
    else:
        stored = _store_elements(moved, actor, part)
    if is_held and not stored.changed:
        transaction.savepoint_rollback(before)
        return stored
    transaction.savepoint_commit(before)
    if is_held and part.provider not in moved.held_sources:
        moved.held_sources = [*moved.held_sources, part.provider]
    return stored


def name_event_resource(resource: str) -> str:
    """Return the name in events of a resource of a part."""
    if resource == WORKOUT_STREAMS:
        return STREAM_RESOURCE
    series, summary = TIMESERIES.get(resource), SUMMARIES.get(resource)
    return series.event_resource if series else summary.slug if summary else resource


def _store_elements(moved: MovedUser, actor: Actor, part: MovedPart) -> StoredPart:
    result = StoredPart()
    size = _SAMPLES if part.is_samples else _SUMMARIES
    for first in range(0, len(part.elements), size):
        left = list(part.elements[first : first + size])
        while left:
            try:
                dropped, changed = _record(moved.user, actor, part, left)
            except ElementsInvalid as invalid:
                at_fault = {fault.loc[0] for fault in invalid.faults}
                result.skipped[INVALID] += len(at_fault)
                left = [e for index, e in enumerate(left) if index not in at_fault]
                continue
            result.stored += len(left) - dropped
            result.changed += changed
            if dropped:
                result.skipped[OUTSIDE] += dropped
            break
    return result


def _store_streams(moved: MovedUser, actor: Actor, part: MovedPart) -> StoredPart:
    """Store streams of workouts that are here, found by their start and their ID."""
    result = StoredPart()
    for element in part.elements:
        theirs = element["workout"]
        rows = Summary.objects.for_tenant(moved.tenant).filter(
            user=moved.user,
            kind=WORKOUTS.slug,
            provider=part.provider,
            starts_at=datetime.fromisoformat(theirs["time_start"]),
        )
        named = (theirs.get("provider_id"), None)
        found = [each for each in rows if each.body.get("provider_id") in named]
        if not found:
            result.skipped[WORKOUT_MISSING] += 1
            continue
        workout = found[0]
        workout.user = moved.user
        try:
            is_new = record_workout_stream(
                workout=workout, actor=actor, body=element["stream"], is_history=True
            )
        except StreamInvalid:
            result.skipped[INVALID] += 1
            continue
        result.stored += 1
        result.changed += is_new is not None
    return result


def _store_orders(moved: MovedUser, actor: Actor, part: MovedPart) -> StoredPart:
    """Let the app of lab orders keep them as history."""
    result = StoredPart()
    for hooks in list_app_hooks():
        for keep in hooks.moved_order_keepers:
            stored, changed, skipped = keep(
                moved.tenant, actor, moved.user.uuid, moved.platform, part.elements
            )
            result.stored += stored
            result.changed += changed
            result.skipped += skipped
    return result


@transaction.atomic
def end_held_sources(*, moved: MovedUser, actor: Actor) -> None:
    """End sources that were connected for their data alone, unless they work by now.

    The caller locked the user.
    """
    mine = Connection.objects.for_tenant(moved.tenant).live()
    held = mine.filter(user=moved.user, provider__in=moved.held_sources)
    _end_connections(held, actor)


def _end_connections(rows: QuerySet[Connection], actor: Actor) -> None:
    """End sources that do not work."""
    for connection in rows.filter(status=ConnectionStatus.ERROR).order_by("pk"):
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
        error_message=_say_moved(platform),
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


def _say_moved(platform: str) -> str:
    return f"Moved in from {platform}; the user has to connect it again."


def _record(
    user: User, actor: Actor, part: MovedPart, elements: Sequence[dict[str, Any]]
) -> tuple[int, int]:
    """Record a batch; return how many were out of bounds, and how many changed."""
    recorded: RecordedSamples | Recorded
    if part.is_samples:
        recorded = record_samples(
            user=user,
            actor=actor,
            resource=TIMESERIES[part.resource],
            batch=SampleBatch(part.provider, elements, part.source_type),
            is_history=True,
        )
    else:
        recorded = record_summaries(
            user=user,
            actor=actor,
            resource=SUMMARIES[part.resource],
            batch=SummaryBatch(part.provider, elements, part.source_type),
            is_history=True,
            # So that what the source sends of it once connected is no second record.
            is_file=True,
        )
    return recorded.dropped, recorded.created + recorded.updated
