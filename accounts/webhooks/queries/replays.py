"""Query replays: one, the recent ones of an endpoint, and their progress."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Count, Q

from accounts.webhooks.models import Attempt, Replay, ReplayItem
from accounts.webhooks.states import DeliveryStatus, ReplayStatus

if TYPE_CHECKING:
    from uuid import UUID

    from accounts.webhooks.models import Endpoint


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a replay is, in messages; `left` was not sent yet, or will not be.

    `failed` are sent and not delivered so far: they are retried by the usual steps.
    """

    total: int
    delivered: int
    failed: int

    @property
    def sent(self) -> int:
        """What was sent at least once."""
        return self.delivered + self.failed

    @property
    def left(self) -> int:
        """What was not sent."""
        return max(self.total - self.sent, 0)


def list_recent_webhook_replays(*, endpoint: Endpoint, limit: int) -> list[Replay]:
    """Return the replays of an endpoint, the newest first."""
    replays = Replay.objects.for_tenant(endpoint.tenant).filter(endpoint=endpoint)
    return list(replays.order_by("-created_at")[:limit])


def find_replay(*, endpoint: Endpoint, uuid: UUID) -> Replay | None:
    """Return one replay of an endpoint, None for an unknown ID."""
    replays = Replay.objects.for_tenant(endpoint.tenant).filter(endpoint=endpoint)
    found: Replay | None = (
        replays.select_related("endpoint", "tenant__team").filter(uuid=uuid).first()
    )
    return found


def measure_replay_progress(replay: Replay) -> Progress:
    """Return how far a replay is: one query over its messages."""
    items = ReplayItem.objects.for_tenant(replay.tenant).filter(replay=replay)
    is_delivered = Q(delivery__status=DeliveryStatus.DELIVERED)
    is_unsent = Q(delivery__status=DeliveryStatus.PENDING, delivery__step=0)
    counted = items.aggregate(
        delivered=Count("pk", filter=is_delivered),
        failed=Count("pk", filter=~is_delivered & ~is_unsent),
    )
    return Progress(total=replay.total, **counted)


def find_replay_probe_attempt(replay: Replay) -> Attempt | None:
    """Return the first attempt of a replay, None before it was made."""
    items = ReplayItem.objects.for_tenant(replay.tenant).filter(replay=replay)
    first = items.order_by("pk").values("delivery")[:1]
    attempts = Attempt.objects.for_tenant(replay.tenant).filter(
        delivery__in=first, started_at__gte=replay.created_at
    )
    found: Attempt | None = attempts.order_by("started_at").first()
    return found


def is_replay_open(replay: Replay) -> bool:
    """Return whether a replay is running or waits for confirmation."""
    return replay.status in {ReplayStatus.PROBING, ReplayStatus.RUNNING}
