"""Delete events by age, and with their user.

An event goes with its deliveries, what was sent of them and what was answered, or not
at all.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from accounts.models import Tenant
from accounts.webhooks.models import Delivery, Endpoint, Replay
from accounts.webhooks.states import DeliveryStatus
from portal.lib.database import rows
from portal.lib.database.retention import COUNTED_UP_TO, Aged

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from accounts.models import Team

# Events of one transaction, so that none holds locks or lengthens the log for long.
BATCH = 1_000

_PAGE = """
SELECT id, created_at FROM webhooks_event
WHERE tenant_id = %(tenant)s AND id > %(after)s ORDER BY id LIMIT %(limit)s
"""
# The same pages, up to the first that has no old event.
_COUNT = """
WITH RECURSIVE walked AS (
    SELECT 0::bigint AS last, 1::bigint AS old, 0::bigint AS number,
        NULL::timestamptz AS oldest
    UNION ALL
    SELECT page.last, page.old, number + page.old, least(walked.oldest, page.oldest)
    FROM walked CROSS JOIN LATERAL (
        SELECT max(id) AS last, count(*) FILTER (WHERE created_at < %(before)s) AS old,
            min(created_at) AS oldest
        FROM (
            SELECT id, created_at FROM webhooks_event
            WHERE tenant_id = %(tenant)s AND id > walked.last ORDER BY id
            LIMIT %(limit)s
        ) listed
    ) page
    WHERE walked.old > 0 AND number < %(most)s
)
SELECT max(number)::bigint, min(oldest) FILTER (WHERE old > 0) FROM walked
"""
_PAGE_OF_USER = """
SELECT id FROM webhooks_event
WHERE tenant_id = %(tenant)s AND user_uuid = %(user)s ORDER BY id LIMIT %(limit)s
"""
# The audit, too, names an erased user by uuid alone.
_FORGET_IN_REPLAYS = """
UPDATE webhooks_replay
SET scope = jsonb_set(scope, '{user}', to_jsonb(%(user)s::uuid::text))
WHERE tenant_id = %(tenant)s AND scope->>'user' IN (
    SELECT client_user_id FROM webhooks_event
    WHERE tenant_id = %(tenant)s AND user_uuid = %(user)s
)
"""
# In the order in which the worker locks them; it then finds them gone.
_LOCK = """
SELECT id, event_id, status FROM webhooks_delivery
WHERE event_id = ANY(%(events)s) ORDER BY id FOR UPDATE
"""
_DELETE = (
    "DELETE FROM webhooks_replayitem WHERE delivery_id = ANY(%(deliveries)s)",
    "DELETE FROM webhooks_attempt WHERE delivery_id = ANY(%(deliveries)s)",
    "DELETE FROM webhooks_delivery WHERE id = ANY(%(deliveries)s)",
    "DELETE FROM webhooks_event WHERE id = ANY(%(events)s)",
)


def find_oldest_retained_event_time(*, team: Team, now: datetime) -> datetime:
    """Return from when on a team's events are kept; older ones may be deleted."""
    return now - timedelta(days=team.event_retention_days)


def count_events_before(tenant: Tenant, before: datetime) -> Aged:
    """Count events before a moment, up to a bound, pending ones included.

    Those that delete_events_past_retention finds: it walks by ID, as nothing else
    would pay for an index by time.
    """
    inputs = {
        "tenant": tenant.pk,
        "before": before,
        "limit": BATCH,
        "most": COUNTED_UP_TO,
    }
    [(number, oldest)] = rows.fetch_rows(_COUNT, inputs)
    return Aged(min(number, COUNTED_UP_TO), oldest)


def delete_events_past_retention() -> int:
    """Delete events past their team's retention time; return how many.

    In batches of BATCH, each a transaction. An event that still waits for a delivery
    stays, and its whole log; one that is held for a disabled endpoint goes. Replays
    that ended go too, and a deleted endpoint with the last of its log. Source: Contract
    8.5; Ours: the days are the team's.
    """
    now = timezone.now()
    return sum(
        _prune_tenant(
            tenant, find_oldest_retained_event_time(team=tenant.team, now=now)
        )
        for tenant in Tenant.objects.select_related("team").order_by("pk").iterator()
    )


def delete_user_events(*, tenant_pk: int, user_uuid: UUID) -> None:
    """Delete every event about a user, with its deliveries, on erasure.

    What waits for a delivery goes as well; a POST that is under way is not called back,
    but its answer is not kept. Replays that were about the user name the uuid alone.
    """
    fields = {"tenant": tenant_pk, "user": user_uuid, "limit": BATCH}
    with transaction.atomic():
        with rows.open_database_cursor() as opened:
            opened.execute(_FORGET_IN_REPLAYS.encode(), fields)
        while page := [pk for (pk,) in rows.fetch_rows(_PAGE_OF_USER, fields)]:
            _delete(page, keep_waiting=False)


def _prune_tenant(tenant: Tenant, before: datetime) -> int:
    pruned = after = 0
    while page := rows.fetch_rows(
        _PAGE, {"tenant": tenant.pk, "after": after, "limit": BATCH}
    ):
        # Not the first younger one: a long transaction's events have early ids.
        old = [pk for pk, created_at in page if created_at < before]
        if not old:
            break
        after = page[-1][0]
        with transaction.atomic():
            pruned += _delete(old, keep_waiting=True)
    Replay.objects.for_tenant(tenant).filter(finished_at__lt=before).delete()
    log = Delivery.objects.for_tenant(tenant).filter(endpoint=OuterRef("pk"))
    ended = Endpoint.objects.for_tenant(tenant).filter(deleted_at__lt=before)
    ended.filter(~Exists(log)).delete()
    return pruned


def _delete(events: list[int], *, keep_waiting: bool) -> int:
    """Delete events with their log, in the caller's transaction; returns how many."""
    locked = rows.fetch_rows(_LOCK, {"events": events})
    if keep_waiting:
        waiting = {
            event for _, event, status in locked if status == DeliveryStatus.PENDING
        }
        events = [pk for pk in events if pk not in waiting]
        locked = [row for row in locked if row[1] not in waiting]
    chosen = {"deliveries": [pk for pk, _, _ in locked], "events": events}
    with rows.open_database_cursor() as opened:
        for statement in _DELETE:
            opened.execute(statement.encode(), chosen)
    return len(events)
