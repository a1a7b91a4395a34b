"""Summaries that a file and a live source both give: one record, whichever came first.

A record that a file gave keeps in `layers` what files and what its live source, the
cloud or a phone, gave last. Its values are those of both, the live source's first.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.db.models import Q

from users.models import Summary
from users.wearables.readings import ElementsInvalid

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import date, datetime
    from uuid import UUID

    from users.models import User
    from users.wearables.readings import Context
    from users.wearables.resources import SummaryReading, SummaryResource

    Source = tuple[str, str | None, UUID | None]
    Layers = dict[str, Any]
    Times = tuple[datetime, datetime | None]

_EMPTY: tuple[Any, ...] = (None, "", [], {}, "unknown")
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Completed:
    """Readings by the ID of the row that each is stored in.

    `sources` are those of rows that keep theirs, `layers` those of records that a file
    gave, see Summary. `stored` are the rows that a reading was matched with, by ID.
    """

    readings: dict[UUID, SummaryReading]
    sources: dict[UUID, Source]
    layers: dict[UUID, Layers]
    stored: dict[UUID, Summary]


def complete_readings(
    *,
    user: User,
    resource: SummaryResource,
    readings: Mapping[UUID, SummaryReading],
    context: Context,
    is_file: bool,
) -> Completed:
    """Match readings with stored records, and complete those that a file gave.

    A reading belongs to the stored record that had its ID before. Otherwise, if one of
    the two is of a file and one of them has no external_id, to the one of the same
    start and end, to the second. Values of files fill what the live source leaves
    empty, and derived values are worked out again from both. If both do not fit
    together, the live source's stay as they are. The order of arrival does not matter.
    Source: Ours: exports leave out ids and values that the same provider's cloud gives.
    """
    found = _find_stored(user, resource, readings, context, is_file=is_file)
    matched = _match(found, readings, is_file=is_file)
    completed = Completed({}, {}, {}, {row.pk: row for row in matched.values()})
    for id_, reading in readings.items():
        row = matched.get(id_)
        whole = reading
        if row is not None:
            layers = dict(row.layers or {"file": None, "live": row.raw, "ids": []})
            layers["ids"] = sorted({*layers["ids"], str(id_)} - {str(row.pk)})
            if is_file:
                layers["file"] = _merge(layers["file"] or {}, reading.raw)
            else:
                layers["live"] = reading.raw
            id_ = row.pk
            completed.layers[id_] = layers
            whole = replace(_read(resource, layers, reading, context), id=id_)
            if is_file and layers["live"] is not None:
                completed.sources[id_] = (row.source_type, row.app_id, row.device_id)
        elif is_file:
            completed.layers[id_] = {"file": reading.raw, "live": None, "ids": []}
        completed.readings[id_] = whole
    return completed


def find_same_time(
    *,
    user: User,
    resource: SummaryResource,
    provider: str,
    start: datetime,
    end: datetime,
) -> Summary | None:
    """Return the one stored record of a source with this start and end."""
    rows = Summary.objects.for_tenant(user.tenant).filter(
        user=user,
        kind=resource.slug,
        provider=provider,
        calendar_date__range=(start.date() - _DAY, end.date() + _DAY),
    )
    times = _times(start, end)
    alike = [row for row in rows if _times(row.starts_at, row.ends_at) == times]
    return alike[0] if len(alike) == 1 else None


def _find_stored(
    user: User,
    resource: SummaryResource,
    readings: Mapping[UUID, SummaryReading],
    context: Context,
    *,
    is_file: bool,
) -> list[Summary]:
    """Return stored records that readings can belong to.

    A live source's are its own by their ID, so that only those of files are read.
    """
    days: set[date] = {
        reading.place.calendar_date + each * _DAY
        for reading in readings.values()
        for each in (-1, 0, 1)
    }
    rows = Summary.objects.for_tenant(user.tenant).filter(
        Q(pk__in=readings) | Q(calendar_date__in=days),
        user=user,
        kind=resource.slug,
        provider=context.provider,
    )
    return list(rows if is_file else rows.filter(layers__isnull=False))


def _match(
    rows: Iterable[Summary],
    readings: Mapping[UUID, SummaryReading],
    *,
    is_file: bool,
) -> dict[UUID, Summary]:
    """Return the stored record of each reading that has one, by the reading's ID."""
    by_id = {each: row for row in rows for each in (row.layers or {}).get("ids", ())}
    by_id |= {str(row.pk): row for row in rows}
    matched = {id_: by_id[str(id_)] for id_ in readings if str(id_) in by_id}
    taken = {row.pk for row in matched.values()}
    alike: dict[Times, list[Summary]] = defaultdict(list)
    # The same one is found however the database orders them.
    for row in sorted(rows, key=lambda each: (each.layers is None, each.pk)):
        alike[_times(row.starts_at, row.ends_at)].append(row)
    for id_ in sorted(readings.keys() - matched.keys()):
        reading = readings[id_]
        for row in alike[_times(reading.place.starts_at, reading.place.ends_at)]:
            has_live = row.layers is None or row.layers["live"] is not None
            is_nameless = None in {_name(row.raw), _name(reading.raw)}
            if row.pk not in taken and has_live == is_file and is_nameless:
                matched[id_] = row
                taken.add(row.pk)
                break
    return matched


def _read(
    resource: SummaryResource,
    layers: Layers,
    reading: SummaryReading,
    context: Context,
) -> SummaryReading:
    live = layers["live"] or {}
    for element in (_merge(layers["file"] or {}, live), live):
        try:
            (whole,) = resource.read([element], context)
        except ElementsInvalid:
            continue
        return whole
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


def _name(element: Mapping[str, Any]) -> object:
    return element.get("external_id")


def _times(start: datetime, end: datetime | None) -> Times:
    return start.replace(microsecond=0), end and end.replace(microsecond=0)
