"""Pages of a user's stored samples, grouped by source.

Every reader of these audits the read (accounts.operations.audit.entries).
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from users.store.dictionaries import (
    find_feed_numbers_of_provider,
    find_feeds_by_number,
    find_origins_by_number,
    find_series_types_of_resource,
)
from users.store.samples import get_sample_store
from users.wearables.timeseries.shapes import (
    build_payloads_of_one_series,
    build_sample_payloads,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from users.models import User
    from users.store.columns import SampleRow
    from users.store.dictionaries import FeedKey, OriginKey
    from users.store.one_source import OneSource, SourceRow
    from users.wearables.timeseries import TimeseriesResource

# The place of a sample in a user's resource: ts, series, feed.
Key = tuple["datetime", int, int]
Groups = dict[str, list[dict[str, Any]]]
_DURATION, _ORIGIN = itemgetter(3), itemgetter(-1)


@dataclass(frozen=True, slots=True)
class SamplePage:
    """Samples grouped as contract 5.1 has them, by slug of the provider.

    `last` is the key to go on behind, None where these are the last.
    """

    groups: Groups
    last: Key | None


def get_sample_page(
    *,
    user: User,
    resource: TimeseriesResource,
    start: datetime,
    end: datetime,
    provider: str | None = None,
    after: Key | None = None,
    limit: int,
) -> SamplePage:
    """Return a page of samples in [start, end), at most `limit`, by time.

    `provider` is a slug, None for all. One group per provider, source type, app,
    device, workout and sport. A constant number of queries. Source: Contract 5.1; Ours:
    sport tells groups apart too, or a wheelchair's distances would pass for walked.
    """
    types = list_series_types(user=user, resource=resource)
    feeds = None
    if provider is not None:
        feeds = find_feed_numbers_of_provider(tenant=user.tenant, provider=provider)
    if not types or feeds == []:
        return SamplePage({}, None)
    if feeds is None:
        found = get_sample_store().read_only_source(
            user_id=user.pk,
            series=list(types),
            start=start,
            end=end,
            after=after,
            limit=limit + 1,
            has_durations=resource.is_interval,
        )
        if found is not None:
            return _page_of_one_source(user, resource, found, types, limit)
    rows = get_sample_store().read_range(
        user_id=user.pk,
        series=list(types),
        start=start,
        end=end,
        feeds=feeds,
        after=after,
        limit=limit + 1,
    )
    page = rows[:limit]
    return SamplePage(
        groups=_group(user, resource, page, types),
        last=page[-1][:3] if len(rows) > limit else None,
    )


def list_series_types(
    *, user: User, resource: TimeseriesResource
) -> Mapping[int, str | None]:
    """Return the possible series of a resource with their types."""
    if resource.has_open_type:
        return find_series_types_of_resource(tenant=user.tenant, resource=resource.slug)
    return resource.series


def _page_of_one_source(
    user: User,
    resource: TimeseriesResource,
    found: OneSource,
    types: Mapping[int, str | None],
    limit: int,
) -> SamplePage:
    rows = found.rows[:limit]
    parts: dict[int, list[SourceRow]] = {}
    numbers = set(map(_ORIGIN, rows))
    if len(numbers) == 1:
        parts = dict.fromkeys(numbers, rows)
    else:
        for row in rows:
            parts.setdefault(row[-1], []).append(row)
    feeds = find_feeds_by_number(tenant=user.tenant, numbers={found.feed})
    origins = find_origins_by_number(user_id=user.pk, numbers=numbers)
    feed, type_ = feeds[found.feed], types[found.series]
    groups = [
        {
            "source": _source(feed, origins[origin]),
            "data": build_payloads_of_one_series(
                resource, part, type_, durations=map(_DURATION, part)
            ),
        }
        for origin, part in parts.items()
    ]
    last = (rows[-1][0], found.series, found.feed) if len(found.rows) > limit else None
    return SamplePage(groups={feed.provider: groups}, last=last)


def _group(
    user: User,
    resource: TimeseriesResource,
    rows: list[SampleRow],
    types: Mapping[int, str | None],
) -> Groups:
    keys = {(row[2], row[6]) for row in rows}
    if len(keys) == 1:  # as most pages are
        parts = dict.fromkeys(keys, rows)
    else:
        parts = {}
        for row in rows:
            parts.setdefault((row[2], row[6]), []).append(row)
    feeds = find_feeds_by_number(
        tenant=user.tenant, numbers={feed for feed, _ in parts}
    )
    origins = find_origins_by_number(
        user_id=user.pk, numbers={origin for _, origin in parts}
    )
    groups: Groups = {}
    for (feed, origin), part in parts.items():
        source = _source(feeds[feed], origins[origin])
        group = {"source": source, "data": build_sample_payloads(resource, part, types)}
        groups.setdefault(feeds[feed].provider, []).append(group)
    return groups


def _source(feed: FeedKey, origin: OriginKey) -> dict[str, Any]:
    """Return the source object of contract 3.4."""
    return {
        "provider": feed.provider,
        "type": feed.source_type,
        "app_id": origin.app_id,
        "device_id": origin.device_id,
        "sport": origin.sport,
        "workout_id": origin.workout_id,
    }
