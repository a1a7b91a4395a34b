"""Every event type Assay emits: its name, when, and the JSON Schema of its data.

Entries come with the feature that emits them; an app above adds those that its own
registry drives, in AppConfig.ready. Contract 8.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_NULLABLE_TEXT = {"type": ["string", "null"]}

PARSING_JOB: dict[str, Any] = {
    "type": "object",
    "required": [
        "id",
        "status",
        "failure_reason",
        "data",
        "needs_human_review",
        "is_reviewed",
    ],
    "properties": {
        "id": {"type": "string", "format": "uuid"},
        "status": {"type": "string"},
        "failure_reason": _NULLABLE_TEXT,
        "data": {
            "type": ["object", "null"],
            "required": ["metadata", "results"],
            "properties": {
                "metadata": {"type": "object"},
                "results": {
                    "type": "array",
                    "items": {"type": "object", "required": ["test_name", "value"]},
                },
            },
        },
        "needs_human_review": {"type": "boolean"},
        "is_reviewed": {"type": "boolean"},
    },
}

SOURCE_BADGE: dict[str, Any] = {
    "type": "object",
    "required": ["name", "slug", "logo"],
    "properties": {
        "name": {"type": "string"},
        "slug": {"type": "string"},
        "logo": {"type": "string"},
    },
}
CONNECTION_CREATED: dict[str, Any] = {
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
        "provider": SOURCE_BADGE,
        "source": SOURCE_BADGE,
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
        "external_user_id": _NULLABLE_TEXT,
    },
}
CONNECTION_ERROR: dict[str, Any] = {
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


# Ours: contract 8.2 leaves the shape of last_attempt to us.
MESSAGE_EXHAUSTED: dict[str, Any] = {
    "type": "object",
    "required": ["endpoint_id", "msg_id", "last_attempt"],
    "properties": {
        "endpoint_id": {"type": "string", "format": "uuid"},
        "msg_id": {"type": "string"},
        "last_attempt": {
            "type": "object",
            "required": ["number", "timestamp", "response_status_code", "fault"],
            "properties": {
                "number": {"type": "integer"},
                "timestamp": {"type": "string", "format": "date-time"},
                "response_status_code": {"type": ["integer", "null"]},
                "fault": {"type": "string"},
            },
        },
    },
}
ATTEMPT_EXHAUSTED = "message.attempt.exhausted"


@dataclass(frozen=True, slots=True)
class EventType:
    """One kind of event."""

    name: str
    when: str
    schema: dict[str, Any]


EVENT_TYPES: dict[str, EventType] = {
    kind.name: kind
    for kind in (
        EventType(
            "lab_report.parsing_job.created",
            "A report was uploaded. The data is the job as returned by the upload.",
            PARSING_JOB,
        ),
        EventType(
            "lab_report.parsing_job.updated",
            "A job completed, failed or needs review.",
            PARSING_JOB,
        ),
        EventType(
            "provider.connection.created",
            "A source was connected to a user.",
            CONNECTION_CREATED,
        ),
        EventType(
            "provider.connection.error",
            "A connected source failed and needs action.",
            CONNECTION_ERROR,
        ),
        EventType(
            ATTEMPT_EXHAUSTED,
            "A delivery to an endpoint failed after its last attempt.",
            MESSAGE_EXHAUSTED,
        ),
    )
}


def register_event_type(kind: EventType) -> None:
    """Register an event type of a higher app. Raises: ValueError if it exists."""
    if EVENT_TYPES.setdefault(kind.name, kind) is not kind:
        raise ValueError(f"{kind.name} is in the catalogue already")


def filter_covers_event_type(wanted: str) -> bool:
    """Return whether a filter is an event type or a prefix of one.

    Source: Contract 8.7 (`filter_types`).
    """
    if wanted in EVENT_TYPES:
        return True
    return wanted.endswith(".") and any(kind.startswith(wanted) for kind in EVENT_TYPES)
