"""The events of the users app: sources, devices, summaries, samples and streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from accounts.webhooks.catalogue import EventType
from users.wearables.formats.fhir.lab_reports import LAB_REPORT_RESOURCE
from users.wearables.payloads import DEVICE
from users.wearables.streams import (
    EVENT_SCHEMA,
    STREAM_RESOURCE,
    workout_stream_event_type,
)
from users.wearables.summaries import SUMMARIES
from users.wearables.timeseries import TIMESERIES
from users.wearables.timeseries.shapes import (
    build_backfill_event_schema,
    build_sample_event_schema,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_SOURCE_BADGE: dict[str, Any] = {
    "type": "object",
    "required": ["name", "slug", "logo"],
    "properties": {
        "name": {"type": "string"},
        "slug": {"type": "string"},
        "logo": {"type": "string"},
    },
}
_CONNECTION_CREATED: dict[str, Any] = {
    "type": "object",
    "required": [
        "user_id",
        "provider",
        "source",
        "resource_availability",
        "external_user_id",
    ],
    "properties": {
        "user_id": {"type": "string", "format": "uuid"},
        "provider": _SOURCE_BADGE,
        "source": _SOURCE_BADGE,
        "resource_availability": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "required": ["status", "scope_requirements"],
                "properties": {
                    "status": {"type": "string"},
                    "scope_requirements": {"type": ["object", "null"]},
                },
            },
        },
        "external_user_id": {"type": ["string", "null"]},
    },
}
_CONNECTION_ERROR: dict[str, Any] = {
    "type": "object",
    "required": ["user_id", "provider", "message", "error_type", "error_details"],
    "properties": {
        "user_id": {"type": "string", "format": "uuid"},
        "provider": {"type": "string"},
        "message": {"type": "string"},
        "error_type": {"type": "string"},
        "error_details": {"type": "string"},
    },
}

_GAP: dict[str, Any] = {
    "type": "object",
    "required": ["user_id", "provider", "time_zone", "days"],
    "properties": {
        "user_id": {"type": "string", "format": "uuid"},
        "provider": {"type": "string"},
        "time_zone": {"type": "string"},
        "days": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["resource", "date", "state", "error_type"],
                "properties": {
                    "resource": {"type": "string"},
                    "date": {"type": "string", "format": "date"},
                    "state": {"type": "string"},
                    "error_type": {"type": ["string", "null"]},
                },
            },
        },
    },
}


def _list_summary_events() -> Iterator[EventType]:
    for resource in SUMMARIES.values():
        name, schema = resource.name.lower(), resource.event_schema
        yield EventType(
            f"historical.data.{resource.slug}.created",
            f"Past summaries ({name}) of a source are available. The event contains"
            " none of them.",
            build_backfill_event_schema(),
        )
        for is_new, when in ((True, "was created"), (False, "was updated")):
            yield EventType(
                resource.event_type(is_new=is_new),
                f"A summary ({name}) {when}.",
                schema,
            )


def _list_sample_events() -> Iterator[EventType]:
    for resource in TIMESERIES.values():
        name, schema = resource.name.lower(), build_sample_event_schema(resource)
        for is_new, when in ((True, "were created"), (False, "were updated")):
            yield EventType(
                resource.event_type(is_new=is_new),
                f"Samples ({name}) from one source {when}.",
                schema,
            )
        yield EventType(
            resource.historical_event_type,
            f"Past samples ({name}) of a source are available. The event contains none"
            " of them.",
            build_backfill_event_schema(),
        )


EVENT_TYPES = (
    EventType(
        "provider.connection.created",
        "A source was connected to a user.",
        _CONNECTION_CREATED,
    ),
    EventType(
        "provider.connection.error",
        "A connected source failed and needs action.",
        _CONNECTION_ERROR,
    ),
    EventType(
        "provider.device.created",
        "A device of a user was seen for the first time.",
        DEVICE,
    ),
    EventType(
        "provider.device.updated",
        "A device of a user was updated by its source.",
        DEVICE,
    ),
    EventType(
        "provider.gap.opened",
        "Days of a source's data are missing after they should have been read.",
        _GAP,
    ),
    EventType(
        "provider.gap.closed",
        "Missing days of a source's data were read, or the source was disconnected.",
        _GAP,
    ),
    *_list_summary_events(),
    EventType(
        f"historical.data.{STREAM_RESOURCE}.created",
        "Past workout streams of a source are available. The event contains none of"
        " them.",
        build_backfill_event_schema(),
    ),
    EventType(
        f"historical.data.{LAB_REPORT_RESOURCE}.created",
        "Lab reports of other institutions were imported from a user's health records."
        " The event contains none of them.",
        build_backfill_event_schema(),
    ),
    EventType(
        workout_stream_event_type(is_new=True),
        "The stream of a workout is available. The data contains its path.",
        EVENT_SCHEMA,
    ),
    EventType(
        workout_stream_event_type(is_new=False),
        "The stream of a workout was updated. The data contains its path.",
        EVENT_SCHEMA,
    ),
    *_list_sample_events(),
)
