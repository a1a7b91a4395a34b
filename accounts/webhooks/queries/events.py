"""Query events: about one object, and the latest event types."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from django.db.models import Count, JSONField
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, TruncDate

from accounts.webhooks.models import Delivery, Event

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date, datetime, tzinfo
    from uuid import UUID

    from accounts.models import Tenant


_ABOUT_MAX = 50
# Of a user's events, the last that are looked through: bounded, however many there are.
_LOOKED_AT = 2_000
# Counted without their bodies.
_COUNTED_AT_MOST = 10_000


class EventTally(NamedTuple):
    """How many of the events looked at are of one type, and when the last one was."""

    event_type: str
    number: int
    last_at: datetime


class SentEvent(NamedTuple):
    """An event without its body; `says` is what of its data was asked for."""

    message_id: str
    event_type: str
    at: datetime
    says: str | None


class CarryingEvent(NamedTuple):
    """An event with its body, the envelope of contract 8.1 as it is sent.

    `deliveries` are the endpoint's id and how its delivery stands.
    """

    message_id: str
    event_type: str
    at: datetime
    body: str
    deliveries: list[tuple[UUID, str]]


class EndpointDelivery(NamedTuple):
    """How the delivery of an event to one endpoint stands.

    `name` is the endpoint's description, or its host: a path may hold a secret.
    """

    endpoint_id: UUID
    name: str
    status: str


def list_endpoints_by_message(
    *, tenant: Tenant, message_ids: Sequence[str]
) -> dict[str, list[EndpointDelivery]]:
    """Return for each message the endpoints it was sent to, without deleted ones.

    Two queries.
    """
    events = Event.objects.for_tenant(tenant).filter(message_id__in=message_ids)
    names = dict(events.values_list("pk", "message_id"))
    sent = Delivery.objects.for_tenant(tenant).filter(
        event__in=list(names), endpoint__deleted_at=None
    )
    columns = (
        "event_id",
        "endpoint__uuid",
        "endpoint__description",
        "endpoint__url",
        "status",
    )
    found: dict[str, list[EndpointDelivery]] = {}
    for key, endpoint, description, url, status in sent.order_by("pk").values_list(
        *columns
    ):
        name = description or urlsplit(url).hostname or ""
        found.setdefault(names[key], []).append(
            EndpointDelivery(endpoint, name, status)
        )
    return found


def list_events_about_object(
    *,
    tenant: Tenant,
    user_uuid: UUID,
    event_types: Sequence[str],
    data_id: UUID,
    says: str,
) -> list[SentEvent]:
    """Return a user's events of these types whose data has this id, the latest first.

    `says` is the path of what to read of their data, such as `last_event__status`. One
    query over the user's events; at most the last 50.
    """
    found = (
        Event.objects.for_tenant(tenant)
        .filter(user_uuid=user_uuid, event_type__in=event_types)
        .annotate(envelope=Cast("body", JSONField()))
        .filter(envelope__data__id=str(data_id))
        .annotate(said=KT(f"envelope__data__{says}"))
        .order_by("-id")
    )
    return [
        SentEvent(*row)
        for row in found.values_list("message_id", "event_type", "created_at", "said")[
            :_ABOUT_MAX
        ]
    ]


def count_user_events_per_day(
    *, tenant: Tenant, user_uuid: UUID, start: datetime, end: datetime, zone: tzinfo
) -> dict[date, int]:
    """Count a user's events on each day of `zone` that has any; one query.

    Among the last _COUNTED_AT_MOST before `end`; tests are left out.
    """
    events = Event.objects.for_tenant(tenant).filter(
        user_uuid=user_uuid, is_test=False, created_at__lt=end
    )
    latest = events.order_by("-id").values("pk")[:_COUNTED_AT_MOST]
    shown = Event.objects.for_tenant(tenant).filter(
        pk__in=latest, created_at__gte=start
    )
    by_day = shown.values_list(TruncDate("created_at", tzinfo=zone))
    return dict(by_day.annotate(Count("pk")).order_by())


def list_user_events_with_bodies(
    *, tenant: Tenant, user_uuid: UUID, event_types: Sequence[str], limit: int
) -> list[CarryingEvent]:
    """Return a user's events of these types with their bodies, the latest first.

    Among the last _LOOKED_AT of all the user's; two queries.
    """
    events = Event.objects.for_tenant(tenant).filter(is_test=False)
    latest = events.filter(user_uuid=user_uuid).order_by("-id").values("pk")
    found = list(
        events.filter(pk__in=latest[:_LOOKED_AT], event_type__in=event_types).order_by(
            "-id"
        )[:limit]
    )
    deliveries: dict[int, list[tuple[UUID, str]]] = {}
    sent = Delivery.objects.for_tenant(tenant).filter(
        event__in=[event.pk for event in found], endpoint__deleted_at=None
    )
    columns = ("event_id", "endpoint__uuid", "status")
    for key, endpoint, status in sent.order_by("pk").values_list(*columns):
        deliveries.setdefault(key, []).append((endpoint, status))
    return [
        CarryingEvent(
            event.message_id,
            event.event_type,
            event.created_at,
            event.body,
            deliveries.get(event.pk, []),
        )
        for event in found
    ]


def count_recent_event_types(*, tenant: Tenant, among: int) -> list[EventTally]:
    """Return the types of the last `among` events of a tenant, the latest type first.

    It names no user: the type alone may say what somebody would rather not have read
    over a shoulder. One query, bounded by `among`.
    """
    last = Event.objects.for_tenant(tenant).order_by("-id")
    number: Counter[str] = Counter()
    last_at: dict[str, datetime] = {}
    for event_type, at in last.values_list("event_type", "created_at")[:among]:
        number[event_type] += 1
        last_at.setdefault(event_type, at)
    return [EventTally(kind, number[kind], at) for kind, at in last_at.items()]
