"""Reads of taken slot places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.models.appointment import PRODUCTION_POOL
from portal.lib.database.rows import fetch_rows

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from uuid import UUID

    from accounts.models import Tenant

# A hold that has ended takes no place, unless its provider may have said yes.
_TAKEN = """
    SELECT site_code, start_at, count(*) FROM labs_slotplace
    WHERE pool = %(pool)s AND provider = %(provider)s AND site_code = ANY(%(sites)s)
        AND start_at >= %(first)s AND start_at < %(end)s
        AND (expires_at IS NULL OR expires_at > %(now)s OR reference IS NOT NULL)
        {but_for}
    GROUP BY site_code, start_at
"""
# Only where it is asked for: without it the index alone answers.
_BUT_FOR = "AND (order_id <> %(order)s OR expires_at IS NULL)"


def get_shared_slot_pool(tenant: Tenant) -> int:
    """Return the id of the slot pool of a tenant's bookings; production shares one.

    Source: Ours: one customer's tests in a sandbox fill no other customer's slots.
    """
    return int(tenant.pk) if tenant.is_sandbox else PRODUCTION_POOL


def count_taken_slot_places(
    *,
    pool: int,
    provider: str,
    site_codes: Iterable[str],
    first: datetime,
    end: datetime,
    now: datetime,
    order_id: UUID | None = None,
) -> dict[tuple[str, datetime], int]:
    """Count taken places by site and start (UTC), from `first` until before `end`.

    `end` is not included; what is held for `order_id` is not counted. One query.
    """
    rows = fetch_rows(
        _TAKEN.format(but_for=_BUT_FOR if order_id else ""),
        {
            "pool": pool,
            "provider": provider,
            "sites": list(site_codes),
            "first": first,
            "end": end,
            "now": now,
            "order": order_id,
        },
    )
    return {(site, start): number for site, start, number in rows}
