"""Samples of timeseries: take in a batch of one resource."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from itertools import islice, repeat
from operator import lt
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from django.db import transaction
from django.utils import timezone

from accounts.operations.audit.entries import record_change
from accounts.webhooks.operations import emit_events
from users.operations.sources.devices import record_device_seen
from users.operations.sources.sources import (
    ensure_source_connected,
    record_data_arrival,
)
from users.queries import lock_user
from users.states import SourceType
from users.store.columns import SampleColumns
from users.store.dictionaries import (
    OriginKey,
    get_or_create_feed_number,
    get_or_create_origin_numbers,
    get_or_create_series_numbers,
)
from users.store.samples import get_sample_store
from users.wearables.payloads import build_event_source
from users.wearables.providers import PROVIDERS
from users.wearables.readings import build_batch_parsing_context
from users.wearables.summaries.places import get_local_date
from users.wearables.timeseries import Group
from users.wearables.timeseries.readings import (
    SampleReadings,
    Workout,
    parse_sample_batch,
)
from users.wearables.timeseries.shapes import (
    build_payloads_of_one_series,
    build_sample_event,
    build_sample_payloads,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from uuid import UUID

    from portal.lib.actor import Actor
    from users.models import User
    from users.wearables.timeseries import TimeseriesResource

T = TypeVar("T")

# Ours: some 200 kB of JSON, which any receiver takes; ten events are the most a call
# makes of its new samples.
EVENT_SAMPLES_MAX = 1000


@dataclass(frozen=True, slots=True)
class SampleBatch:
    """What one source sends of one resource; `elements` as they came (contract 5.4).

    `provider` is a slug that can be connected. `workout_id` and `sport` hold for
    samples that name none of their own, of resources that have them.
    """

    provider: str
    elements: Sequence[object]
    source_type: str = SourceType.UNKNOWN
    app_id: str | None = None
    device_id: UUID | None = None
    workout_id: UUID | None = None
    sport: str | None = None


@dataclass(frozen=True, slots=True)
class RecordedSamples:
    """Result of a batch; unchanged samples are not counted."""

    created: int
    updated: int
    dropped: int


@transaction.atomic
def record_samples(
    *,
    user: User,
    actor: Actor,
    resource: TimeseriesResource,
    batch: SampleBatch,
    is_history: bool = False,
) -> RecordedSamples:
    """Store a batch of samples of a live user; the latest value of a time wins.

    Of samples with one identity (resource with its required type, provider, source
    type, timestamp) the last counts, once. Those dated outside of the ingestion bounds,
    by their own offset, are dropped. The first data of a source connects it, and mends
    a broken connection. New samples make one event, changed ones another, each in parts
    of EVENT_SAMPLES_MAX, by time; of `is_history` none: whoever brings a source's past
    tells of it once, when it is whole (historical.data.*). Raises: ElementsInvalid
    (422, nothing stored); provider_unknown; too_many_types; too_many_source_types;
    not_found. Source: Spec 2.4, 6.3; Contract 5.4, 8.2, 9.2, D21; Ours: events in
    parts, receivers have limits.
    """
    now = timezone.now()
    device_id = batch.device_id
    if _merges_devices(user, resource, batch):
        batch = replace(batch, device_id=None)
    stated = Workout(batch.workout_id, batch.sport)
    context = build_batch_parsing_context(user=user, provider=batch.provider, now=now)
    read = parse_sample_batch(resource, batch.elements, context, stated)
    user = lock_user(user)
    latest = _latest_indices(read)
    kept = _within_bounds(user, read, latest)
    changed = _Changed([], [])
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
            device_id=device_id,
        )
        changed = _store(user, resource, batch, _select_rows(read, kept))
    recorded = RecordedSamples(
        created=len(changed.created),
        updated=len(changed.updated),
        dropped=len(latest) - len(kept),
    )
    record_data_arrival(
        user=user,
        provider=batch.provider,
        resource=resource.event_resource,
        at=now,
        received=len(batch.elements),
        created=recorded.created,
        updated=recorded.updated,
        dropped=recorded.dropped,
        oldest=read.ts[kept[0]] if kept else None,
        newest=read.ts[kept[-1]] if kept else None,
    )
    if changed.created or changed.updated:
        record_change(
            tenant=user.tenant,
            actor=actor,
            verb="record_samples",
            subject=resource.event_resource,
            subject_id=batch.provider,
            user_uuid=user.uuid,
            changes={"created": recorded.created, "updated": recorded.updated},
        )
        if not is_history:
            emit_events(
                tenant=user.tenant,
                user=user.ref,
                messages=_messages(user, resource, batch, changed),
            )
    return recorded


def _merges_devices(
    user: User, resource: TimeseriesResource, batch: SampleBatch
) -> bool:
    """Return whether a batch's samples are stored without their device.

    Those of movement that a phone's hub of health data sends, unless the team keeps its
    devices apart; source types stay apart in any case. Source: Contract 9.2
    (sdk_per_device_activity_timeseries); Ours: the contract says no more of it.
    """
    if batch.device_id is None or resource.group is not Group.ACTIVITY:
        return False
    provider = PROVIDERS.get(batch.provider)
    return (
        provider is not None
        and provider.auth_type == "sdk"
        and not user.tenant.sdk_per_device_activity_timeseries
    )


class _Changed(NamedTuple):
    """New and changed samples as events list them, by time."""

    created: list[dict[str, Any]]
    updated: list[dict[str, Any]]


def _latest_indices(read: SampleReadings) -> list[int]:
    """Return the index of the last sample of each identity, by time."""
    ts = read.ts
    # As sources mostly send them: one type, one after the other.
    if len(set(read.types)) == 1 and all(map(lt, ts, islice(ts, 1, None))):
        return list(range(len(ts)))
    keys = zip(read.types, ts, strict=True)
    latest = dict(zip(keys, range(len(ts)), strict=True))
    return sorted(latest.values(), key=ts.__getitem__)


def _within_bounds(user: User, read: SampleReadings, indices: list[int]) -> list[int]:
    """Return the samples within the ingestion bounds, both days inclusive."""
    if user.ingestion_start is None and user.ingestion_end is None:
        return indices
    first = user.ingestion_start or date.min
    last = user.ingestion_end or date.max
    return [
        index
        for index in indices
        if first <= get_local_date(read.ts[index], read.tz_offset[index]) <= last
    ]


def _select_rows(read: SampleReadings, indices: list[int]) -> SampleReadings:
    """Return these samples in this order."""
    if indices == list(range(len(read.ts))):
        return read

    def take(column: list[T]) -> list[T]:
        return list(map(column.__getitem__, indices))

    return SampleReadings(
        ts=take(read.ts),
        tz_offset=take(read.tz_offset),
        duration=take(read.duration),
        value=take(read.value),
        types=take(read.types),
        workouts=take(read.workouts),
        extra={
            place: read.extra[index]
            for place, index in enumerate(indices)
            if index in read.extra
        },
    )


def _store(
    user: User, resource: TimeseriesResource, batch: SampleBatch, read: SampleReadings
) -> _Changed:
    feed = get_or_create_feed_number(
        tenant=user.tenant,
        provider=batch.provider,
        source_type=str(batch.source_type),
    )
    if resource.has_open_type:
        words = {word for word in read.types if word is not None}
        open_series = get_or_create_series_numbers(
            tenant=user.tenant, resource=resource.slug, types=words
        )
        types: dict[int, str | None] = {
            number: word for word, number in open_series.items()
        }
    else:
        types = resource.series
    series_of = {word: number for number, word in types.items()}
    origin_words = {
        workout: OriginKey(batch.app_id, batch.device_id, *workout)
        for workout in set(read.workouts)
    }
    origins = get_or_create_origin_numbers(user=user, origins=origin_words.values())
    origin_of = {workout: origins[words] for workout, words in origin_words.items()}
    columns = SampleColumns(
        series=_translate(series_of, read.types),
        ts=read.ts,
        value=read.value,
        tz_offset=read.tz_offset,
        duration=read.duration,
        origin=_translate(origin_of, read.workouts),
        extra=read.extra,
    )
    written = get_sample_store().write_batch(
        user_id=user.pk, feed=feed, columns=columns
    )
    return _Changed(
        *(
            _build_payloads(resource, columns, feed, types, indices)
            for indices in (written.created, written.updated)
        )
    )


def _translate(numbers: Mapping[Any, int], words: list[Any]) -> list[int]:
    """Return the number of each word, of which a batch has few different ones."""
    if len(numbers) == 1:
        return [*numbers.values()] * len(words)
    return list(map(numbers.__getitem__, words))


def _build_payloads(
    resource: TimeseriesResource,
    columns: SampleColumns,
    feed: int,
    types: Mapping[int, str | None],
    indices: list[int],
) -> list[dict[str, Any]]:
    """Return the samples of these indices as events have them."""
    if not indices:
        return []
    parts: list[list[Any]] = [
        column
        if len(indices) == len(columns.ts)
        else list(map(column.__getitem__, indices))
        for column in (
            columns.ts,
            columns.value,
            columns.tz_offset,
            columns.duration,
            columns.origin,
            columns.series,
        )
    ]
    ts, value, tz_offset, duration, origin, series = parts
    if not columns.extra and series.count(series[0]) == len(series):
        own = (duration,) if resource.is_interval else ()
        return build_payloads_of_one_series(
            resource,
            zip(ts, value, tz_offset, *own, origin, strict=True),
            types[series[0]],
            durations=duration,
        )
    extras = map(columns.extra.get, indices)
    rows = zip(
        ts,
        series,
        repeat(feed),
        value,
        tz_offset,
        duration,
        origin,
        extras,
        strict=False,  # one of them has no end
    )
    return build_sample_payloads(resource, list(rows), types)


def _messages(
    user: User, resource: TimeseriesResource, batch: SampleBatch, changed: _Changed
) -> Iterator[tuple[str, dict[str, Any]]]:
    source = build_event_source(
        batch.provider, str(batch.source_type), batch.app_id, batch.device_id
    )
    for is_new, samples in ((True, changed.created), (False, changed.updated)):
        for first in range(0, len(samples), EVENT_SAMPLES_MAX):
            part = samples[first : first + EVENT_SAMPLES_MAX]
            yield (
                resource.event_type(is_new=is_new),
                build_sample_event(user.uuid, source, part),
            )
