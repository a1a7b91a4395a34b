"""Wire shapes of sources in answers and events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict
from uuid import UUID

from portal.lib.web.links import build_absolute_url
from users.wearables.providers import find_provider
from users.wearables.readings import (
    Schema,
    build_closed_object_schema,
    build_nullable_schema,
)
from users.wearables.values import Id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from users.models import Device

_TEXT: Schema = {"type": "string"}
_TEXT_OR_NULL = build_nullable_schema(_TEXT)
_DEVICE_ID = build_nullable_schema(Id().schema)
# JSON Schemas of a source in answers (contract 3.4) and in events (8.3).
SOURCE = build_closed_object_schema(
    {
        "provider": _TEXT,
        "type": _TEXT,
        "app_id": _TEXT_OR_NULL,
        "device_id": _DEVICE_ID,
        "sport": _TEXT_OR_NULL,
        "workout_id": _TEXT_OR_NULL,
    }
)
EVENT_SOURCE = build_closed_object_schema(
    {
        "name": _TEXT,
        "slug": _TEXT,
        "logo": _TEXT,
        "provider": _TEXT,
        "type": _TEXT,
        "app_id": _TEXT_OR_NULL,
        "device_id": _DEVICE_ID,
    }
)


DEVICE = build_closed_object_schema(
    {
        "id": Id().schema,
        "user_id": Id().schema,
        "provider": _TEXT,
        "source_type": _TEXT,
        "app_id": _TEXT_OR_NULL,
        "device_manufacturer": _TEXT_OR_NULL,
        "device_model": _TEXT_OR_NULL,
        "device_version": _TEXT_OR_NULL,
        "device_id": _TEXT_OR_NULL,
    }
)


class SourceBadge(TypedDict):
    """A source with name and logo (contract 2.1); `logo` is an absolute URL."""

    name: str
    slug: str
    logo: str


class EventSource(SourceBadge):
    """The source of data in an event (contract 8.3, D5); `provider` is the slug."""

    provider: str
    type: str
    app_id: str | None
    device_id: UUID | None


class DeviceAnswer(TypedDict):
    """A device of a user (contract 2.4), in answers and events."""

    id: UUID
    user_id: UUID
    provider: str
    source_type: str
    app_id: str | None
    device_manufacturer: str | None
    device_model: str | None
    device_version: str | None
    device_id: str | None


class Scopes(TypedDict):
    """Required and optional scopes of a resource."""

    required: list[str]
    optional: list[str]


class ScopeRequirementsGrants(TypedDict):
    """Scopes that the user granted and denied."""

    user_granted: Scopes
    user_denied: Scopes


class ResourceAvailability(TypedDict):
    """Whether a source provides a resource for this user (contract 2.4)."""

    status: str
    scope_requirements: ScopeRequirementsGrants | None


class ConnectionCreated(TypedDict):
    """Data of provider.connection.created (contract 8.2); `source` is the old twin."""

    user_id: str
    provider: SourceBadge
    source: SourceBadge
    resource_availability: dict[str, ResourceAvailability]
    external_user_id: str | None


def build_source_logo_url(slug: str) -> str:
    """Return the URL of a source's logo."""
    return build_absolute_url(f"/logos/{slug}.svg")


def build_source_badge(slug: str) -> SourceBadge:
    """Return the badge of a source, also of an unknown one."""
    provider = find_provider(slug)
    return {"name": provider.name, "slug": slug, "logo": build_source_logo_url(slug)}


def build_event_source(
    provider: str, source_type: str, app_id: str | None, device_id: UUID | None
) -> EventSource:
    """Return the source of data in an event; `provider` is a slug."""
    return {
        **build_source_badge(provider),
        "provider": provider,
        "type": source_type,
        "app_id": app_id,
        "device_id": device_id,
    }


def build_device_payload(user_uuid: UUID, device: Device) -> DeviceAnswer:
    """Return a device as answers and events have it."""
    return {
        "id": device.uuid,
        "user_id": user_uuid,
        "provider": device.provider,
        "source_type": device.source_type,
        "app_id": device.app_id,
        "device_manufacturer": device.device_manufacturer,
        "device_model": device.device_model,
        "device_version": device.device_version,
        "device_id": device.device_id,
    }


def build_resource_availability(
    stored: Mapping[str, Mapping[str, Any]],
) -> dict[str, ResourceAvailability]:
    """Return a connection's availability with every key of the contract."""
    return {
        resource: {
            "status": str(availability["status"]),
            "scope_requirements": availability.get("scope_requirements"),
        }
        for resource, availability in stored.items()
    }
