"""What the audit holds, for assertions."""

from __future__ import annotations

from typing import Any

from accounts.models import AuditEntry


def audited(tenant: Any) -> list[tuple[str, str, str]]:
    """The (verb, subject, subject id) of a tenant, oldest first; keys left out."""
    lines = AuditEntry.objects.for_tenant(tenant).exclude(
        subject__in=["api_key", "team", "member"]
    )
    return list(lines.order_by("id").values_list("verb", "subject", "subject_id"))


def changes_of(tenant: Any, verb: str) -> dict[str, Any]:
    """What the one line of this verb says was changed."""
    return AuditEntry.objects.for_tenant(tenant).get(verb=verb).changes
