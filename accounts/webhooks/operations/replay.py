"""Replay one delivery, or all that match a filter of the log.

A delivery that is replayed goes back to pending in the lane of replays, with the same
bytes under the same webhook-id; its round of attempts begins anew, so that a retry it
waited for is replaced.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_change
from accounts.webhooks.models import Attempt, Delivery, Endpoint, Replay, ReplayItem
from accounts.webhooks.queries.log import (
    LogFilters,
    filter_webhook_deliveries,
    measure_matching_deliveries,
)
from accounts.webhooks.states import (
    DELIVERY_MOVES,
    REPLAY_MOVES,
    DeliveryLane,
    DeliveryStatus,
    ReplayStatus,
)
from portal.lib.actor import Actor
from portal.lib.database import rows
from portal.lib.database.transitions import move_status, move_status_of_all
from portal.lib.errors import DomainError
from portal.lib.jobs.jobs import enqueue_job

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from django.db.models import QuerySet

    from accounts.models import Tenant

REPLAY_JOB = "webhooks.replay"
# Messages a second; the endpoint's own rate limit holds besides.
RATES = (1, 5, 20, 50, 100)
DEFAULT_RATE = 20
# Failures in a row after which a replay stops by itself; 0 for never.
STOPS = (0, 5, 20, 100)
DEFAULT_STOP = 20
# How far ahead of the sending messages are queued, so that a cancel takes effect soon.
AHEAD = timedelta(seconds=10)
TICK = timedelta(seconds=3)

_DUE = """
UPDATE webhooks_delivery AS d
SET due_at = now() + make_interval(secs => due.wait_s)
FROM unnest(%(keys)s::bigint[], %(waits)s::float8[]) AS due(id, wait_s)
WHERE d.id = due.id
"""
_GIVE_BACK = """
UPDATE webhooks_delivery AS d
SET lane = 0, step = item.former_step, due_at = item.former_due_at,
    finished_at = item.former_finished_at
