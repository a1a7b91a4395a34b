"""Lease due deliveries for a worker, and keep due times correct.

Each is one statement on the worker's own connection, which is in autocommit; all times
are the database's.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, NamedTuple

from accounts.webhooks.schedule import ATTEMPTS_MAX, compute_longest_retry_wait

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psycopg import AsyncConnection


# Longer than a POST may take, and shorter than anybody waits for a dead worker's.
LEASE_S = 60
# Ours: how much of an endpoint's room replays may take.
REPLAY_SHARE = 4

# Endpoints with something pending are found by skipping through the index, so that
# neither many endpoints nor a long backlog of one costs more. A rate is a bucket that
# holds one second of it; the row lock lets one worker at a time draw from it. It is
# never used up beyond now: where it says so, the clock was set back.
_CLAIM = """
WITH RECURSIVE waiting(id) AS (
    (SELECT endpoint_id FROM webhooks_delivery WHERE status = 'pending'
        ORDER BY endpoint_id LIMIT 1)
    UNION ALL
    SELECT (SELECT endpoint_id FROM webhooks_delivery
        WHERE status = 'pending' AND endpoint_id > waiting.id
        ORDER BY endpoint_id LIMIT 1)
    FROM waiting WHERE waiting.id IS NOT NULL
), rated AS (
    SELECT id, CASE
        WHEN paced_until IS NULL OR paced_until > now() + interval '1 second'
            THEN rate_limit
        ELSE floor(least(extract(epoch FROM now() - paced_until), 1) * rate_limit)
        END AS room
    FROM webhooks_endpoint
    WHERE id IN (SELECT id FROM waiting) AND rate_limit IS NOT NULL
        AND disabled_at IS NULL AND deleted_at IS NULL
    FOR UPDATE SKIP LOCKED
), open AS (
    SELECT e.id, least(%(per_endpoint)s - coalesce(busy.number, 0),
        CASE WHEN e.rate_limit IS NULL THEN %(per_endpoint)s
             ELSE coalesce((SELECT room FROM rated WHERE rated.id = e.id), 0) END
    )::int AS room
    FROM webhooks_endpoint AS e
    LEFT JOIN unnest(%(busy)s::bigint[], %(numbers)s::int[]) AS busy(id, number)
        ON busy.id = e.id
    WHERE e.id IN (SELECT id FROM waiting)
        AND e.disabled_at IS NULL AND e.deleted_at IS NULL
        AND NOT EXISTS (
            SELECT FROM accounts_tenant AS tenant
            JOIN accounts_team AS team ON team.id = tenant.team_id
            WHERE tenant.id = e.tenant_id AND team.deleted_at IS NOT NULL)
), picked AS (
    SELECT due.id, due.endpoint_id
    FROM (SELECT * FROM open WHERE room > 0 ORDER BY random()) AS open
    CROSS JOIN (VALUES (0, 1), (1, %(replay_share)s)) AS lane(number, share)
    CROSS JOIN LATERAL (
        SELECT d.id, d.endpoint_id
        FROM webhooks_delivery AS d
        WHERE d.endpoint_id = open.id AND d.lane = lane.number
            AND d.status = 'pending' AND d.due_at <= now()
            AND (d.leased_until IS NULL OR d.leased_until < now())
        ORDER BY d.due_at, d.id
        LIMIT greatest(open.room / lane.share, 1)
        FOR UPDATE SKIP LOCKED
    ) AS due
    LIMIT %(limit)s
), paced AS (
    UPDATE webhooks_endpoint AS e
    SET paced_until = CASE
            WHEN e.paced_until BETWEEN now() - interval '1 second'
                AND now() + interval '1 second' THEN e.paced_until
            ELSE now() - interval '1 second' END
        + make_interval(secs => taken.number::float8 / e.rate_limit)
    FROM (SELECT endpoint_id, count(*) AS number FROM picked GROUP BY 1) AS taken
    WHERE e.id = taken.endpoint_id AND e.rate_limit IS NOT NULL
), leased AS (
    UPDATE webhooks_delivery AS d
    SET lease = %(lease)s, leased_until = now() + make_interval(secs => %(lease_s)s)
    FROM picked WHERE d.id = picked.id
    RETURNING d.id, d.endpoint_id, d.event_id, d.step
)
SELECT leased.id, %(lease)s::bigint, leased.endpoint_id, leased.step,
    event.message_id, event.body, e.url, e.secret,
    CASE WHEN e.previous_secret_ends_at > now() THEN e.previous_secret ELSE '' END,
    e.headers
