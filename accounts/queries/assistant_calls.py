"""Read what assistants asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accounts.models import AssistantCall

if TYPE_CHECKING:
    from uuid import UUID

    from accounts.models import Tenant


def list_assistant_calls(
    *, tenant: Tenant, key_id: UUID | None, user_uuid: UUID | None, limit: int
) -> list[AssistantCall]:
    """List the newest calls of assistants, of a key or about a user if given."""
    found = AssistantCall.objects.for_tenant(tenant)
    if key_id is not None:
        found = found.filter(api_key=key_id)
    if user_uuid is not None:
        found = found.filter(user_uuid=user_uuid)
    return list(found.order_by("-at", "-id")[:limit])