FROM webhooks_replayitem AS item
WHERE item.replay_id = %(replay)s AND d.id = item.delivery_id AND d.id = ANY(%(keys)s)
"""


@transaction.atomic
def resend_delivery(*, delivery: Delivery, actor: Actor) -> None:
    """Send one delivery again at once.

    Raises: endpoint_disabled, endpoint_deleted, delivery_in_flight.
    Source: Workflows D2; Ours: a pending retry is replaced, not added to.
    """
    endpoint = _lock_endpoint(delivery.endpoint)
    locked: Delivery = (
        Delivery.objects.for_tenant(endpoint.tenant)
        .select_for_update(of=("self",))
        .select_related("event")
        .get(pk=delivery.pk)
    )
    if _is_in_flight(locked):
        raise DomainError(
            "delivery_in_flight", _("This event is being sent. Try again in a moment.")
        )
    _queue([locked])
    record_change(
        tenant=endpoint.tenant,
        actor=actor,
        verb="resend_delivery",
        subject="delivery",
        subject_id=locked.event.message_id,
        user_uuid=locked.user_uuid,
    )


@transaction.atomic
def cancel_delivery_retries(*, delivery: Delivery, actor: Actor) -> None:
    """Cancel the retries of a delivery; it can still be replayed.

    Raises: transition_not_allowed, for what is not waiting. Source: Workflows D2.
    """
    move_status(
        delivery,
        moves=DELIVERY_MOVES,
        to=DeliveryStatus.DROPPED,
        finished_at=timezone.now(),
        lease=None,
        leased_until=None,
    )
    record_change(
        tenant=delivery.endpoint.tenant,
        actor=actor,
        verb="drop_delivery",
        subject="delivery",
        subject_id=delivery.event.message_id,
        user_uuid=delivery.user_uuid,
    )


@transaction.atomic
def start_replay(
    *,
    endpoint: Endpoint,
    actor: Actor,
    filters: LogFilters,
    rate: int = DEFAULT_RATE,
    stop_after: int = DEFAULT_STOP,
    probe_first: bool = True,
) -> Replay:
    """Replay the deliveries that match a filter now, oldest first.

    `probe_first` sends only the oldest; continue_replay_after_probe sends the rest.
    Raises: endpoint_disabled, endpoint_deleted, replay_in_progress, nothing_to_replay,
    rate_invalid, stop_invalid. Source: Workflows D2; Ours: one at a time for an
    endpoint, so that what waits belongs to one.
    """
    if rate not in RATES:
        raise DomainError(
            "rate_invalid", _("Choose one of the offered speeds."), "rate"
        )
    if stop_after not in STOPS:
        raise DomainError(
            "stop_invalid",
            _("Choose one of the offered numbers of failures."),
            "stop_after",
        )
    endpoint = _lock_endpoint(endpoint)
    replays = Replay.objects.for_tenant(endpoint.tenant).filter(endpoint=endpoint)
    if replays.filter(status__in=[ReplayStatus.PROBING, ReplayStatus.RUNNING]).exists():
        raise DomainError(
            "replay_in_progress", _("Another replay to this endpoint is in progress.")
        )
    extent = measure_matching_deliveries(endpoint=endpoint, filters=filters)
    if not extent.number:
        raise DomainError("nothing_to_replay", _("No event matches any more."))
    is_probed = probe_first and extent.number > 1
    replay = Replay(
        tenant=endpoint.tenant,
        endpoint=endpoint,
        started_by=actor.label,
        scope=filters.as_json(),
        until=timezone.now(),
        status=ReplayStatus.PROBING if is_probed else ReplayStatus.RUNNING,
        total=extent.number,
        rate=rate,
        stop_after=stop_after,
    )
    replay.save(force_insert=True)
    if is_probed:
        _queue_next(replay, limit=1)
    else:
        _enqueue_tick(replay)
    _record(replay, actor, "start_replay", {"events": [None, extent.number]})
    return replay


@transaction.atomic
def continue_replay_after_probe(*, replay: Replay, actor: Actor) -> None:
    """Send the rest after a probe. Raises: transition_not_allowed, endpoint_disabled,
    endpoint_deleted. Source: Workflows D2.
    """
    _lock_endpoint(replay.endpoint)
    move_status(replay, moves=REPLAY_MOVES, to=ReplayStatus.RUNNING)
    _enqueue_tick(replay)
    _record(replay, actor, "continue_replay", {})


@transaction.atomic
def cancel_replay(*, replay: Replay, actor: Actor) -> None:
    """Cancel a replay; unsent deliveries keep their earlier status.

    Raises: transition_not_allowed. Source: Workflows D2.
    """
    _end(replay, ReplayStatus.CANCELLED)
    _record(replay, actor, "cancel_replay", {})


@transaction.atomic
def queue_next_replay_deliveries(*, tenant: Tenant, replay_pk: int) -> None:
    """Queue the next deliveries of a replay, or stop or finish it.

    A job's step, repeated until the replay ends; harmless when run twice.
    """
    found: Replay | None = (
        Replay.objects.for_tenant(tenant)
        .select_for_update(of=("self",))
        .select_related("endpoint", "tenant__team")
        .filter(pk=replay_pk, status=ReplayStatus.RUNNING)
        .first()
    )
    if found is None:
        return
    endpoint = found.endpoint
    is_off = endpoint.deleted_at is not None or endpoint.disabled_at is not None
    if is_off or _keeps_failing(found):
        _end(found, ReplayStatus.STOPPED)
        why = "endpoint_disabled" if is_off else "failures_in_a_row"
        _record(found, Actor.system(REPLAY_JOB), "stop_replay", {"why": [None, why]})
        return
    ahead = (found.queued_until or timezone.now()) - timezone.now()
    room = int(max((AHEAD - ahead).total_seconds(), 0) * found.rate)
    has_more = True
    if room:
        has_more = _queue_next(found, limit=room) == room
    if not has_more and not _unsent(found).exists():
        move_status(
            found,
            moves=REPLAY_MOVES,
            to=ReplayStatus.DONE,
            finished_at=timezone.now(),
        )
        return
    _enqueue_tick(found, after=TICK)


def _queue_next(replay: Replay, *, limit: int) -> int:
    """Queue the next deliveries of a replay at its rate; returns how many it saw."""
    endpoint = replay.endpoint
    due = filter_webhook_deliveries(
        endpoint=endpoint, filters=LogFilters.from_json(replay.scope)
    ).filter(created_at__lte=replay.until)
    if replay.last_at:
        due = due.filter(created_at__gte=replay.last_at).filter(
            Q(created_at__gt=replay.last_at)
            | Q(created_at=replay.last_at, pk__gt=replay.last_pk)
        )
    found = list(due.order_by("created_at", "pk")[:limit])
    if not found:
        return 0
    # In the order in which the worker locks them.
    locked = Delivery.objects.for_tenant(endpoint.tenant).select_for_update()
    fresh = {
        row.pk: row
        for row in locked.filter(pk__in=[row.pk for row in found]).order_by("pk")
    }
    # What is being sent at this moment needs no replay.
    chosen = [
        fresh[row.pk]
        for row in found
        if row.pk in fresh and not _is_in_flight(fresh[row.pk])
    ]
    ReplayItem.objects.for_tenant(endpoint.tenant).bulk_create(
        [
            ReplayItem(
                tenant_id=replay.tenant_id,
                replay=replay,
                delivery=row,
                former_status=row.status,
                former_step=row.step,
                former_due_at=row.due_at,
                former_finished_at=row.finished_at,
            )
            for row in chosen
        ],
        ignore_conflicts=True,
    )
    now = timezone.now()
    begins = max(replay.queued_until or now, now)
    _queue(chosen, wait_s=(begins - now).total_seconds(), gap_s=1 / replay.rate)
    replay.last_at, replay.last_pk = found[-1].created_at, found[-1].pk
    replay.queued_until = begins + timedelta(seconds=len(chosen) / replay.rate)
    replay.save(update_fields=["last_at", "last_pk", "queued_until"])
    return len(found)


def _queue(
    deliveries: Sequence[Delivery], *, wait_s: float = 0, gap_s: float = 0
) -> None:
    """Let locked deliveries wait in the replays' lane, due one after the other."""
    keys = [row.pk for row in deliveries]
    same = Delivery.objects.for_tenant(deliveries[0].tenant) if deliveries else None
    if same is None:
        return
    anew = {
        "lane": DeliveryLane.REPLAY,
        "step": 0,
        "finished_at": None,
        "lease": None,
        "leased_until": None,
    }
    same.filter(pk__in=keys, status=DeliveryStatus.PENDING).update(**anew)
    move_status_of_all(
        same.filter(pk__in=keys),
        moves=DELIVERY_MOVES,
        to=DeliveryStatus.PENDING,
        **anew,
    )
    with rows.open_database_cursor() as opened:
        opened.execute(
            _DUE,
            {
                "keys": keys,
                "waits": [wait_s + place * gap_s for place in range(len(keys))],
            },
        )


