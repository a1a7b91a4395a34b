"""Wire shapes of samples in answers, events and pushes.

Contract 5.1, 5.2, 8.2.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from users.wearables.payloads import EVENT_SOURCE
from users.wearables.providers import find_provider
from users.wearables.readings import (
    Schema,
    build_closed_object_schema,
    build_nullable_schema,
)
from users.wearables.timeseries import TIMESERIES
from users.wearables.values import Id, Moment

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from uuid import UUID

    from users.store.columns import SampleRow
    from users.wearables.payloads import EventSource
    from users.wearables.timeseries.resources import TimeseriesResource

_MOMENT = Moment().schema
_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "number"}
_OFFSET: Schema = {"type": "integer", "description": "Seconds east of UTC"}
_END: Schema = {**_MOMENT, "description": "Exclusive; later than the start"}


def build_sample_payloads(
    resource: TimeseriesResource,
    rows: Sequence[SampleRow],
    types: Mapping[int, str | None],
) -> list[dict[str, Any]]:
    """Return samples as answers and events have them, with every key.

    `types` has the words of the rows' series. Source: Contract 5.2, D6, D22.
    """
    unit = resource.unit
    samples: list[dict[str, Any]]
    if resource.is_interval:
        spans = {each: timedelta(seconds=each) for each in {row[5] for row in rows}}
        samples = [
            {
                "timestamp": ts,
                "timezone_offset": tz_offset,
                "type": types[series],
                "unit": unit,
                "value": value,
                "start": ts,
                "end": ts + spans[duration],
            }
            for ts, series, _, value, tz_offset, duration, _, _ in rows
        ]
    else:
        samples = [
            {
                "timestamp": ts,
                "timezone_offset": tz_offset,
                "type": types[series],
                "unit": unit,
                "value": value,
            }
            for ts, series, _, value, tz_offset, _, _, _ in rows
        ]
    _complete_values(resource, samples)
    if resource.extras:
        absent = {each.name: each.default for each in resource.extras}
        for sample, row in zip(samples, rows, strict=True):
            sample |= absent | (row[-1] or {})
    elif not resource.has_typed_series:
        for sample, row in zip(samples, rows, strict=True):
            if row[-1]:
                sample |= row[-1]
    return samples


def build_payloads_of_one_series(
    resource: TimeseriesResource,
    rows: Iterable[Any],
    type_: str | None,
    *,
    durations: Iterable[int],
) -> list[dict[str, Any]]:
    """Return samples as `build_sample_payloads` does, of one series without extras.

    `rows` are SourceRows; `durations` are those in them, each at least once.
    """
    unit = resource.unit
    samples: list[dict[str, Any]]
    if resource.is_interval:
        spans = {each: timedelta(seconds=each) for each in set(durations)}
        samples = [
            {
                "timestamp": ts,
                "timezone_offset": tz_offset,
                "type": type_,
                "unit": unit,
                "value": value,
                "start": ts,
                "end": ts + spans[duration],
            }
            for ts, value, tz_offset, duration, _ in rows
        ]
    else:
        samples = [
            {
                "timestamp": ts,
                "timezone_offset": tz_offset,
                "type": type_,
                "unit": unit,
                "value": value,
            }
            for ts, value, tz_offset, _ in rows
        ]
    _complete_values(resource, samples)
    if resource.extras:
        absent = {each.name: each.default for each in resource.extras}
        for sample in samples:
            sample |= absent
    return samples


def _complete_values(
    resource: TimeseriesResource, samples: list[dict[str, Any]]
) -> None:
    # In passes of their own: few resources need them, and reading is hot.
    if resource.is_whole:
        for sample in samples:
            sample["value"] = int(sample["value"])
    if resource.value_key not in ("value", None):
        for sample in samples:
            sample[resource.value_key] = sample["value"]


def build_sample_event(
    user_uuid: UUID, source: EventSource, samples: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return the data of an event of samples (contract 8.2)."""
    return {
        "data": samples,
        "source_id": find_provider(source["slug"]).id,
        "source": source,
        "user_id": user_uuid,
    }


def build_sample_event_schema(resource: TimeseriesResource) -> Schema:
    """Return the JSON Schema of `build_sample_event`."""
    return build_closed_object_schema(
        {
            "data": {"type": "array", "items": build_sample_schema(resource)},
            "source_id": {"type": "integer"},
            "source": EVENT_SOURCE,
            "user_id": Id().schema,
        }
    )


