"""Old samples: count a tenant's, delete a user's, by whole months.

Beside the store (samples) in the same tables: a month that is old as a whole is found
in its partition without a look at a younger sample.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from portal.lib.database import rows
from portal.lib.database.retention import COUNTED_UP_TO, Aged
from portal.lib.tenancy import across_tenants
from users.store.distribution import are_samples_distributed
from users.store.locks import note_change_of_samples

if TYPE_CHECKING:
    from datetime import datetime

_COUNT = """
    SELECT least(coalesce(sum(number), 0), %(most)s)::bigint, min(ts) FROM (
        (
            SELECT 1 AS number, sample.ts FROM users_user person
            CROSS JOIN LATERAL (
                SELECT ts FROM users_sample
                WHERE user_id = person.id AND ts < %(before)s LIMIT %(most)s
            ) sample
            WHERE person.tenant_id = %(tenant)s
            LIMIT %(most)s
        )
        UNION ALL
        (
            SELECT packed.count, packed.first FROM users_user person
            CROSS JOIN LATERAL (
                SELECT count, first FROM users_packedday
                WHERE user_id = person.id
                    AND day < (%(before)s AT TIME ZONE 'UTC')::date
                LIMIT %(most)s
            ) packed
            WHERE person.tenant_id = %(tenant)s
            LIMIT %(most)s
        )
    ) old
"""
# The same where samples are on other machines than users.
_USERS = "SELECT array_agg(id) FROM users_user WHERE tenant_id = %(tenant)s"
_COUNT_SPREAD = """
    SELECT least(coalesce(sum(number), 0), %(most)s)::bigint, min(ts) FROM (
        (
            SELECT 1 AS number, ts FROM users_sample
            WHERE user_id = ANY(%(users)s) AND ts < %(before)s LIMIT %(most)s
        )
        UNION ALL
        (
            SELECT count, first FROM users_packedday
            WHERE user_id = ANY(%(users)s)
                AND day < (%(before)s AT TIME ZONE 'UTC')::date
            LIMIT %(most)s
        )
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
# Whole days; an extra of a row in their time goes with them, as the row will.
_DELETE_PACKED = """
    WITH old AS (
        SELECT series, feed, day, first, last FROM (
            SELECT series, feed, day, first, last, sum(count) OVER (
                ORDER BY series, feed, day
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS behind
            FROM users_packedday
            WHERE user_id = %(user)s AND day < (%(before)s AT TIME ZONE 'UTC')::date
        ) packed
        WHERE coalesce(behind, 0) < %(limit)s
    ), extras AS (
        DELETE FROM users_sampleextra extra USING old
        WHERE extra.user_id = %(user)s AND extra.series = old.series
            AND extra.feed = old.feed AND extra.ts >= old.first AND extra.ts <= old.last
    ), gone AS (
        DELETE FROM users_packedday packed USING old
        WHERE packed.user_id = %(user)s AND packed.series = old.series
            AND packed.feed = old.feed AND packed.day = old.day
        RETURNING packed.count
    )
    SELECT coalesce(sum(count), 0)::bigint FROM gone
"""


def count_old_samples(*, tenant_pk: int, before: datetime) -> Aged:
    """Count a tenant's samples of months before a time, up to COUNTED_UP_TO."""
    inputs: dict[str, Any] = {
        "tenant": tenant_pk,
        "before": get_month_start(before),
        "most": COUNTED_UP_TO,
    }
    # The users are the tenant's; looking each up again for each sample of many users
    # would take seconds.
    with across_tenants(why="samples of all users of a tenant are counted"):
        count = _COUNT
        if are_samples_distributed():
            ((inputs["users"],),) = rows.fetch_rows(_USERS, inputs)
            count = _COUNT_SPREAD
        ((number, oldest),) = rows.fetch_rows(count, inputs)
    return Aged(number, oldest)


def remove_old_samples(*, user_id: int, before: datetime, limit: int) -> int:
    """Delete a user's samples of such months, in steps; return how many.

    Less than `limit` if these were all; packed days go as a whole, so it may be more.
    In the caller's transaction, with the user's row locked.
    """
    note_change_of_samples(user_id)
    inputs = {"user": user_id, "before": get_month_start(before), "limit": limit}
    ((number,),) = rows.fetch_rows(_DELETE, inputs)
    if number < limit:
        ((packed,),) = rows.fetch_rows(
            _DELETE_PACKED, inputs | {"limit": limit - number}
        )
        number += packed
    return int(number)


def get_month_start(at: datetime) -> datetime:
    """Return the start of a time's month (UTC)."""
    return at.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
