"""Run the webhook jobs: retention, alerts and replays.

A job calls one operation.
"""

from __future__ import annotations

from django.utils import timezone

from accounts.models import Tenant
from accounts.webhooks.operations.alerts import (
    MAIL_JOB,
    enqueue_failing_endpoint_alerts,
    post_endpoint_alert_notice,
    send_endpoint_alert_mail,
)
from accounts.webhooks.operations.replay import REPLAY_JOB, queue_next_replay_deliveries
from accounts.webhooks.operations.retention import delete_events_past_retention
from portal.lib.jobs.jobs import periodic_job, tenant_job


@periodic_job("33 4 * * *", "webhooks.prune")
def delete_old_webhook_events() -> None:
    """Once a day, delete webhook events past their retention."""
    delete_events_past_retention()


@periodic_job("*/5 * * * *", "webhooks.raise_alerts")
def alert_about_failing_endpoints() -> None:
    """Every five minutes, enqueue alerts about failing endpoints."""
    enqueue_failing_endpoint_alerts(at=timezone.now())


def _hand_over(*, tenant_pk: int, endpoint_id: str, percent: int) -> None:
    post_endpoint_alert_notice(
        tenant=Tenant.objects.select_related("team").get(pk=tenant_pk),
        endpoint_id=endpoint_id,
        percent=percent,
    )


@tenant_job(MAIL_JOB, on_give_up=_hand_over)
def mail_endpoint_alert(*, tenant_pk: int, endpoint_id: str, percent: int) -> None:
    """Email members about a failing or disabled endpoint."""
    send_endpoint_alert_mail(
        tenant=Tenant.objects.select_related("team").get(pk=tenant_pk),
        endpoint_id=endpoint_id,
        percent=percent,
    )


@tenant_job(REPLAY_JOB)
def run_webhook_replay(*, tenant_pk: int, replay_pk: int) -> None:
    """Queue the next deliveries of a replay."""
    queue_next_replay_deliveries(
        tenant=Tenant.objects.select_related("team").get(pk=tenant_pk),
        replay_pk=replay_pk,
    )
