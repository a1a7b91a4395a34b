"""Record the outcomes of attempts: delivery status and endpoint health.

The one writer of what a delivery becomes by being sent; times are the database's.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

import orjson
from psycopg.rows import dict_row

from accounts.webhooks.catalogue import ATTEMPT_EXHAUSTED
from accounts.webhooks.models import new_message_id
from accounts.webhooks.operations.emitting import EMIT
from accounts.webhooks.schedule import DISABLE_AFTER
from accounts.webhooks.states import DeliveryStatus, DisabledBy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psycopg import AsyncConnection

    from accounts.webhooks.delivery.leases import Lease
    from accounts.webhooks.delivery.sending import SendOutcome

# Contract 8.5.
_FAILED_APART = "12 hours"
_FAILED_WITHIN = "24 hours"

# An endpoint that is well, and was so a minute ago, is not written at each message.
_NEWS = """
NOT met.well OR e.first_failed_at IS NOT NULL OR e.last_success_at IS NULL
    OR e.last_success_at < now() - interval '1 minute'
"""
# Endpoints before deliveries, as who disables one locks them; and both first, so that
# the statements after them read what nobody changes any more.
_LOCK_ENDPOINTS = f"""
SELECT e.id FROM webhooks_endpoint AS e
JOIN unnest(%(endpoints)s::bigint[], %(well)s::bool[]) AS met(id, well)
    ON met.id = e.id
WHERE {_NEWS} ORDER BY e.id FOR UPDATE OF e
"""  # noqa: S608 - a constant of this module
_LOCK = """
SELECT id FROM webhooks_delivery WHERE id = ANY(%(deliveries)s) ORDER BY id FOR UPDATE
"""

# An attempt is recorded whatever became of the lease: it was made. One that exists was
# written by a commit whose confirmation was lost. Only the holder of the lease moves
# the delivery, so that a late worker changes nothing. A delivery that was given up
# sends an event, but not about that event itself: that would never end.
_RECORD = """
WITH tries AS (
    SELECT * FROM jsonb_to_recordset(%(tries)s::jsonb) AS t(
        delivery bigint, lease bigint, status text, wait_s float8, succeeded bool,
        started_at float8, url text, sent_timestamp bigint, signature text, code int,
        fault text, address text, headers jsonb, body text, body_is_cut bool,
        dns_ms float8, connect_ms float8, first_byte_ms float8, total_ms float8)
    WHERE NOT EXISTS (
        SELECT FROM webhooks_attempt AS a
        WHERE a.delivery_id = t.delivery AND a.signature = t.signature
            AND a.started_at = to_timestamp(t.started_at))
), noted AS (
    INSERT INTO webhooks_attempt
        (tenant_id, delivery_id, endpoint_id, number, is_manual, succeeded, started_at,
         url, sent_timestamp, signature, code, fault, address, headers, body,
         body_is_cut, dns_ms, connect_ms, first_byte_ms, total_ms)
    SELECT d.tenant_id, d.id, d.endpoint_id, d.attempts + 1, d.lane = 1,
        tries.succeeded, to_timestamp(tries.started_at), tries.url,
        tries.sent_timestamp, tries.signature, tries.code, tries.fault, tries.address,
        tries.headers, decode(tries.body, 'base64'),
        tries.body_is_cut, tries.dns_ms, tries.connect_ms, tries.first_byte_ms,
        tries.total_ms
    FROM tries JOIN webhooks_delivery AS d ON d.id = tries.delivery
), moved AS (
    UPDATE webhooks_delivery AS d
    SET attempts = d.attempts + 1, last_code = tries.code, last_fault = tries.fault,
        status = CASE WHEN mine THEN tries.status ELSE d.status END,
        step = CASE WHEN mine THEN d.step + 1 ELSE d.step END,
        due_at = CASE WHEN mine AND tries.wait_s IS NOT NULL
            THEN now() + make_interval(secs => tries.wait_s) ELSE d.due_at END,
        finished_at = CASE WHEN mine AND tries.status <> 'pending' THEN now()
            ELSE d.finished_at END,
        lease = CASE WHEN mine THEN NULL ELSE d.lease END,
        leased_until = CASE WHEN mine THEN NULL ELSE d.leased_until END
    FROM tries
    JOIN LATERAL (
        SELECT held.lease = tries.lease AND held.status = 'pending' AS mine
        FROM webhooks_delivery AS held WHERE held.id = tries.delivery
    ) AS held ON true
    WHERE d.id = tries.delivery
    RETURNING d.id, d.status, mine, d.event_type
)
SELECT id FROM moved
WHERE mine AND status = %(failed)s AND event_type <> %(exhausted)s
"""

# Contract 8.5: the five days begin when failures of one day lie half a day apart.
_HEALTH = f"""
WITH met AS (
    SELECT * FROM unnest(%(endpoints)s::bigint[], %(well)s::bool[], %(gone)s::bool[])
        AS m(id, well, gone)
), judged AS (
    SELECT e.id, met.well, met.gone, CASE WHEN NOT met.well THEN
        coalesce(e.failing_since, CASE WHEN (
            SELECT min(a.started_at) FROM webhooks_attempt AS a
            WHERE a.endpoint_id = e.id AND NOT a.succeeded
                AND a.started_at > now() - %(within)s::interval
                AND a.started_at >= e.first_failed_at
        ) <= now() - %(apart)s::interval THEN now() END) END AS failing_since
    FROM webhooks_endpoint AS e JOIN met ON met.id = e.id
    WHERE {_NEWS}
)
UPDATE webhooks_endpoint AS e
SET last_success_at = CASE WHEN judged.well THEN now() ELSE e.last_success_at END,
    first_failed_at = CASE WHEN judged.well THEN NULL
        ELSE coalesce(e.first_failed_at, now()) END,
    failing_since = judged.failing_since,
    warned_percent = CASE WHEN judged.well AND e.disabled_at IS NULL THEN 0
        ELSE e.warned_percent END,
    disabled_at = CASE WHEN judged.gone
            OR judged.failing_since <= now() - %(disable_after)s::interval
        THEN coalesce(e.disabled_at, now()) ELSE e.disabled_at END,
    disabled_by = CASE WHEN e.disabled_at IS NOT NULL THEN e.disabled_by
        WHEN judged.gone THEN %(by_gone)s
        WHEN judged.failing_since <= now() - %(disable_after)s::interval
            THEN %(by_failing)s
        ELSE '' END
