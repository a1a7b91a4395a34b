"""Answers about endpoints (contract 8.7)."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, TypedDict

from accounts.webhooks.operations.endpoints import (
    is_sensitive_header,
    read_custom_headers,
)

if TYPE_CHECKING:
    from accounts.webhooks.models import Endpoint


class Webhook(TypedDict):
    """An endpoint; `filter_types` null takes every event."""

    id: str
    url: str
    description: str
    rate_limit: int | None
    disabled: bool
    filter_types: list[str] | None
    created_at: datetime
    updated_at: datetime


class WebhookPage(TypedDict):
    """Some endpoints, oldest first; `next_cursor` is null at the end."""

    data: list[Webhook]
    next_cursor: str | None


class WebhookHeaders(TypedDict):
    """Custom headers; `sensitive` names those whose value is not shown."""

    headers: dict[str, str]
    sensitive: list[str]


class WebhookSecret(TypedDict):
    """The signing secret, `whsec_` and base64."""

    key: str


class TestMessage(TypedDict):
    """A test event on its way; `id` is its webhook-id."""

    id: str
    event_type: str


def build_webhook_endpoint_response(endpoint: Endpoint) -> Webhook:
    """Build the response for an endpoint."""
    return {
        "id": str(endpoint.uuid),
        "url": endpoint.url,
        "description": endpoint.description,
        "rate_limit": endpoint.rate_limit,
        "disabled": endpoint.disabled_at is not None,
        "filter_types": endpoint.filter_types,
        "created_at": endpoint.created_at,
        "updated_at": endpoint.updated_at,
    }


def build_webhook_headers_response(endpoint: Endpoint) -> WebhookHeaders:
    """Build the response for the custom headers of an endpoint."""
    headers = read_custom_headers(endpoint)
    sensitive = sorted(name for name in headers if is_sensitive_header(name))
    shown = {name: text for name, text in headers.items() if name not in sensitive}
    return {"headers": shown, "sensitive": sensitive}
