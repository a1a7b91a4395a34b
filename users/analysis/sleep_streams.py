"""Streams of a sleep: its provider's samples of the night, by resource.

Nothing of their own is stored, so they and the timeseries can't disagree. Must not be
here: HTTP, or the shape of a sample (timeseries.shapes).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from users.store.dictionaries import find_feed_numbers_of_provider
from users.store.samples import get_sample_store
from users.wearables.readings import Schema
from users.wearables.timeseries import TIMESERIES
from users.wearables.timeseries.shapes import build_sample_payloads, build_sample_schema

if TYPE_CHECKING:
    from users.models import Summary

_RESOURCES = tuple(
    TIMESERIES[slug] for slug in ("hrv", "heartrate", "respiratory_rate")
)
# Ours: three days, the longest sleep, at one heart rate a second, and some.
_SAMPLES_MAX = 300_000

SLEEP_STREAM_SCHEMA: Schema = {
    "type": "object",
    "properties": {
        resource.slug: {
            "type": ["array", "null"],
            "items": build_sample_schema(resource),
        }
        for resource in _RESOURCES
    },
    "required": [resource.slug for resource in _RESOURCES],
}


def list_samples_during_sleep(sleep: Summary) -> dict[str, list[dict[str, Any]] | None]:
    """Return samples from `bedtime_start` to `bedtime_stop` (exclusive).

    Each list ascends by time; it is None where the provider has no sample. Source:
    Contract 4.5; Ours: of all source types of the sleep's provider.
    """
    start, end = sleep.starts_at, sleep.ends_at
    feeds = find_feed_numbers_of_provider(
        tenant=sleep.user.tenant, provider=sleep.provider
    )
    types = {
        number: name for each in _RESOURCES for number, name in each.series.items()
    }
    rows = (
        get_sample_store().read_range(
            user_id=sleep.user.pk,
            series=list(types),
            start=start,
            end=end,
            feeds=feeds,
            after=None,
            limit=_SAMPLES_MAX,
        )
        if feeds and end is not None
        else []
    )
    return {
        each.slug: build_sample_payloads(
            each, [row for row in rows if row[1] in each.series], types
        )
        or None
        for each in _RESOURCES
    }