FROM judged WHERE e.id = judged.id
RETURNING e.id, e.disabled_at IS NOT NULL AS is_disabled
"""  # noqa: S608 - as above

_HOLD = """
UPDATE webhooks_delivery SET status = 'held', lease = NULL, leased_until = NULL
WHERE endpoint_id = ANY(%(endpoints)s) AND status = 'pending'
"""

_EXHAUSTED = """
SELECT event.tenant_id, tenant.team_id, event.user_uuid, event.client_user_id,
    event.message_id, e.uuid, a.number, a.started_at, a.code, a.fault
FROM webhooks_delivery AS d
JOIN webhooks_event AS event ON event.id = d.event_id
JOIN webhooks_endpoint AS e ON e.id = d.endpoint_id
JOIN accounts_tenant AS tenant ON tenant.id = d.tenant_id
JOIN LATERAL (
    SELECT * FROM webhooks_attempt AS last WHERE last.delivery_id = d.id
    ORDER BY last.number DESC LIMIT 1
) AS a ON true
WHERE d.id = ANY(%(deliveries)s)
ORDER BY d.id
"""


class AttemptOutcome(NamedTuple):
    """The outcome of an attempt; `wait_s` is the time to the next one, if any."""

    lease: Lease
    outcome: SendOutcome
    wait_s: float | None

    @property
    def status(self) -> DeliveryStatus:
        """What the delivery is now."""
        if self.outcome.fault is None:
            return DeliveryStatus.DELIVERED
        return DeliveryStatus.FAILED if self.wait_s is None else DeliveryStatus.PENDING


async def record_delivery_outcomes(
    connection: AsyncConnection[Any], tries: Sequence[AttemptOutcome]
) -> None:
    """Record attempts, delivery status and endpoint health in one transaction.

    One transaction: a message that is given up and the event that says so exist
    together. Source: Contract 8.5, 8.2 (message.attempt.exhausted).
    """
    health = _health(tries)
    async with connection.transaction(), connection.cursor(row_factory=dict_row) as do:
        await do.execute(_LOCK_ENDPOINTS, health)
        await do.execute(_LOCK, {"deliveries": [t.lease.delivery for t in tries]})
        await do.execute(
            _RECORD,
            {
                "tries": orjson.dumps([_as_json(t) for t in tries]).decode(),
                "failed": DeliveryStatus.FAILED,
                "exhausted": ATTEMPT_EXHAUSTED,
            },
        )
        given_up = [row["id"] for row in await do.fetchall()]
        await do.execute(_HEALTH, health)
        disabled = [row["id"] for row in await do.fetchall() if row["is_disabled"]]
        if disabled:
            await do.execute(_HOLD, {"endpoints": disabled})
        if given_up:
            await do.execute(_EXHAUSTED, {"deliveries": given_up})
            for row in await do.fetchall():
                await do.execute(EMIT, _exhausted(row))


def _as_json(attempt: AttemptOutcome) -> dict[str, Any]:
    outcome = attempt.outcome
    return {
        "delivery": attempt.lease.delivery,
        "lease": attempt.lease.token,
        "status": attempt.status,
        "wait_s": attempt.wait_s,
        "succeeded": outcome.fault is None,
        "started_at": outcome.started_at,
        "url": attempt.lease.url,
        "sent_timestamp": outcome.sent_timestamp,
        "signature": outcome.signature,
        "code": outcome.code,
        "fault": outcome.fault or "",
        "address": outcome.address,
        "headers": [[_storable(text) for text in h] for h in outcome.headers or []],
        "body": base64.b64encode(outcome.body).decode(),
        "body_is_cut": outcome.body_is_cut,
        "dns_ms": outcome.dns_ms,
        "connect_ms": outcome.connect_ms,
        "first_byte_ms": outcome.first_byte_ms,
        "total_ms": outcome.total_ms,
    }


def _storable(text: str) -> str:
    """What PostgreSQL keeps as text: no NUL and no half of a character."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def _health(tries: Sequence[AttemptOutcome]) -> dict[str, Any]:
    well: dict[int, bool] = {}
    gone: dict[int, bool] = {}
    for each in tries:
        endpoint = each.lease.endpoint
        well[endpoint] = well.get(endpoint, False) or each.outcome.fault is None
        gone[endpoint] = gone.get(endpoint, False) or each.outcome.is_gone
    return {
        "endpoints": list(well),
        "well": list(well.values()),
        "gone": [gone[endpoint] for endpoint in well],
        "within": _FAILED_WITHIN,
        "apart": _FAILED_APART,
        "disable_after": DISABLE_AFTER,
        "by_gone": str(DisabledBy.GONE),
        "by_failing": str(DisabledBy.FAILING),
    }


def _exhausted(row: Mapping[str, Any]) -> dict[str, Any]:
    """Inputs of EMIT for a message.attempt.exhausted (contract 8.2)."""
    user_uuid: UUID = row["user_uuid"]
    body = {
        "event_type": ATTEMPT_EXHAUSTED,
        "data": {
            "endpoint_id": row["uuid"],
            "msg_id": row["message_id"],
            "last_attempt": {
                "number": row["number"],
                "timestamp": row["started_at"],
                "response_status_code": row["code"],
                "fault": row["fault"],
            },
        },
        "team_id": row["team_id"],
        "user_id": user_uuid,
        "client_user_id": row["client_user_id"],
    }
    return {
        "tenant": row["tenant_id"],
        "user_uuid": user_uuid,
        "client_user_id": row["client_user_id"],
        "at": row["started_at"],
        "message_ids": [new_message_id()],
        "types": [ATTEMPT_EXHAUSTED],
        "bodies": [orjson.dumps(body).decode()],
    }
