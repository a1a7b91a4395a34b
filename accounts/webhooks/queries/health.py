"""Measure endpoint health: success, response time and waiting deliveries.

All times are the database's.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.utils import timezone

from accounts.webhooks.diagnosis.situation import Situation, Try
from accounts.webhooks.models import Endpoint
from accounts.webhooks.queries.log import COUNTED_UP_TO
from accounts.webhooks.states import DisabledBy
from portal.lib.choices import OpenChoices
from portal.lib.database import rows
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from uuid import UUID

    from accounts.models import Tenant
    from accounts.webhooks.models.endpoint import EndpointQuerySet

# The time that rates cover.
LATELY = timedelta(hours=24)
# Ours: under this share of good attempts an endpoint is called degraded,
DEGRADED_UNDER = 0.95
# and when what waits for its first attempt has waited so long.
BEHIND_AFTER = timedelta(minutes=15)
# Speed is told of so many attempts at most, a diagnosis of so many.
_TIMED = 2_000
_DIAGNOSED = 100


class HealthState(OpenChoices):
    """How an endpoint is, in a word."""

    HEALTHY = "healthy", gettext_lazy("Healthy")
    DEGRADED = "degraded", gettext_lazy("Degraded")
    FAILING = "failing", gettext_lazy("Failing")
    PAUSED = "paused", gettext_lazy("Paused")
    DISABLED = "disabled", gettext_lazy("Disabled")
    UNUSED = "unused", gettext_lazy("Not used yet")


@dataclass(frozen=True, slots=True)
class Hour:
    """What became of the deliveries made in an hour."""

    delivered: int = 0
    retried: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Health:
    """How an endpoint did LATELY; `p95_ms` of its good answers, if there are any.

    `waiting` counts up to one more than COUNTED_UP_TO, and so does `missed`: failed and
    held, which wait for a replay. `waiting_since` is the oldest that waits.
    """

    state: HealthState
    attempts: int
    succeeded: int
    p95_ms: float | None
    waiting: int
    waiting_since: datetime | None
    missed: int

    @property
    def success(self) -> float | None:
        """The share of good attempts, None without any."""
        return self.succeeded / self.attempts if self.attempts else None


# A count that stops is cheap however much there is.
_HEALTH = """
SELECT e.id, tried.number, tried.well, timed.p95, waits.number, oldest.at, missed.number
FROM webhooks_endpoint AS e
CROSS JOIN LATERAL (
    SELECT count(*) AS number, count(*) FILTER (WHERE a.succeeded) AS well
    FROM webhooks_attempt AS a
    WHERE a.endpoint_id = e.id AND a.started_at > now() - %(lately)s::interval
) AS tried
CROSS JOIN LATERAL (
    SELECT percentile_disc(0.95) WITHIN GROUP (ORDER BY last.total_ms) AS p95
    FROM (
        SELECT a.total_ms FROM webhooks_attempt AS a
        WHERE a.endpoint_id = e.id AND a.started_at > now() - %(lately)s::interval
            AND a.succeeded
        ORDER BY a.started_at DESC LIMIT %(timed)s
    ) AS last
) AS timed
CROSS JOIN LATERAL (
    SELECT count(*) AS number FROM (
        SELECT 1 FROM webhooks_delivery AS d
        WHERE d.endpoint_id = e.id AND d.status = 'pending' LIMIT %(most)s
    ) AS counted
) AS waits
LEFT JOIN LATERAL (
    SELECT d.created_at AS at FROM webhooks_delivery AS d
    WHERE d.endpoint_id = e.id AND d.status = 'pending'
    ORDER BY d.created_at, d.id LIMIT 1
) AS oldest ON true
CROSS JOIN LATERAL (
    SELECT count(*) AS number FROM (
        SELECT 1 FROM webhooks_delivery AS d
        WHERE d.endpoint_id = e.id AND d.status IN ('failed', 'held') LIMIT %(most)s
    ) AS counted
) AS missed
WHERE e.id = ANY(%(endpoints)s)
"""

_HOURS = """
SELECT d.endpoint_id,
    date_bin('1 hour', d.created_at, %(end)s::timestamptz) AS start,
    count(*) FILTER (WHERE d.status = 'delivered' AND d.attempts < 2),
    count(*) FILTER (WHERE d.attempts > 0
        AND (d.status = 'pending' OR (d.status = 'delivered' AND d.attempts > 1))),
    count(*) FILTER (WHERE d.status IN ('failed', 'held', 'dropped'))
FROM webhooks_delivery AS d
WHERE d.endpoint_id = ANY(%(endpoints)s)
    AND d.created_at > %(now)s::timestamptz - make_interval(hours => %(hours)s)
    AND d.created_at <= %(now)s::timestamptz
GROUP BY 1, 2
"""

# The last attempts, and what of their answers tells why. An answer's text itself may
# hold what was sent, so that only its digest leaves here.
_TRIES = """
SELECT a.started_at, a.succeeded, a.code, a.fault, d.event_type,
    octet_length(event.body), md5(a.body),
    coalesce((SELECT h ->> 1 FROM jsonb_array_elements(a.headers) AS h
        WHERE lower(h ->> 0) = 'location' LIMIT 1), ''),
    (SELECT h ->> 1 FROM jsonb_array_elements(a.headers) AS h
        WHERE lower(h ->> 0) = 'retry-after' AND h ->> 1 ~ '^[0-9]{1,8}$' LIMIT 1)::int
