"""A user's stored series: by resource, type and source, with their extents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from users.store.dictionaries import (
    OPEN_SERIES_FIRST,
    find_feeds_by_number,
    find_series_by_number,
)
from users.store.extents import find_sample_extents
from users.wearables.timeseries import TIMESERIES

if TYPE_CHECKING:
    from users.models import User
    from users.store.dictionaries import FeedKey
    from users.store.extents import Extent
    from users.wearables.timeseries import TimeseriesResource

_CLOSED = {
    number: (resource, type_)
    for resource in TIMESERIES.values()
    for number, type_ in resource.series.items()
}


@dataclass(frozen=True, slots=True)
class StoredSeries:
    """Samples of one resource, type and feed."""

    resource: TimeseriesResource
    type: str | None
    source: FeedKey
    extent: Extent


def list_stored_series(*, user: User) -> list[StoredSeries]:
    """List the series that a user has samples of, by resource; three queries."""
    extents = find_sample_extents(user_id=user.pk)
    feeds = find_feeds_by_number(
        tenant=user.tenant, numbers={each.feed for each in extents}
    )
    open_numbers = {each.series for each in extents if each.series >= OPEN_SERIES_FIRST}
    known: dict[int, tuple[TimeseriesResource, str | None]] = dict(_CLOSED)
    for number, (slug, type_) in find_series_by_number(
        tenant=user.tenant, numbers=open_numbers
    ).items():
        known[number] = TIMESERIES[slug], type_
    order = {slug: place for place, slug in enumerate(TIMESERIES)}
    found = [
        StoredSeries(*known[each.series], feeds[each.feed], each)
        for each in extents
        # A resource that was taken out keeps its samples, and nobody shows them.
        if each.series in known and each.feed in feeds
    ]
    return sorted(
        found,
        key=lambda each: (
            order[each.resource.slug],
            each.type or "",
            each.source.provider,
        ),
    )
