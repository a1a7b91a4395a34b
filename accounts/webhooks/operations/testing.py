"""Send a test event to one endpoint, like any other event."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

import orjson
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_change
from accounts.webhooks.catalogue import load_event_types
from accounts.webhooks.examples import build_example_event
from accounts.webhooks.models import Delivery, Endpoint, Event
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from portal.lib.actor import Actor


@transaction.atomic
def send_test_event(
    *, endpoint: Endpoint, actor: Actor, event_type: str | None = None
) -> Delivery:
    """Send an example event to an endpoint, whatever its filter; return the delivery.

    Without `event_type` it is the first that the endpoint takes. It is signed, tried
    again and logged as others are; `team_id` is the team's, its user is nobody, and the
    feed leaves it out. Raises: event_type_unknown, endpoint_disabled. Source: Ours: a
    receiver is tried before anything happens that it must not miss.
    """
    kind = event_type or find_first_subscribed_event_type(endpoint)
    if kind not in load_event_types():
        raise DomainError("event_type_unknown", _("Unknown event type."), "event_type")
    tenant = endpoint.tenant
    locked = Endpoint.objects.for_tenant(tenant).live().select_for_update()
    if not locked.filter(pk=endpoint.pk, disabled_at=None).exists():
        raise DomainError(
            "endpoint_disabled", _("This endpoint is disabled. Resume it first.")
        )
    example = {**build_example_event(kind), "team_id": tenant.team_id}
    now = timezone.now()
    event = Event(
        tenant=tenant,
        event_type=kind,
        user_uuid=UUID(example["user_id"]),
        client_user_id=example["client_user_id"],
        body=orjson.dumps(example).decode(),
        is_test=True,
        created_at=now,
    )
    event.save(force_insert=True)
    delivery = Delivery(
        tenant=tenant,
        endpoint=endpoint,
        event=event,
        event_type=kind,
        user_uuid=event.user_uuid,
        due_at=now,
        created_at=now,
    )
    delivery.save(force_insert=True)
    record_change(
        tenant=tenant,
        actor=actor,
        verb="send_test_event",
        subject="endpoint",
        subject_id=endpoint.uuid,
        changes={"event_type": [None, kind]},
    )
    return delivery


def find_first_subscribed_event_type(endpoint: Endpoint) -> str:
    """Return the first type of the catalogue that the endpoint subscribes to."""
    prefixes = endpoint.filter_types or [""]
    return next(
        kind
        for each in prefixes
        for kind in load_event_types()
        if kind.startswith(each)
    )
