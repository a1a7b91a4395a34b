"""Who read one user's data lately, from the audit."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from portal.lib.database import rows

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from accounts.models import Tenant

# A key that reads each minute would have thousands: the newest say who reads.
_LATEST = 500
_FIND = """
SELECT max(actor_label), coalesce(max(member.name), ''), actor_kind, max(at)
FROM (
    SELECT actor_kind, actor_key, actor_label, at FROM accounts_auditentry
    WHERE tenant_id = %(tenant)s AND user_uuid = %(user)s AND at >= %(since)s
    AND verb = 'read' AND actor_kind <> 'system'
    ORDER BY at DESC LIMIT %(latest)s
) latest
LEFT JOIN accounts_member member
ON actor_kind = 'member' AND member.id::text = actor_key
GROUP BY actor_kind, actor_key
ORDER BY max(at) DESC LIMIT %(limit)s
"""


class Reader(NamedTuple):
    """A member or key, when it last read; `name` is the member's, where it has one."""

    label: str
    name: str
    kind: str
    at: datetime


def list_latest_readers_of_user(
    *, tenant: Tenant, user_uuid: UUID, since: datetime, limit: int
) -> list[Reader]:
    """List the members and keys that read a user's data since then, latest first."""
    found = rows.fetch_rows(
        _FIND,
        {
            "tenant": tenant.pk,
            "user": user_uuid,
            "since": since,
            "latest": _LATEST,
            "limit": limit,
        },
    )
    return [Reader(*row) for row in found]
