"""Cadences: learn from arrivals how often each source's data usually comes."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db.models import Max

from portal.lib.database import rows
from portal.lib.jobs import jobs
from users.models import Cadence, Connection

if TYPE_CHECKING:
    from datetime import datetime

    from accounts.models import Tenant

# Ours: a few weeks of nights, some months of weighing; what was before is forgotten.
GAPS_KEPT = 15
# Ours: with fewer pauses known, no pace is.
GAPS_NEEDED = 3
# Ours: people miss one night, and a battery is charged; two in a row are a change.
PATIENCE = 3
# Ours: whatever comes by the minute may rest for a day: a watch is left at home.
LEAST_PATIENCE = timedelta(hours=36)
# A batch is dated when its transaction starts and seen when it ends.
_OVERLAP = timedelta(minutes=15)
# An hour counts once, however many batches brought something in it: a source sends a
# night in many, and what they are apart is no pace. Hours known already change nothing,
# so that the same arrivals can be read twice.
_LEARN = """
    WITH came AS (
        SELECT user_id, provider, resource,
            date_trunc('hour', at, 'UTC') AS hour, max(at) AS at
        FROM users_arrival
        WHERE tenant_id = %(tenant)s AND at >= %(since)s AND created + updated > 0
            AND (%(user)s::bigint IS NULL OR user_id = %(user)s)
        GROUP BY user_id, provider, resource, hour
    ), paced AS (
        SELECT came.*, recent_gaps,
            hour - lag(hour, 1, date_trunc('hour', last_at, 'UTC')) OVER (
                PARTITION BY came.user_id, came.provider, came.resource ORDER BY hour
            ) AS gap
        FROM came
        JOIN users_user person ON person.id = came.user_id
        LEFT JOIN users_cadence USING (user_id, provider, resource)
        WHERE (last_at IS NULL OR came.at > last_at) AND person.deleted_at IS NULL
    ), series AS (
        SELECT user_id, provider, resource, max(at) AS last_at,
            coalesce(recent_gaps, '{}') || coalesce(
                array_agg((extract(epoch FROM gap) / 3600)::integer ORDER BY hour)
                    FILTER (WHERE gap > interval '0'),
                '{}'
            ) AS gaps
        FROM paced
        GROUP BY user_id, provider, resource, recent_gaps
    ), learnt AS (
        SELECT user_id, provider, resource, last_at,
            gaps[greatest(1, cardinality(gaps) + 1 - %(kept)s):] AS gaps
        FROM series
    ), told AS (
        SELECT learnt.*, (
            SELECT make_interval(
                hours => percentile_disc(0.5) WITHIN GROUP (ORDER BY gap)
            )
            FROM unnest(gaps) AS gap HAVING count(*) >= %(needed)s
        ) AS usual_gap
        FROM learnt
    )
    INSERT INTO users_cadence AS kept (
        tenant_id, user_id, provider, resource, last_at, recent_gaps, usual_gap, due_at
    )
    SELECT %(tenant)s, user_id, provider, resource, last_at, gaps, usual_gap,
        CASE WHEN usual_gap IS NOT NULL
            THEN last_at + greatest(usual_gap * %(patience)s, %(least)s) END
    FROM told
    ORDER BY user_id, provider, resource
    ON CONFLICT (user_id, provider, resource) DO UPDATE SET
        last_at = excluded.last_at, recent_gaps = excluded.recent_gaps,
        usual_gap = excluded.usual_gap, due_at = excluded.due_at
    RETURNING 1
"""


def update_usual_data_intervals(*, tenant: Tenant, user_key: int | None = None) -> int:
    """Update cadences from the arrivals since the last run; return how many changed.

    Of all live users of a tenant, or of one, whose arrivals are then read whole. Safe
    to repeat. Reads what came since and never samples, so that its cost is that of the
    news. Only arrivals that brought something new count: a source that sends the same
    again has no new data. Source: Ours (contract silent): new data is overdue after
    PATIENCE times the median of the last GAPS_KEPT pauses, and never before
    LEAST_PATIENCE.
    """
    since = None if user_key else _last_learned_at(tenant)
    return len(
        rows.fetch_rows(
            _LEARN,
            {
                "tenant": tenant.pk,
                "since": since - _OVERLAP if since else "-infinity",
                "user": user_key,
                "kept": GAPS_KEPT,
                "needed": GAPS_NEEDED,
                "patience": PATIENCE,
                "least": LEAST_PATIENCE,
            },
        )
    )


def enqueue_learning_of_data_intervals() -> int:
    """Enqueue learning for each tenant with a live connection; return how many.

    Over all tenants.
    """
    live = Connection.unscoped.filter(disconnected_at=None).select_related("tenant")
    tenants = [each.tenant for each in live.order_by("tenant").distinct("tenant")]
    for tenant in tenants:
        jobs.enqueue_job("users.learn_cadences", tenant=tenant)
    return len(tenants)


def _last_learned_at(tenant: Tenant) -> datetime | None:
    known = Cadence.objects.for_tenant(tenant).aggregate(last=Max("last_at"))
    last: datetime | None = known["last"]
    return last
