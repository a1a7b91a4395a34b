"""How many live orders a tenant has in each status, without counting them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from portal.lib.database import rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from accounts.models import Tenant

# Deleted users are few: their undo ends within days. One statement, so one snapshot.
_COUNTS = """
    SELECT status, method, sum(number)::bigint FROM (
        SELECT status, method, number FROM labs_ordercount WHERE tenant_id = %(tenant)s
        UNION ALL
        SELECT hidden.status, hidden.method, -1 FROM users_user person
        JOIN labs_order hidden ON hidden.user_id = person.id
        WHERE person.tenant_id = %(tenant)s AND person.deleted_at IS NOT NULL
            AND hidden.tenant_id = %(tenant)s
    ) change
    GROUP BY status, method
"""


class OrderKind(NamedTuple):
    """What orders are counted by; the status contains the method, if it is known."""

    status: str
    method: str


def fetch_order_counts(*, tenant: Tenant) -> Mapping[OrderKind, int]:
    """Return the exact number of live orders of each kind; one query.

    Kinds that only deleted users have may be among them, with 0.
    """
    found = rows.fetch_rows(_COUNTS, {"tenant": tenant.pk})
    return {OrderKind(status, method): int(n) for status, method, n in found}