def build_backfill_event_schema() -> Schema:
    """Return the JSON Schema of the event of a completed backfill."""
    return build_closed_object_schema(
        {
            "user_id": Id().schema,
            "start_date": _MOMENT,
            "end_date": _MOMENT,
            "provider": _TEXT,
        }
    )


def build_sample_schema(resource: TimeseriesResource) -> Schema:
    """Return the JSON Schema of a sample as answered."""
    value: Schema = {"type": "integer"} if resource.is_whole else _NUMBER
    properties: dict[str, Schema] = {
        "timestamp": _MOMENT,
        "timezone_offset": _OFFSET,
        "type": _type_schema(resource),
        "unit": {**_TEXT, "const": resource.unit},
        "value": value,
    }
    if resource.is_interval:
        properties |= {"start": _MOMENT, "end": _END}
    if resource.value_key not in ("value", None):
        properties[str(resource.value_key)] = value
    return build_closed_object_schema(
        properties | {each.name: each.schema for each in resource.extras}
    )


def build_schema_of_any_sample() -> Schema:
    """Return the JSON Schema of a sample of any resource."""
    keys: dict[str, Schema] = {
        "timestamp": _MOMENT,
        "timezone_offset": _OFFSET,
        "type": {
            **build_nullable_schema(_TEXT),
            "description": "Null where none was sent",
        },
        "unit": {**_TEXT, "description": "Unit of the resource"},
        "value": {"type": ["number", "string"], "description": "Text for notes"},
    }
    schema = build_closed_object_schema(keys)
    schema["properties"] |= {
        "start": {**_MOMENT, "description": "For intervals; equals the timestamp"},
        "end": {**_END, "description": "For intervals; exclusive"},
        **_extra_schemas(),
    }
    return schema


def build_schema_of_any_pushed_sample() -> Schema:
    """Return the JSON Schema of a pushed sample of any resource."""
    return {
        "type": "object",
        "properties": {
            "timestamp": {
                "type": ["string", "null"],
                "minLength": 1,
                "description": "ISO 8601; without offset it is wall-clock time at"
                " timezone_offset, or else in the user's fallback time zone",
            },
            "start": {
                "type": ["string", "null"],
                "minLength": 1,
                "description": "For intervals, instead of the timestamp",
            },
            "end": {
                "type": ["string", "null"],
                "minLength": 1,
                "description": "Required for intervals",
            },
            "timezone_offset": build_nullable_schema(_OFFSET),
            "type": {
                "type": ["string", "null"],
                "description": "Required if the resource has types",
            },
            "unit": {
                "type": ["string", "null"],
                "minLength": 1,
                "description": "Must be the unit of the resource, if sent",
            },
            "value": {
                "type": ["number", "string", "null"],
                "minLength": 1,
                "description": "Required, except for blood_pressure; text for notes",
            },
            **_extra_schemas(),
            "workout_id": {
                **build_nullable_schema(Id().schema),
                "description": "For workouts; overrides the batch",
            },
            "sport": {
                **build_nullable_schema(_TEXT),
                "description": "For distances and workouts; overrides the batch",
            },
        },
    }


def _type_schema(resource: TimeseriesResource) -> Schema:
    if resource.has_open_type:
        return _TEXT
    if resource.types:
        return {**_TEXT, "description": "Known values: " + ", ".join(resource.types)}
    return {**build_nullable_schema(_TEXT), "description": "As sent"}


def _extra_schemas() -> dict[str, Schema]:
    """Return the schemas of keys that only some resources have."""
    found: dict[str, tuple[Schema, list[str]]] = {}
    for resource in TIMESERIES.values():
        own = {each.name: each.schema for each in resource.extras}
        if resource.value_key not in ("value", None):
            own[str(resource.value_key)] = _NUMBER
        for name, schema in own.items():
            if name not in ("type", "value"):
                found.setdefault(name, (schema, []))[1].append(resource.slug)
    return {
        name: {
            **schema,
            "description": ". ".join(
                filter(None, ("For " + ", ".join(slugs), schema.get("description")))
            ),
        }
        for name, (schema, slugs) in found.items()
    }
