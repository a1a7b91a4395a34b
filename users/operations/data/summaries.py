"""Summaries: store a batch of one kind, and delete old arrivals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson
from django.db import transaction
from django.utils import timezone

from accounts.operations.audit.entries import record_change
from accounts.webhooks.operations import emit_events
from portal.lib.database import rows
from users.analysis.workout_zones import fill_missing_workout_zones
from users.models import Arrival, Summary
from users.models.sources.arrival import ARRIVAL_RETENTION
from users.operations.data.completing import complete_readings
from users.operations.data.sleep_links import link_cycles_to_sleeps, relink_cycles
from users.operations.sources.devices import record_device_seen
from users.operations.sources.sources import (
    ensure_source_connected,
    record_data_arrival,
)
from users.operations.users.fallbacks import adopt_birth_date
from users.queries import SummaryRow, lock_user
from users.states import SourceType
from users.wearables.readings import build_batch_parsing_context
from users.wearables.summaries import PROFILE, SLEEP, SLEEP_CYCLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime
    from uuid import UUID

    from portal.lib.actor import Actor
    from users.models import User
    from users.operations.data.completing import Completed
    from users.wearables.resources import SummaryReading, SummaryResource

# One statement for any number of rows. Equal rows are left alone: no dead tuple, and
# what it returns is exactly what changed (performance 2a).
_UPSERT = """
    INSERT INTO users_summary AS kept (
        id, tenant_id, user_id, kind, provider, source_type, app_id, device_id,
        calendar_date, last_date, starts_at, ends_at, body, raw, layers, version,
        created_at, updated_at
    )
    SELECT id, %s, %s, %s, %s, source_type, app_id, device_id,
        calendar_date, last_date, starts_at, ends_at, body::jsonb, raw::jsonb,
        layers::jsonb, 1, %s::timestamptz, %s::timestamptz
    FROM unnest(
        %s::uuid[], %s::date[], %s::date[], %s::timestamptz[], %s::timestamptz[],
        %s::text[], %s::text[], %s::text[], %s::text[], %s::text[], %s::uuid[]
    ) AS given (
        id, calendar_date, last_date, starts_at, ends_at, body, raw, layers,
        source_type, app_id, device_id
    )
    ON CONFLICT (id) DO UPDATE SET
        source_type = excluded.source_type, app_id = excluded.app_id,
        device_id = excluded.device_id, calendar_date = excluded.calendar_date,
        last_date = excluded.last_date, starts_at = excluded.starts_at,
        ends_at = excluded.ends_at, body = excluded.body, raw = excluded.raw,
        layers = excluded.layers, version = kept.version + 1,
        updated_at = excluded.updated_at
    WHERE (kept.body, kept.source_type, kept.app_id, kept.device_id)
        IS DISTINCT FROM
        (excluded.body, excluded.source_type, excluded.app_id, excluded.device_id)
    RETURNING id, version, created_at, updated_at