def _end(replay: Replay, to: ReplayStatus) -> None:
    """Move a replay to its end, and give back what it has queued but not sent."""
    move_status(replay, moves=REPLAY_MOVES, to=to, finished_at=timezone.now())
    unsent = list(_unsent(replay).select_for_update(of=("self",)).order_by("pk"))
    keys = [row.pk for row in unsent if not _is_in_flight(row)]
    items = ReplayItem.objects.for_tenant(replay.tenant).filter(
        replay=replay, delivery__in=keys
    )
    former: dict[str, list[int]] = {}
    for key, status in items.values_list("delivery", "former_status"):
        former.setdefault(status, []).append(key)
    same = Delivery.objects.for_tenant(replay.tenant)
    with rows.open_database_cursor() as opened:
        opened.execute(_GIVE_BACK, {"replay": replay.pk, "keys": keys})
    for status, held in former.items():
        if status != DeliveryStatus.PENDING:
            move_status_of_all(
                same.filter(pk__in=held), moves=DELIVERY_MOVES, to=status
            )
    items.delete()


def _unsent(replay: Replay) -> QuerySet[Delivery]:
    """What a replay has queued and nobody has sent yet."""
    items = ReplayItem.objects.for_tenant(replay.tenant).filter(replay=replay)
    unsent: QuerySet[Delivery] = Delivery.objects.for_tenant(replay.tenant).filter(
        pk__in=items.values("delivery"),
        status=DeliveryStatus.PENDING,
        lane=DeliveryLane.REPLAY,
        step=0,
    )
    return unsent


def _keeps_failing(replay: Replay) -> bool:
    """Whether the last `stop_after` attempts of a replay all failed."""
    if not replay.stop_after:
        return False
    items = ReplayItem.objects.for_tenant(replay.tenant).filter(replay=replay)
    last = (
        Attempt.objects.for_tenant(replay.tenant)
        .filter(
            endpoint=replay.endpoint,
            started_at__gte=replay.created_at,
            delivery__in=items.values("delivery"),
        )
        .order_by("-started_at")
        .values_list("succeeded", flat=True)[: replay.stop_after]
    )
    met = list(last)
    return len(met) == replay.stop_after and not any(met)


def _is_in_flight(delivery: Delivery) -> bool:
    until: datetime | None = delivery.leased_until
    return (
        delivery.status == DeliveryStatus.PENDING
        and until is not None
        and until > timezone.now()
    )


def _lock_endpoint(endpoint: Endpoint) -> Endpoint:
    live = Endpoint.objects.for_tenant(endpoint.tenant).live()
    locked: Endpoint | None = (
        live.select_for_update(of=("self",))
        .select_related("tenant__team")
        .filter(pk=endpoint.pk)
        .first()
    )
    if locked is None:
        raise DomainError("endpoint_deleted", _("This endpoint was deleted."))
    if locked.disabled_at is not None:
        raise DomainError(
            "endpoint_disabled", _("This endpoint is disabled. Resume it first.")
        )
    return locked


def _enqueue_tick(replay: Replay, *, after: timedelta | None = None) -> None:
    enqueue_job(
        REPLAY_JOB,
        tenant=replay.tenant,
        lock=f"replay:{replay.pk}",
        after=after,
        replay_pk=replay.pk,
    )


def _record(
    replay: Replay, actor: Actor, verb: str, changes: dict[str, list[object]]
) -> None:
    record_change(
        tenant=replay.tenant,
        actor=actor,
        verb=verb,
        subject="replay",
        subject_id=replay.uuid,
        changes=changes,
    )