FROM leased
JOIN webhooks_event AS event ON event.id = leased.event_id
JOIN webhooks_endpoint AS e ON e.id = leased.endpoint_id
ORDER BY leased.id
"""

# A delivery that was made while its endpoint was being disabled is found here.
_HOLD_LATE = """
UPDATE webhooks_delivery AS d
SET status = CASE WHEN e.deleted_at IS NULL THEN 'held' ELSE 'dropped' END,
    lease = NULL, leased_until = NULL
FROM webhooks_endpoint AS e
WHERE d.status = 'pending' AND d.endpoint_id = e.id
    AND (e.disabled_at IS NOT NULL OR e.deleted_at IS NOT NULL)
"""

# After the clock was set back, what should be sent or freed soon seems to be due late:
# nothing waits longer than it could have been told to. Replays are paced by their own
# operation.
_MEND_CLOCK = """
UPDATE webhooks_delivery AS d
SET due_at = least(d.due_at, now() + make_interval(secs => longest.wait_s)),
    leased_until = CASE WHEN d.leased_until IS NOT NULL THEN
        least(d.leased_until, now() + make_interval(secs => %(lease_s)s)) END
FROM unnest(%(steps)s::int[], %(waits)s::float8[]) AS longest(step, wait_s)
WHERE d.status = 'pending' AND d.step = longest.step AND (
    (d.lane = 0 AND d.due_at > now() + make_interval(secs => longest.wait_s + 1))
    OR d.leased_until > now() + make_interval(secs => %(lease_s)s + 1))
"""

_RELEASE = """
UPDATE webhooks_delivery SET lease = NULL, leased_until = NULL
WHERE id = ANY(%(deliveries)s) AND lease = ANY(%(leases)s)
"""


# Tuples, as a thousand are made a second.
class Lease(NamedTuple):
    """A delivery that this worker may send until its lease ends.

    `step` is how many attempts of the present round were made before this one; secrets
    and headers are still encrypted.
    """

    delivery: int
    token: int
    endpoint: int
    step: int
    message_id: str
    body: str
    url: str
    secret: str
    previous_secret: str
    headers: str


async def lease_due_deliveries(
    connection: AsyncConnection[Any],
    *,
    limit: int,
    per_endpoint: int,
    busy: Mapping[int, int],
) -> list[Lease]:
    """Lease up to `limit` due deliveries, within the free slots of each endpoint.

    `busy` is how many of each endpoint this worker has in flight. Two workers never
    hold one delivery; an endpoint with a long backlog takes no more than its room. What
    a deleted team has waiting waits on, until it is brought back or erased. Source:
    Performance 5; Contract 8.5.
    """
    found = await connection.execute(
        _CLAIM,
        {
            "limit": limit,
            "per_endpoint": per_endpoint,
            "busy": list(busy),
            "numbers": list(busy.values()),
            "lease": secrets.randbits(62),
            "lease_s": LEASE_S,
            "replay_share": REPLAY_SHARE,
        },
    )
    # In the order of Lease.
    return [Lease._make(row) for row in await found.fetchall()]


async def release_delivery_leases(
    connection: AsyncConnection[Any], leases: Sequence[Lease]
) -> None:
    """Release leases of deliveries that were not sent."""
    await connection.execute(
        _RELEASE,
        {
            "deliveries": [lease.delivery for lease in leases],
            "leases": [lease.token for lease in leases],
        },
    )


async def hold_deliveries_to_disabled_endpoints(
    connection: AsyncConnection[Any],
) -> None:
    """Put deliveries of disabled endpoints on hold."""
    await connection.execute(_HOLD_LATE)


async def read_database_clock(connection: AsyncConnection[Any]) -> float:
    """Return the database's time, in Unix seconds."""
    found = await connection.execute("SELECT extract(epoch FROM clock_timestamp())")
    row = await found.fetchone()
    return float(row[0]) if row else 0.0


async def clamp_delivery_due_times(connection: AsyncConnection[Any]) -> None:
    """Clamp due times that a clock set back has moved too far ahead.

    Safe at any time, and by several workers at once. Source: Contract 8.5; Ours: a
    clock that steps back holds nothing up.
    """
    waits = [compute_longest_retry_wait(step) for step in range(ATTEMPTS_MAX)]
    await connection.execute(
        _MEND_CLOCK,
        {"steps": list(range(ATTEMPTS_MAX)), "waits": waits, "lease_s": LEASE_S},
    )
