"""Periodic jobs of webhooks: pruning, alerts and replays.

A job calls one operation. Must not be here: what the operations do, or delivering
(accounts.webhooks.delivering).
"""

from __future__ import annotations

from django.utils import timezone

from accounts.models import Tenant
from accounts.webhooks.operations.alerts import (
    MAIL_JOB,
    queue_alert_notice,
    raise_alerts,
    send_alert_mail,
)
from accounts.webhooks.operations.replay import REPLAY_JOB, advance_replay
from accounts.webhooks.operations.retention import prune_events
from portal.lib.jobs import job, periodic


@periodic("33 4 * * *", "webhooks.prune")
def prune() -> None:
    """Delete events past their retention time, once a day."""
    prune_events()


@periodic("*/5 * * * *", "webhooks.raise_alerts")
def alert() -> None:
    """Find failing endpoints that need an alert, every five minutes."""
    raise_alerts(at=timezone.now())


def _hand_over(*, tenant_pk: int, endpoint_id: str, percent: int) -> None:
    queue_alert_notice(
        tenant=Tenant.objects.select_related("team").get(pk=tenant_pk),
        endpoint_id=endpoint_id,
        percent=percent,
    )


@job(MAIL_JOB, on_give_up=_hand_over)
def mail(*, tenant_pk: int, endpoint_id: str, percent: int) -> None:
    """Send the mail about a failing or disabled endpoint."""
    send_alert_mail(
        tenant=Tenant.objects.select_related("team").get(pk=tenant_pk),
        endpoint_id=endpoint_id,
        percent=percent,
    )


@job(REPLAY_JOB)
def replay(*, tenant_pk: int, replay_pk: int) -> None:
    """Queue the next deliveries of a replay."""
    advance_replay(
        tenant=Tenant.objects.select_related("team").get(pk=tenant_pk),
        replay_pk=replay_pk,
    )
