"""Summaries of a file completed from what is stored of the same records."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from users.models import Summary
from users.wearables.readings import ElementsInvalid

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID

    from users.models import User
    from users.wearables.readings import Context
    from users.wearables.resources import SummaryReading, SummaryResource

    Source = tuple[str, str | None, UUID | None]

_EMPTY: tuple[Any, ...] = (None, "", [], {}, "unknown")
_DAY = timedelta(days=1)


def complete_readings(
    *,
    user: User,
    resource: SummaryResource,
    readings: Mapping[UUID, SummaryReading],
    context: Context,
) -> tuple[dict[UUID, SummaryReading], dict[UUID, Source]]:
    """Return readings that lose nothing stored, and the sources of the stored ones.

    A stored record of the same id keeps the values that the new one leaves empty. One
    without an external_id is the stored one of the same provider, kind, start and end
    (to the second) that has one: it fills what is empty there, as its values are
    coarser. Derived values are worked out again from both. What does not fit together
    leaves the stored record as it is. Source: Ours: exports leave out ids and values
    that the same provider's cloud gives.
    """
    days = {
        reading.place.calendar_date + each * _DAY
        for reading in readings.values()
        for each in (-1, 0, 1)
    }
    stored = Summary.objects.for_tenant(user.tenant).filter(
        user=user, kind=resource.slug, provider=context.provider
    )
    same = {row.pk: row for row in stored.filter(pk__in=readings)}
    named: dict[Any, list[Summary]] = defaultdict(list)
    for row in stored.filter(calendar_date__in=days):
        if row.raw.get("external_id") is not None:
            named[_times(row.starts_at, row.ends_at)].append(row)
    complete: dict[UUID, SummaryReading] = {}
    sources: dict[UUID, Source] = {}
    for id_, reading in readings.items():
        row = same.get(id_)
        merged = row and _merge(row.raw, reading.raw)
        if row is None and reading.raw.get("external_id") is None:
            alike = named[_times(reading.place.starts_at, reading.place.ends_at)]
            if len(alike) == 1:
                row = alike[0]
                merged = _merge(reading.raw, row.raw)
        if row is None:
            complete[id_] = reading
            continue
        sources[row.pk] = (row.source_type, row.app_id, row.device_id)
        complete[row.pk] = _read(resource, merged, row, context)
    return complete, sources


def _read(
    resource: SummaryResource, merged: object, row: Summary, context: Context
) -> SummaryReading:
    try:
        (reading,) = resource.read([merged], context)
    except ElementsInvalid:
        (reading,) = resource.read([row.raw], context)
    return reading


def _merge(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return `under` with the values of `over` that are not empty."""
    merged = dict(under)
    for name, value in over.items():
        below = merged.get(name)
        if isinstance(value, dict) and isinstance(below, dict):
            merged[name] = _merge(below, value)
        elif value not in _EMPTY or name not in merged:
            merged[name] = value
    return merged


def _times(start: datetime, end: datetime | None) -> tuple[datetime, datetime | None]:
    return start.replace(microsecond=0), end and end.replace(microsecond=0)
