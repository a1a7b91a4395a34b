"""The events of webhooks themselves: a delivery failed for good."""

from __future__ import annotations

from typing import Any

from accounts.webhooks.catalogue import ATTEMPT_EXHAUSTED, EventType

# Ours: contract 8.2 leaves the shape of last_attempt to us.
_MESSAGE_EXHAUSTED: dict[str, Any] = {
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

EVENT_TYPES = (
    EventType(
        ATTEMPT_EXHAUSTED,
        "A delivery to an endpoint failed after its last attempt.",
        _MESSAGE_EXHAUSTED,
    ),
)