"""


@dataclass(frozen=True, slots=True)
class SummaryBatch:
    """Summaries of one kind from one source; `elements` as sent (contract 5.4).

    `provider` is a slug that can be connected.
    """

    provider: str
    elements: Sequence[object]
    source_type: str = SourceType.UNKNOWN
    app_id: str | None = None
    device_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Recorded:
    """Result of a batch; unchanged summaries are not counted.

    `ids` are of all that are stored, in the order they came.
    """

    created: int
    updated: int
    dropped: int
    ids: tuple[UUID, ...]


@transaction.atomic
def record_summaries(
    *,
    user: User,
    actor: Actor,
    resource: SummaryResource,
    batch: SummaryBatch,
    is_history: bool = False,
    is_file: bool = False,
) -> Recorded:
    """Store a batch of summaries of a live user; the latest version of an ID wins.

    Of elements with one id the last counts, once. Those dated outside of the ingestion
    bounds are dropped. The first data of a source connects it, and mends a broken
    connection. Each summary that is new or changed emits one event, by start; of
    `is_history` none: whoever brings a source's past tells of it once, when it is whole
    (historical.data.*). What a file tells (`is_file`) and what the live source tells of
    one record complete each other, see complete_readings. A cycle that came before its
    sleep then names it, with an update, see relink_cycles. A missing
    fallback birth date is a profile's, see adopt_birth_date. Raises: ElementsInvalid
    (422, nothing stored); provider_unknown; not_found. Source: Spec 6.2; Contract 2.3,
    5.4, 8.2; Ours: a dropped element has no id in the answer.
    """
    now = timezone.now()
    context = build_batch_parsing_context(user=user, provider=batch.provider, now=now)
    read = resource.read(batch.elements, context)
    user = lock_user(user)
    # The user is locked, so that nobody writes between this read and the upsert.
    completed = complete_readings(
        user=user,
        resource=resource,
        readings={reading.id: reading for reading in read},
        context=context,
        is_file=is_file,
    )
    latest = completed.readings
    if resource is SLEEP_CYCLE:
        latest = link_cycles_to_sleeps(
            user=user, provider=batch.provider, read=read, readings=latest
        )
    kept = {id_: each for id_, each in latest.items() if _is_within(user, each)}
    changed: list[tuple[bool, SummaryRow]] = []
    if kept:
        ensure_source_connected(
            user=user,
            actor=actor,
            provider=batch.provider,
            is_history=is_history,
        )
        record_device_seen(
            user=user,
            provider=batch.provider,
            source_type=str(batch.source_type),
            app_id=batch.app_id,
            device_id=batch.device_id,
        )
        changed = _store(user, resource, batch, kept, now, completed)
        if resource is PROFILE:
            adopt_birth_date(
                user=user,
                actor=actor,
                provider=batch.provider,
                readings=kept.values(),
                now=now,
            )
    relinked: list[SummaryRow] = []
    if changed and resource is SLEEP:
        relinked = relink_cycles(
            user=user, provider=batch.provider, sleeps=kept.values(), now=now
        )
    starts = [each.place.starts_at for each in kept.values()]
    recorded = Recorded(
        created=sum(is_new for is_new, _ in changed),
        updated=sum(not is_new for is_new, _ in changed),
        dropped=len(latest) - len(kept),
        ids=tuple(kept),
    )
    record_data_arrival(
        user=user,
        provider=batch.provider,
        resource=resource.slug,
        at=now,
        received=len(batch.elements),
        created=recorded.created,
        updated=recorded.updated,
        dropped=recorded.dropped,
        oldest=min(starts, default=None),
        newest=max(starts, default=None),
    )
    if changed:
        record_change(
            tenant=user.tenant,
            actor=actor,
            verb="record_summaries",
            subject=resource.slug,
            subject_id=batch.provider,
            user_uuid=user.uuid,
            changes={"created": recorded.created, "updated": recorded.updated},
        )
        if not is_history:
            emit_events(
                tenant=user.tenant,
                user=user.ref,
                messages=[
                    (resource.event_type(is_new=is_new), resource.event(user.uuid, row))
                    for is_new, row in changed
                ]
                + [
                    (
                        SLEEP_CYCLE.event_type(is_new=False),
                        SLEEP_CYCLE.event(user.uuid, row),
                    )
                    for row in relinked
                ],
            )
    return recorded


def delete_old_arrivals() -> int:
    """Delete arrivals older than ARRIVAL_RETENTION; return how many.

    Over all tenants.
    """
    old = Arrival.unscoped.filter(at__lt=timezone.now() - ARRIVAL_RETENTION)
    removed, _ = old.delete()
    return removed


def _is_within(user: User, reading: SummaryReading) -> bool:
    """Return whether any of the summary's days lies in the ingestion bounds."""
    start, end = user.ingestion_start, user.ingestion_end
    place = reading.place
    return not (start and place.last_date < start) and not (
        end and place.calendar_date > end
    )


def _store(
    user: User,
    resource: SummaryResource,
    batch: SummaryBatch,
    kept: dict[UUID, SummaryReading],
    now: datetime,
    completed: Completed,
) -> list[tuple[bool, SummaryRow]]:
    """Upsert summaries; return the changed ones by start, and whether each is new."""
    source = (str(batch.source_type), batch.app_id, batch.device_id)
    sources = {id_: completed.sources.get(id_, source) for id_ in kept}
    readings = sorted(kept.values(), key=lambda each: (each.place.starts_at, each.id))
    columns: list[list[Any]] = [
        [each.id for each in readings],
        [each.place.calendar_date for each in readings],
        [each.place.last_date for each in readings],
        [each.place.starts_at for each in readings],
        [each.place.ends_at for each in readings],
        [orjson.dumps(each.body).decode() for each in readings],
        [orjson.dumps(each.raw).decode() for each in readings],
        [_json_or_none(completed.layers.get(each.id)) for each in readings],
        *([sources[each.id][at] for each in readings] for at in range(3)),
    ]
    found = rows.fetch_rows(
        _UPSERT,
        [
            *(user.tenant_id, user.pk, resource.slug, batch.provider),
            *(now, now, *columns),
        ],
    )
    written = {id_: rest for id_, *rest in found}
    _store_layers(completed, kept.keys() - written.keys())
    changed = [
        SummaryRow(
            each.id,
            batch.provider,
            *sources[each.id],
            each.body,
            *written[each.id][1:],
        )
        for each in readings
        if each.id in written
    ]
    return [
        (written[row.id][0] == 1, row)
        for row in fill_missing_workout_zones(
            user=user, resource=resource, rows=changed
        )
    ]


def _store_layers(completed: Completed, ids: Iterable[UUID]) -> None:
    """Store elements of a file and a live source that changed no value."""
    changed = []
    for id_ in ids:
        row, layers = completed.stored.get(id_), completed.layers.get(id_)
        if row is not None and row.layers != layers:
            row.layers, row.raw = layers, completed.readings[id_].raw
            changed.append(row)
    if changed:
        Summary.objects.for_tenant(changed[0].tenant).bulk_update(
            changed, ["layers", "raw"]
        )


def _json_or_none(value: object) -> str | None:
    return None if value is None else orjson.dumps(value).decode()
