"""Summaries and devices as they came, for older clients (contract 10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from users.wearables.payloads import build_device_payload, build_source_badge
from users.wearables.providers import find_provider
from users.wearables.readings import build_closed_object_schema
from users.wearables.values import Id, Moment

if TYPE_CHECKING:
    from uuid import UUID

    from users.models.sources.device import Device
    from users.queries.data.summaries import RawSummaryRow

_NO_SPORT = {"id": 0, "name": "Other", "slug": "other"}  # as in events (contract 8.2)
_TEXT = {"type": "string"}
_NUMBER = {"type": "integer"}
_BADGE = build_closed_object_schema({"name": _TEXT, "slug": _TEXT, "logo": _TEXT})
_DATA = {"type": "object", "additionalProperties": True}
RAW_SUMMARY = {
    "type": "object",
    "properties": {
        "id": Id().schema,
        "user_id": Id().schema,
        "timestamp": Moment().schema,
        "data": {**_DATA, "description": "The element as its source sent it"},
        "provider_id": {**_TEXT, "description": "ID at the source, else ours"},
        "source_id": _NUMBER,
        "priority_id": _NUMBER,
        "source_device_id": {"type": ["string", "null"]},
        "source": _BADGE,
        "created_at": Moment().schema,
        "updated_at": Moment().schema,
        "sport_id": {**_NUMBER, "description": "Workouts only"},
        "sport": {
            **build_closed_object_schema({"id": _NUMBER, "name": _TEXT, "slug": _TEXT}),
            "description": "Workouts only",
        },
    },
    "required": ["id", "user_id", "timestamp", "data", "provider_id", "source"],
}
RAW_DEVICE = build_closed_object_schema(
    {
        "id": Id().schema,
        "user_id": Id().schema,
        "data": _DATA,
        "provider_id": _TEXT,
        "source_id": _NUMBER,
        "source": _BADGE,
    }
)


def build_raw_summary_payload(user_uuid: UUID, row: RawSummaryRow) -> dict[str, Any]:
    """Return a summary as it came; of a workout with its sport."""
    source_id = find_provider(row.provider).id
    payload = {
        "id": row.id,
        "user_id": user_uuid,
        "timestamp": row.starts_at,
        "data": row.raw,
        "provider_id": str(row.raw.get("external_id") or row.id),
        "source_id": source_id,
        "priority_id": source_id,
        "source_device_id": row.device_id,
        "source": build_source_badge(row.provider),
        "created_at": row.created_at,
        "updated_at": row.updated_at,
    }
    if row.kind == "workouts":
        sport = row.body.get("sport") or _NO_SPORT
        payload |= {"sport_id": sport["id"], "sport": sport}
    return payload


def build_raw_device_payload(user_uuid: UUID, device: Device) -> dict[str, Any]:
    """Return a device as older clients read it."""
    return {
        "id": device.uuid,
        "user_id": user_uuid,
        "data": build_device_payload(user_uuid, device),
        "provider_id": device.device_id or str(device.uuid),
        "source_id": find_provider(device.provider).id,
        "source": build_source_badge(device.provider),
    }
