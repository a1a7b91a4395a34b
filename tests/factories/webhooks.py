"""Endpoints and events for tests."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

from django.utils import timezone

from accounts.webhooks.models import Attempt, Delivery
from accounts.webhooks.operations import UserRef, emit_event, emit_events
from accounts.webhooks.operations.endpoints import create_endpoint
from tests.factories.accounts import ACTOR

PUBLIC_URL = "https://hooks.customer.example/assay"
KIND = "lab_report.parsing_job.created"


def make_endpoint(*, tenant, url=PUBLIC_URL, **wanted):
    return create_endpoint(tenant=tenant, actor=ACTOR, url=url, **wanted)


def make_event(*, tenant, event_type=KIND, data=None, user=None):
    user = user or UserRef(user_uuid=uuid4(), client_user_id="mbr_1")
    return emit_event(
        tenant=tenant, user=user, event_type=event_type, data=data or {"id": "1"}
    )


def make_events(number, *, tenant):
    """So many events of one user, at the price of one."""
    user = UserRef(user_uuid=uuid4(), client_user_id="mbr_1")
    messages = [(KIND, {"id": str(place)}) for place in range(number)]
    emit_events(tenant=tenant, user=user, messages=messages)


def make_delivery(*, endpoint, age=timedelta(0), **event):
    """A delivery to one endpoint, made `age` ago."""
    made = make_event(tenant=endpoint.tenant, **event)
    rows = Delivery.objects.for_tenant(endpoint.tenant)
    rows.filter(event=made).update(created_at=timezone.now() - age)
    return rows.select_related("event", "endpoint__tenant__team").get(
        event=made, endpoint=endpoint
    )


def make_attempted_delivery(
    delivery, *, code=500, fault="status", status=None, **facts
):
    """A delivery after one more attempt: failed unless the code is 2xx."""
    succeeded = code is not None and 200 <= code < 300
    at = facts.pop("started_at", timezone.now())
    status = status or ("delivered" if succeeded else "pending")
    delivery.attempts += 1
    delivery.step += 1
    delivery.status, delivery.last_code = status, code
    delivery.last_fault = "" if succeeded else fault
    delivery.finished_at = at if status != "pending" else None
    delivery.save()
    attempt = Attempt(
        tenant=delivery.tenant,
        delivery=delivery,
        endpoint=delivery.endpoint,
        number=delivery.attempts,
        is_manual=delivery.lane == 1,
        succeeded=succeeded,
        started_at=at,
        url=delivery.endpoint.url,
        sent_timestamp=int(at.timestamp()),
        signature=facts.pop("signature", "v1,c2lnbmF0dXJl"),
        code=code,
        fault=delivery.last_fault,
        total_ms=facts.pop("total_ms", 120.0),
        **facts,
    )
    attempt.save(force_insert=True)
    return attempt
