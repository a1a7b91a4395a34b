"""Store a page of pulled data, with the place where its pull continues."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from django.db import transaction

from portal.lib.errors import NotFound
from users.models import Connection
from users.operations.data.samples import SampleBatch, record_samples
from users.operations.data.summaries import SummaryBatch, record_summaries
from users.operations.pulling.reconciling import (
    DayKeys,
    find_summary_keys,
    read_sample_keys,
    reconcile_source_days,
)
from users.operations.pulling.streams import store_pulled_streams
from users.operations.sources.devices import DeviceDetails, record_device_details
from users.operations.sources.pulls import store_pull_position
from users.queries import lock_user
from users.states import ConnectionStatus
from users.wearables.readings import ElementsInvalid
from users.wearables.resources import ELEMENTS_MAX, derive_summary_id
from users.wearables.streams import STREAM_RESOURCE
from users.wearables.summaries import SLEEP, SLEEP_CYCLE, SUMMARIES
from users.wearables.timeseries import TIMESERIES
from users.wearables.timeseries.readings import SAMPLES_MAX

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from uuid import UUID

    from portal.lib.actor import Actor
    from users.gateways.base import PulledBatch, PulledPage
    from users.models import Pull, User

logger = logging.getLogger(__name__)

# By the name of contract 3.4, which a timeseries may have beside that of its path.
_TIMESERIES = {each.event_resource: each for each in TIMESERIES.values()}
# Keys of elements that say which day they are of, the first that is there.
_DAY_KEYS = (
    "calendar_date",
    "bedtime_stop",
    "session_end",
    "time_start",
    "start",
    "timestamp",
)


class ConnectionEnded(Exception):
    """The connection must not be read any more."""


@transaction.atomic
def store_pulled_page(
    *,
    connection: Connection,
    actor: Actor,
    pull: Pull,
    page: PulledPage,
    confirmed: frozenset[str] = frozenset(),
) -> frozenset[str]:
    """Store a page; return the keys of what the source may have removed.

    Those that are `confirmed` and still missing are removed. Raises: ConnectionEnded,
    also if it is paused or broken.
    """
    try:
        user = lock_user(connection.user)
    except NotFound:
        raise ConnectionEnded from None
    live = Connection.objects.for_tenant(user.tenant).live()
    if not live.filter(pk=connection.pk, status=ConnectionStatus.CONNECTED).exists():
        raise ConnectionEnded
    days: set[str] = set()
    found: DayKeys = {}
    for batch in page.batches:
        if batch.elements:
            days |= _days(batch)
            for day, keys in _store_batch(
                connection.provider, actor, pull, user, batch
            ).items():
                found.setdefault(day, set()).update(keys)
    # Of what was dropped or not understood nothing here tells that it is still there.
    is_all_stored = pull.resource not in SUMMARIES or sum(
        map(len, found.values())
    ) >= sum(len(batch.elements) for batch in page.batches)
    suspected = reconcile_source_days(
        connection=connection,
        user=user,
        actor=actor,
        resource=pull.resource,
        page=page,
        found=found,
        confirmed=confirmed if is_all_stored else frozenset(),
    )
    if not confirmed:
        pull.days_with_data = (pull.days_with_data or 0) + len(days)
        pull.save(update_fields=["days_with_data"])
        store_pull_position(pull=pull, position=page.position)
    return suspected if is_all_stored else frozenset()


def _store_batch(
    provider: str, actor: Actor, pull: Pull, user: User, batch: PulledBatch
) -> DayKeys:
    """Store a batch; return the keys of its elements by day."""
    device_id = _device_id(user, provider, batch)

    ids: list[UUID] = []

    def record(part: Sequence[dict[str, Any]]) -> None:
        if batch.resource == STREAM_RESOURCE:
            store_pulled_streams(
                user=user,
                actor=actor,
                provider=provider,
                recordings=part,
                source_type=batch.source_type,
                device_id=device_id,
                is_history=pull.is_history,
            )
        elif summary := SUMMARIES.get(batch.resource):
            recorded = record_summaries(
                user=user,
                actor=actor,
                resource=summary,
                batch=SummaryBatch(
                    provider, part, batch.source_type, batch.app_id, device_id
                ),
                is_history=pull.is_history,
            )
            ids.extend(recorded.ids)
        else:
            record_samples(
                user=user,
                actor=actor,
                resource=_TIMESERIES[batch.resource],
                batch=SampleBatch(
                    provider, part, batch.source_type, batch.app_id, device_id
                ),
                is_history=pull.is_history,
            )

    elements = batch.elements
    if batch.resource == SLEEP_CYCLE.slug:
        elements = [_link_to_sleep(each, user, provider) for each in elements]
    size = ELEMENTS_MAX if batch.resource in SUMMARIES else SAMPLES_MAX
    for first in range(0, len(elements), size):
        _record_readable(elements[first : first + size], record)
    if batch.resource in SUMMARIES:
        return find_summary_keys(user, ids)
    return {} if batch.resource == STREAM_RESOURCE else read_sample_keys(batch)


def _record_readable(
    elements: Sequence[dict[str, Any]],
    record: Callable[[Sequence[dict[str, Any]]], None],
) -> None:
    """Store elements in one call; invalid ones are skipped."""
    while elements:
        try:
            record(elements)
        except ElementsInvalid as invalid:
            # Faults are told up to a limit, so that there may be more.
            bad = {fault.loc[0] for fault in invalid.faults if fault.loc}
            logger.warning("skipped %s elements that are not valid", len(bad))
            elements = [
                each for at, each in enumerate(elements) if bad and at not in bad
            ]
        else:
            return


def _link_to_sleep(cycle: dict[str, Any], user: User, provider: str) -> dict[str, Any]:
    """Set the sleep of a sleep cycle: the one with the same ID at the source."""
    named = cycle.get("external_id")
    if named is None or cycle.get("sleep_id") is not None:
        return cycle
    key = f"external_id:{named}"
    return {
        **cycle,
        "sleep_id": str(derive_summary_id(user.uuid, provider, SLEEP.slug, key)),
    }


def _device_id(user: User, provider: str, batch: PulledBatch) -> UUID | None:
    if batch.device is None:
        return None
    return record_device_details(
        user=user,
        details=DeviceDetails(
            provider=provider,
            device_id=batch.device.device_id,
            source_type=batch.source_type,
            app_id=batch.app_id,
            device_manufacturer=batch.device.manufacturer,
            device_model=batch.device.model,
            device_version=batch.device.version,
        ),
    )


def _days(batch: PulledBatch) -> set[str]:
    """Return the days of elements, as their source writes them."""
    days = set()
    for element in batch.elements:
        told = next((element[key] for key in _DAY_KEYS if element.get(key)), "")
        days.add(str(told)[:10])
    return days - {""}
