"""Find the webhook events that contained a user's records."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson

from accounts.states import Area
from accounts.webhooks.queries import list_user_events_with_bodies
from portal.lib.web.views import page_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from uuid import UUID

    from accounts.web.requests import TenantRequest
    from accounts.webhooks.queries import CarryingEvent
    from users.models import User
    from users.wearables.resources import SummaryResource
    from users.wearables.timeseries import TimeseriesResource

EVENTS_MAX = 50


@dataclass(frozen=True, slots=True)
class RecordEvent:
    """An event, and how many of the requested records it contained."""

    event: CarryingEvent
    provider: str
    records: int


def find_events_with_samples(
    *,
    user: User,
    resource: TimeseriesResource,
    start: datetime,
    end: datetime,
    provider: str = "",
) -> list[RecordEvent]:
    """Return events with samples of [start, end), latest first; two queries.

    `provider` is a slug, empty for all. Events are kept for a while only.
    """

    def count_records(data: Any) -> int:
        times = (_moment(each.get("timestamp")) for each in data.get("data", ()))
        return sum(at is not None and start <= at < end for at in times)

    names = [resource.event_type(is_new=is_new) for is_new in (True, False)]
    return _find_events(user, names, count_records, provider)


def find_events_with_summaries(
    *, user: User, resource: SummaryResource, ids: Iterable[UUID]
) -> list[RecordEvent]:
    """Return events with these summaries, latest first; two queries."""
    event_ids = {str(each) for each in ids}
    names = [resource.event_type(is_new=is_new) for is_new in (True, False)]
    return _find_events(user, names, lambda data: int(data.get("id") in event_ids), "")


def list_event_deliveries(
    request: TenantRequest, carrier: RecordEvent
) -> list[tuple[str, str]]:
    """Return the status of each delivery of an event, with its URL if permitted."""
    may_see = request.rights.allow(Area.WEBHOOKS)
    return [
        (
            status,
            page_url(
                request,
                "webhooks:delivery",
                endpoint_id=endpoint,
                message_id=carrier.event.message_id,
            )
            if may_see
            else "",
        )
        for endpoint, status in carrier.event.deliveries
    ]


def _find_events(
    user: User, names: list[str], count_records: Callable[[Any], int], provider: str
) -> list[RecordEvent]:
    found = list_user_events_with_bodies(
        tenant=user.tenant,
        user_uuid=user.uuid,
        event_types=names,
        limit=EVENTS_MAX,
    )
    record_events = []
    for event in found:
        data = orjson.loads(event.body).get("data", {})
        slug = str((data.get("source") or {}).get("slug", ""))
        number = count_records(data)
        if number and provider in ("", slug):
            record_events.append(RecordEvent(event, slug, number))
    return record_events


def _moment(text: object) -> datetime | None:
    try:
        return datetime.fromisoformat(str(text)).astimezone(UTC)
    except ValueError:
        return None