FROM (
    SELECT * FROM webhooks_attempt AS a WHERE a.endpoint_id = %(endpoint)s
    ORDER BY a.started_at DESC LIMIT %(limit)s
) AS a
JOIN webhooks_delivery AS d ON d.id = a.delivery_id
JOIN webhooks_event AS event ON event.id = d.event_id
ORDER BY a.started_at DESC
"""
_FAILING = f"""
SELECT count(*) FROM webhooks_endpoint
WHERE tenant_id = %s AND deleted_at IS NULL AND disabled_by <> '{DisabledBy.MEMBER}'
    AND (first_failed_at IS NOT NULL OR disabled_at IS NOT NULL)
"""  # noqa: S608 - the word is ours
_EMPTY_ANSWER = "d41d8cd98f00b204e9800998ecf8427e"  # the digest of nothing


def select_live_endpoints(tenant: Tenant) -> EndpointQuerySet:
    """Select a tenant's endpoints that are not deleted, disabled ones included."""
    rows: EndpointQuerySet = Endpoint.objects.for_tenant(tenant).live()
    return rows


def select_endpoints_that_accepted(tenant: Tenant) -> EndpointQuerySet:
    """Select a tenant's endpoints that have accepted an event."""
    return select_live_endpoints(tenant).exclude(last_success_at=None)


def list_webhook_endpoints(tenant: Tenant) -> list[Endpoint]:
    """Return the endpoints of a tenant, oldest first."""
    return list(Endpoint.objects.for_tenant(tenant).live().order_by("pk"))


def find_webhook_endpoint(*, tenant: Tenant, uuid: UUID) -> Endpoint | None:
    """Return an endpoint that is not deleted."""
    live = Endpoint.objects.for_tenant(tenant).live()
    found: Endpoint | None = (
        live.select_related("tenant__team").filter(uuid=uuid).first()
    )
    return found


def measure_endpoint_health(endpoints: Sequence[Endpoint]) -> dict[int, Health]:
    """Measure the health of endpoints by key, in one query."""
    found = rows.fetch_rows(
        _HEALTH,
        {
            "endpoints": [endpoint.pk for endpoint in endpoints],
            "lately": LATELY,
            "timed": _TIMED,
            "most": COUNTED_UP_TO + 1,
        },
    )
    by_key = {endpoint.pk: endpoint for endpoint in endpoints}
    now = timezone.now()
    return {
        key: Health(
            state=_state(by_key[key], attempts, succeeded, oldest, now),
            attempts=attempts,
            succeeded=succeeded,
            p95_ms=p95,
            waiting=waiting,
            waiting_since=oldest,
            missed=missed,
        )
        for key, attempts, succeeded, p95, waiting, oldest, missed in found
    }


def count_delivery_outcomes_by_hour(
    endpoints: Iterable[Endpoint], *, hours: int
) -> dict[int, list[Hour]]:
    """Count outcomes of deliveries by hour and endpoint, oldest hour first.

    One query for all. What waits for its first attempt counts nowhere.
    """
    keys = [endpoint.pk for endpoint in endpoints]
    counted = {key: [Hour()] * hours for key in keys}
    now = timezone.now()
    end = now + timedelta(microseconds=1)  # an hour has its start and not its end
    inputs = {"endpoints": keys, "hours": hours, "now": now, "end": end}
    for key, start, delivered, retried, failed in rows.fetch_rows(_HOURS, inputs):
        ago = (end - start) // timedelta(hours=1) - 1
        if ago < hours:
            counted[key][hours - 1 - ago] = Hour(delivered, retried, failed)
    return counted


def summarize_attempts_for_diagnosis(endpoint: Endpoint, health: Health) -> Situation:
    """Summarize an endpoint's last attempts for a diagnosis, in one query."""
    found = rows.fetch_rows(_TRIES, {"endpoint": endpoint.pk, "limit": _DIAGNOSED})
    return Situation(
        tries=[
            Try(
                at=at,
                succeeded=succeeded,
                code=code,
                fault=fault,
                event_type=event_type,
                size=size,
                answer="" if answer == _EMPTY_ANSWER else answer,
                location=location,
                retry_after_s=retry_after,
            )
            for (
                at,
                succeeded,
                code,
                fault,
                event_type,
                size,
                answer,
                location,
                retry_after,
            ) in found
        ],
        disabled_by=endpoint.disabled_by if endpoint.disabled_at else "",
        missed=health.missed,
        first_failed_at=endpoint.first_failed_at,
        secret_made_at=endpoint.secret_made_at,
    )


def list_failing_endpoints(tenant: Tenant) -> list[Endpoint]:
    """Return endpoints that fail or were disabled for it, longest failing first."""
    live = Endpoint.objects.for_tenant(tenant).live()
    ill = [
        endpoint
        for endpoint in live.order_by("first_failed_at", "pk")
        if endpoint.first_failed_at or endpoint.disabled_at
    ]
    return [e for e in ill if e.disabled_by != DisabledBy.MEMBER]


def count_failing_endpoints(tenant: Tenant) -> int:
    """Count what list_failing_endpoints returns; by hand, as every page asks."""
    [(number,)] = rows.fetch_rows(_FAILING, [tenant.pk])
    return int(number)


def _state(
    endpoint: Endpoint,
    attempts: int,
    succeeded: int,
    oldest: datetime | None,
    now: datetime,
) -> HealthState:
    if endpoint.disabled_at:
        by_member = endpoint.disabled_by == DisabledBy.MEMBER
        return HealthState.PAUSED if by_member else HealthState.DISABLED
    if endpoint.first_failed_at:
        return HealthState.FAILING
    if not attempts:
        return HealthState.HEALTHY if endpoint.last_success_at else HealthState.UNUSED
    is_behind = oldest is not None and now - oldest > BEHIND_AFTER
    if is_behind or succeeded < DEGRADED_UNDER * attempts:
        return HealthState.DEGRADED
    return HealthState.HEALTHY
