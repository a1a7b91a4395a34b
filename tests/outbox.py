"""What the outbox holds, for assertions."""

from __future__ import annotations

from typing import Any

import orjson

from accounts.webhooks.models import Event


def emitted(tenant: Any) -> list[dict[str, Any]]:
    """The envelopes of a tenant, oldest first."""
    rows = Event.objects.for_tenant(tenant).order_by("id")
    return [orjson.loads(row.body) for row in rows]


def emitted_types(tenant: Any) -> list[str]:
    return [envelope["event_type"] for envelope in emitted(tenant)]
