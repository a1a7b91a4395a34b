"""Which events carried records to the team's endpoints.

Must not be here: what an event means, or a payload (the log of webhooks shows it).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson

from accounts.states import Area
from accounts.webhooks.queries import events_carrying
from portal.lib.web import page_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from uuid import UUID

    from accounts.webhooks.queries import CarryingEvent
    from portal.lib.web import TenantRequest
    from users.models import User
    from users.wearables.resources import SummaryResource
    from users.wearables.timeseries import TimeseriesResource

CARRIERS_MAX = 50


@dataclass(frozen=True, slots=True)
class Carrier:
    """An event, and how many of the records asked about it carried."""

    event: CarryingEvent
    provider: str
    records: int


def carriers_of_samples(
    *,
    user: User,
    resource: TimeseriesResource,
    start: datetime,
    end: datetime,
    provider: str = "",
) -> list[Carrier]:
    """Events that carried samples of [start, end), the latest first; two queries.

    `provider` is a slug, empty for all. Events are kept for a while only.
    """

    def carried(data: Any) -> int:
        times = (_moment(each.get("timestamp")) for each in data.get("data", ()))
        return sum(at is not None and start <= at < end for at in times)

    names = [resource.event_type(is_new=is_new) for is_new in (True, False)]
    return _carriers(user, names, carried, provider)


def carriers_of_summaries(
    *, user: User, resource: SummaryResource, ids: Iterable[UUID]
) -> list[Carrier]:
    """Events that carried these summaries, the latest first; two queries."""
    wanted = {str(each) for each in ids}
    names = [resource.event_type(is_new=is_new) for is_new in (True, False)]
    return _carriers(user, names, lambda data: int(data.get("id") in wanted), "")


def sent_as(request: TenantRequest, carrier: Carrier) -> list[tuple[str, str]]:
    """How each delivery of an event stands, with its address for who may see it."""
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


def _carriers(
    user: User, names: list[str], carried: Callable[[Any], int], provider: str
) -> list[Carrier]:
    found = events_carrying(
        tenant=user.tenant,
        user_uuid=user.uuid,
        event_types=names,
        limit=CARRIERS_MAX,
    )
    carriers = []
    for event in found:
        data = orjson.loads(event.body).get("data", {})
        slug = str((data.get("source") or {}).get("slug", ""))
        number = carried(data)
        if number and provider in ("", slug):
            carriers.append(Carrier(event, slug, number))
    return carriers


def _moment(text: object) -> datetime | None:
    try:
        return datetime.fromisoformat(str(text)).astimezone(UTC)
    except ValueError:
        return None
