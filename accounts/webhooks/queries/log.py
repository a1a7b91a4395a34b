"""Query an endpoint's log: filtered deliveries, one delivery, its attempts."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import Count, Max, Min, OuterRef, Q, QuerySet, Subquery

from accounts.webhooks.catalogue import load_event_types
from accounts.webhooks.models import Attempt, Delivery, Event, ReplayItem
from accounts.webhooks.states import DeliveryStatus
from portal.lib.choices import OpenChoices
from portal.lib.database.sorting import sort_as_asked
from portal.lib.translation import gettext_lazy, pgettext_lazy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from accounts.models import Tenant
    from accounts.webhooks.models import Endpoint

# A list that matches more says so instead of counting on.
COUNTED_UP_TO = 10_000
_MOST_TRIES = 200


class Outcome(OpenChoices):
    """What became of a delivery so far, as the log is asked for it."""

    DELIVERED = "delivered", gettext_lazy("Delivered")
    RETRYING = "retrying", gettext_lazy("Waiting for a retry")
    WAITING = "waiting", gettext_lazy("Waiting for the first attempt")
    FAILED = "failed", gettext_lazy("Failed")
    HELD = "held", gettext_lazy("On hold")
    DROPPED = "dropped", pgettext_lazy("delivery", "Cancelled")
    MISSED = "missed", gettext_lazy("Missed: failed, on hold, cancelled or retrying")


_OUTCOMES: dict[str, Q] = {
    Outcome.DELIVERED: Q(status=DeliveryStatus.DELIVERED),
    Outcome.RETRYING: Q(status=DeliveryStatus.PENDING, attempts__gt=0),
    Outcome.WAITING: Q(status=DeliveryStatus.PENDING, attempts=0),
    Outcome.FAILED: Q(status=DeliveryStatus.FAILED),
    Outcome.HELD: Q(status=DeliveryStatus.HELD),
    Outcome.DROPPED: Q(status=DeliveryStatus.DROPPED),
    # What waits for a retry has been missed so far.
    Outcome.MISSED: Q(
        status__in=[DeliveryStatus.FAILED, DeliveryStatus.HELD, DeliveryStatus.DROPPED]
    )
    | Q(status=DeliveryStatus.PENDING, attempts__gt=0),
}


_NOT_DELIVERED = [
    status.value for status in DeliveryStatus if status != DeliveryStatus.DELIVERED
]


class Answer(OpenChoices):
    """What the last attempt met."""

    OK = "2xx", gettext_lazy("2xx")
    REDIRECT = "3xx", gettext_lazy("3xx")
    REFUSED = "4xx", gettext_lazy("4xx")
    BROKEN = "5xx", gettext_lazy("5xx")
    NONE = "none", gettext_lazy("No response")


class Tries(OpenChoices):
    """How many attempts were made."""

    FIRST = "1", gettext_lazy("One")
    AGAIN = "2", gettext_lazy("Two or more")
    OFTEN = "5", gettext_lazy("Five or more")


@dataclass(frozen=True, slots=True)
class LogFilters:
    """What deliveries are asked for; empty parts ask for nothing.

    `event_type` may be a prefix that ends in a dot; `user` is our id of a user or the
    customer's own. `since` is included, `until` is not.
    """

    outcome: str = ""
    event_type: str = ""
    user: str = ""
    answer: str = ""
    tries: str = ""
    since: datetime | None = None
    until: datetime | None = None
    replay: UUID | None = None
    message_ids: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The same for a JSON column; parts that ask for nothing are left out."""
        fields = {name: value for name, value in asdict(self).items() if value}
        for name in ("since", "until"):
            if name in fields:
                fields[name] = fields[name].isoformat()
        if "replay" in fields:
            fields["replay"] = str(fields["replay"])
        return fields

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> LogFilters:
        """Read what as_json wrote."""
        parts = dict(given)
        for name in ("since", "until"):
            if name in parts:
                parts[name] = datetime.fromisoformat(parts[name])
        if "replay" in parts:
            parts["replay"] = UUID(parts["replay"])
        if "message_ids" in parts:
            parts["message_ids"] = tuple(parts["message_ids"])
        return cls(**parts)


@dataclass(frozen=True, slots=True)
class LogPage:
    """Some deliveries, the newest first; `after` is where the older ones begin.

    In another order, `after` is where all of them begin, and the next `next_offset`.
    """

    deliveries: Sequence[Delivery]
    after: tuple[datetime, int] | None
    next_offset: int | None = None


@dataclass(frozen=True, slots=True)
class Extent:
    """How much a filter matches: events, users, and the time of first and last."""

    number: int
    users: int
    first_at: datetime | None
    last_at: datetime | None


def filter_webhook_deliveries(
    *, endpoint: Endpoint, filters: LogFilters
) -> QuerySet[Delivery]:
    """Return an endpoint's deliveries that match a filter, in no order."""
    rows: QuerySet[Delivery] = Delivery.objects.for_tenant(endpoint.tenant).filter(
        endpoint=endpoint
    )
    if filters.outcome in _OUTCOMES:
        rows = rows.filter(_OUTCOMES[filters.outcome])
    if filters.event_type:
        rows = rows.filter(event_type__in=_types(filters.event_type))
    if filters.user:
        rows = rows.filter(event__in=_events_of(endpoint, filters.user))
    if filters.answer:
        rows = rows.filter(_answered(filters.answer))
    if filters.tries == Tries.FIRST:
        rows = rows.filter(attempts=1)
    elif filters.tries:
        rows = rows.filter(attempts__gte=int(filters.tries))
    if filters.since:
        rows = rows.filter(created_at__gte=filters.since)
    if filters.until:
        rows = rows.filter(created_at__lt=filters.until)
    if filters.replay:
        items = ReplayItem.objects.for_tenant(endpoint.tenant)
        rows = rows.filter(
            pk__in=items.filter(replay__uuid=filters.replay).values("delivery")
        )
    if filters.message_ids:
        rows = rows.filter(event__message_id__in=filters.message_ids)
    return rows


