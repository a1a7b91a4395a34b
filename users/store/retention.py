"""Old samples: count a tenant's, delete a user's, by whole months.

Beside the store (samples) in the same table: a month that is old as a whole is found in
its partition without a look at a younger sample.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portal.lib.database import rows
from portal.lib.database.retention import COUNTED_UP_TO, Aged

if TYPE_CHECKING:
    from datetime import datetime

_COUNT = """
    SELECT count(*), min(ts) FROM (
        SELECT sample.ts FROM users_user person
        CROSS JOIN LATERAL (
            SELECT ts FROM users_sample
            WHERE user_id = person.id AND ts < %(before)s LIMIT %(most)s
        ) sample
        WHERE person.tenant_id = %(tenant)s
        LIMIT %(most)s
    ) old
"""
_DELETE = """
    WITH old AS (
        SELECT series, feed, ts FROM users_sample
        WHERE user_id = %(user)s AND ts < %(before)s LIMIT %(limit)s
    ), extras AS (
        DELETE FROM users_sampleextra extra USING old
        WHERE extra.user_id = %(user)s AND extra.series = old.series
            AND extra.feed = old.feed AND extra.ts = old.ts
    ), gone AS (
        DELETE FROM users_sample sample USING old
        WHERE sample.user_id = %(user)s AND sample.ts < %(before)s
            AND sample.series = old.series AND sample.feed = old.feed
            AND sample.ts = old.ts
        RETURNING 1
    )
    SELECT count(*) FROM gone
"""


def count_old_samples(*, tenant_pk: int, before: datetime) -> Aged:
    """Count a tenant's samples of months before a time, up to COUNTED_UP_TO."""
    ((number, oldest),) = rows.fetch_rows(
        _COUNT,
        {"tenant": tenant_pk, "before": get_month_start(before), "most": COUNTED_UP_TO},
    )
    return Aged(number, oldest)


def remove_old_samples(*, user_id: int, before: datetime, limit: int) -> int:
    """Delete at most `limit` of a user's samples of such months; return how many.

    In the caller's transaction, with the user's row locked.
    """
    ((number,),) = rows.fetch_rows(
        _DELETE, {"user": user_id, "before": get_month_start(before), "limit": limit}
    )
    return int(number)


def get_month_start(at: datetime) -> datetime:
    """Return the start of a time's month (UTC)."""
    return at.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
