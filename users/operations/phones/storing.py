"""Store what a phone's batch holds, through the operations of a push."""

from __future__ import annotations

from collections import defaultdict
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from users.operations.data.completing import find_same_time
from users.operations.data.daily_totals import (
    TOTALED,
    record_day_values,
    update_daily_totals,
)
from users.operations.data.samples import SampleBatch, record_samples
from users.operations.data.streams import record_workout_stream
from users.operations.data.summaries import SummaryBatch, record_summaries
from users.operations.phones.devices import DeviceIds
from users.operations.phones.pieces import store_pieces
from users.states.imports import DropReason
from users.wearables.phones.records import Where
from users.wearables.readings import ElementsInvalid
from users.wearables.resources import ELEMENTS_MAX
from users.wearables.streams import STREAM_RESOURCE, StreamInvalid
from users.wearables.summaries import SUMMARIES, WORKOUTS
from users.wearables.timeseries import TIMESERIES

if TYPE_CHECKING:
    from collections.abc import Callable

    from portal.lib.actor import Actor
    from users.models import User
    from users.operations.phones.devices import Counts
    from users.wearables.formats.rows import Origin
    from users.wearables.phones.records import ReadBatch, Rows

# Ours: a transaction of some 100 ms, so that others wait for no phone.
_SAMPLES_AT_ONCE = 2500
_DAY = timedelta(days=1)


def store_batch(*, user: User, actor: Actor, batch: ReadBatch) -> Counts:
    """Store a read batch of a live user; return counts by resource.

    What cannot be stored is added to the batch's refusals. Each part is a transaction
    of its own; a second run finds what is stored unchanged. Raises: not_found. Source:
    Ours: the rules of values, identities and events are those of a push.
    """
    counts: Counts = defaultdict(
        lambda: {"created": 0, "updated": 0, "unchanged": 0, "dropped": 0}
    )
    devices = DeviceIds(user, batch.provider)
    for (slug, origin), rows in batch.samples.items():
        _store_samples(user, actor, batch, slug, origin, rows, devices, counts)
    for (slug, origin), rows in batch.summaries.items():
        _store_summaries(user, actor, batch, slug, origin, rows, devices, counts)
    _store_streams(user, actor, batch, counts)
    store_pieces(user=user, actor=actor, batch=batch, devices=devices, counts=counts)
    for (slug, day), values in sorted(batch.days.items()):
        _store_day(user, actor, batch, slug, day, values, counts)
    update_daily_totals(
        user=user, actor=actor, provider=batch.provider, days=_find_days(batch)
    )
    return {name: dict(each) for name, each in counts.items()}


def _store_samples(
    user: User,
    actor: Actor,
    batch: ReadBatch,
    slug: str,
    origin: Origin,
    rows: Rows,
    devices: DeviceIds,
    counts: Counts,
) -> None:
    resource = TIMESERIES[slug]

    def record(elements: list[Any]) -> None:
        recorded = record_samples(
            user=user,
            actor=actor,
            resource=resource,
            batch=SampleBatch(
                batch.provider,
                elements,
                origin.source_type,
                origin.app_id,
                devices.find(origin),
            ),
        )
        _count(
            counts[resource.event_resource],
            len(elements),
            recorded.created,
            recorded.updated,
            recorded.dropped,
        )

    _record_valid(batch, rows, _SAMPLES_AT_ONCE, record)


def _store_summaries(
    user: User,
    actor: Actor,
    batch: ReadBatch,
    slug: str,
    origin: Origin,
    rows: Rows,
    devices: DeviceIds,
    counts: Counts,
) -> None:
    def record(elements: list[Any]) -> None:
        recorded = record_summaries(
            user=user,
            actor=actor,
            resource=SUMMARIES[slug],
            batch=SummaryBatch(
                batch.provider,
                elements,
                origin.source_type,
                origin.app_id,
                devices.find(origin),
            ),
        )
        _count(
            counts[slug],
            len(elements),
            recorded.created,
            recorded.updated,
            recorded.dropped,
        )

    _record_valid(batch, rows, ELEMENTS_MAX, record)


def _store_streams(user: User, actor: Actor, batch: ReadBatch, counts: Counts) -> None:
    """Store the streams of workouts that are stored; others were refused or dropped."""
    for _origin, start, end, body in batch.streams:
        workout = find_same_time(
            user=user, resource=WORKOUTS, provider=batch.provider, start=start, end=end
        )
        if workout is None:
            continue
        workout.user = user
        try:
            is_new = record_workout_stream(workout=workout, actor=actor, body=body)
        except StreamInvalid:
            continue
        _count(counts[STREAM_RESOURCE], 1, int(is_new is True), int(is_new is False), 0)


def _record_valid(
    batch: ReadBatch, rows: Rows, size: int, record: Callable[[list[Any]], None]
) -> None:
    """Store elements in parts; refuse invalid ones, each with its reason."""
    for first in range(0, len(rows.elements), size):
        elements = rows.elements[first : first + size]
        places = rows.places[first : first + size]
        while elements:
            try:
                record(elements)
            except ElementsInvalid as invalid:
                # Of more faults than are named the rest is found in the next round.
                bad = {
                    each.loc[0]: each.type
                    for each in reversed(invalid.faults)
                    if each.loc
                }
                if not bad:
                    bad = dict.fromkeys(range(len(elements)), DropReason.BAD_VALUE)
                for index, reason in sorted(bad.items()):
                    batch.refuse(*places[int(index)], str(reason))
                left = [at for at in range(len(elements)) if at not in bad]
                elements = [elements[at] for at in left]
                places = [places[at] for at in left]
            else:
                break


def _store_day(
    user: User,
    actor: Actor,
    batch: ReadBatch,
    slug: str,
    day: str,
    values: dict[str, Any],
    counts: Counts,
) -> None:
    try:
        recorded = record_day_values(
            user=user,
            actor=actor,
            provider=batch.provider,
            slug=slug,
            day=day,
            values=values,
        )
    except ElementsInvalid as invalid:
        where = Where(slug, 0, day)
        batch.refuse(where, slug, str(invalid.faults[0].type))
        return
    _count(counts[slug], 1, recorded.created, recorded.updated, recorded.dropped)


def _find_days(batch: ReadBatch) -> set[date]:
    """Return the days that samples of movement touch, and those beside them."""
    days: set[date] = set()
    for (slug, _origin), rows in batch.samples.items():
        if slug in TOTALED:
            texts = set()
            for each in rows.elements:
                if isinstance(each, dict):
                    for key in ("start", "end", "timestamp"):
                        texts.add(str(each.get(key) or "")[:10])
            for text in texts:
                days |= _around(text)
    return days


def _around(text: str) -> set[date]:
    try:
        day = date.fromisoformat(text)
        return {day - _DAY, day, day + _DAY}
    except (ValueError, OverflowError):
        return set()


def _count(
    counts: dict[str, int], given: int, created: int, updated: int, dropped: int
) -> None:
    counts["created"] += created
    counts["updated"] += updated
    counts["dropped"] += dropped
    counts["unchanged"] += given - created - updated - dropped