def list_webhook_deliveries(
    *,
    endpoint: Endpoint,
    filters: LogFilters,
    before: tuple[datetime, int] | None = None,
    limit: int,
    order_by: str = "",
    offset: int = 0,
) -> LogPage:
    """Return a page of the log: one query, two if `order_by` is given; no bodies.

    `order_by` is a path of Delivery, with a minus for downwards, and `offset` how many
    of that order are skipped: of those before `before`, so that what is new since moves
    none from one page to another.

    Each delivery has `answered_ms`, the time of its last attempt, and its event.
    """
    rows = filter_webhook_deliveries(endpoint=endpoint, filters=filters)
    if before:
        at, pk = before
        # The first condition is what an index can begin at.
        rows = rows.filter(created_at__lte=at).filter(
            Q(created_at__lt=at) | Q(created_at=at, pk__lt=pk)
        )
    newest = ("-created_at", "-pk")
    if order_by and before is None:
        first = rows.order_by(*newest).values_list("created_at", "pk").first()
        before = (first[0], first[1] + 1) if first else None
        rows = rows.filter(created_at__lte=first[0]) if first else rows
    rows = sort_as_asked(rows.order_by(*newest), order_by=order_by, newest=newest)
    skipped = offset if order_by else 0
    last = Attempt.objects.for_tenant(endpoint.tenant).filter(delivery=OuterRef("pk"))
    found = list(
        rows.select_related("event")
        .defer("event__body")
        .annotate(
            answered_ms=Subquery(last.order_by("-number").values("total_ms")[:1])
        )[skipped : skipped + limit + 1]
    )
    page = found[:limit]
    more = len(found) > limit
    if order_by:
        return LogPage(page, before if more else None, skipped + limit)
    return LogPage(page, (page[-1].created_at, page[-1].pk) if more else None)


def count_matching_deliveries(*, endpoint: Endpoint, filters: LogFilters) -> int:
    """Count matching deliveries; COUNTED_UP_TO + 1 stands for more."""
    rows = filter_webhook_deliveries(endpoint=endpoint, filters=filters)
    return rows.order_by()[: COUNTED_UP_TO + 1].count()


def measure_matching_deliveries(*, endpoint: Endpoint, filters: LogFilters) -> Extent:
    """Return number, users and period of all matching deliveries."""
    rows = filter_webhook_deliveries(endpoint=endpoint, filters=filters)
    found = rows.aggregate(
        number=Count("pk"),
        users=Count("user_uuid", distinct=True),
        first_at=Min("created_at"),
        last_at=Max("created_at"),
    )
    return Extent(**found)


def find_webhook_delivery(*, endpoint: Endpoint, message_id: str) -> Delivery | None:
    """Return the delivery of one message, with its event."""
    rows = Delivery.objects.for_tenant(endpoint.tenant).filter(endpoint=endpoint)
    found: Delivery | None = (
        rows.select_related("event", "endpoint")
        .filter(event__message_id=message_id)
        .first()
    )
    return found


def list_event_deliveries(*, tenant: Tenant, message_id: str) -> list[Delivery]:
    """Return the deliveries of one message, to endpoints that are not deleted."""
    rows = Delivery.objects.for_tenant(tenant).select_related("endpoint")
    return list(
        rows.filter(
            event__in=Event.objects.for_tenant(tenant)
            .filter(message_id=message_id)
            .values("pk"),
            endpoint__deleted_at=None,
        ).order_by("pk")
    )


def list_delivery_attempts(delivery: Delivery) -> list[Attempt]:
    """Return the attempts of a delivery, oldest first, the last _MOST_TRIES of them."""
    rows = Attempt.objects.for_tenant(delivery.endpoint.tenant)
    return list(rows.filter(delivery=delivery).order_by("-number")[:_MOST_TRIES])[::-1]


def _types(text: str) -> list[str]:
    if not text.endswith("."):
        return [text]
    return [name for name in load_event_types() if name.startswith(text)]


def _events_of(endpoint: Endpoint, user: str) -> QuerySet[Event]:
    """Ids of the events about a user, by either id."""
    rows: QuerySet[Event] = Event.objects.for_tenant(endpoint.tenant)
    try:
        about = rows.filter(user_uuid=UUID(user))
    except ValueError:
        about = rows.filter(client_user_id=user)
    return about.values("pk")  # type: ignore[return-value]  # a subquery of ids


def _answered(answer: str) -> Q:
    if answer == Answer.OK:
        return Q(last_code__gte=200, last_code__lt=300)
    # Most are delivered, and an index knows the others.
    met = Q(status__in=_NOT_DELIVERED)
    if answer == Answer.NONE:
        return met & Q(last_code=None, attempts__gt=0)
    first = int(answer[0]) * 100
    return met & Q(last_code__gte=first, last_code__lt=first + 100)
