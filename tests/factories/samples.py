"""Stored samples, put past reading them; nobody's in truth."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from django.db import transaction

from users.store.columns import SampleColumns
from users.store.dictionaries import (
    get_or_create_feed_number,
    get_or_create_series_numbers,
)
from users.store.samples import get_sample_store
from users.wearables.timeseries import TIMESERIES

if TYPE_CHECKING:
    from users.models import User


@transaction.atomic
def put_samples(
    user: User,
    slug: str,
    *samples: tuple[str, float, float],
    provider: str = "oura",
    source_type: str = "unknown",
    type_: str | None = None,
) -> None:
    """Store samples of a resource, each (start in UTC, minutes, value).

    `type_` is the word of their type, where the resource has types.
    """
    resource = TIMESERIES[slug]
    series = (
        get_or_create_series_numbers(
            tenant=user.tenant, resource=slug, types=[str(type_)]
        )[str(type_)]
        if resource.has_open_type
        else {word: number for number, word in resource.series.items()}[type_]
    )
    feed = get_or_create_feed_number(
        tenant=user.tenant, provider=provider, source_type=source_type
    )
    columns = SampleColumns(
        series=[series] * len(samples),
        ts=[datetime.fromisoformat(at).replace(tzinfo=UTC) for at, _, _ in samples],
        value=[float(value) for _, _, value in samples],
        tz_offset=[0] * len(samples),
        duration=[round(minutes * 60) for _, minutes, _ in samples],
        origin=[0] * len(samples),
    )
    get_sample_store().write_batch(user_id=user.pk, feed=feed, columns=columns)
