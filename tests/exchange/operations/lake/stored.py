"""A month of every kind of data, and what a copy of it has to say."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction

from labs.models import Result
from tests.factories.results import (
    make_order_awaiting_results,
    make_reported_result,
    make_results,
)
from tests.factories.samples import put_samples
from tests.factories.summaries import record
from tests.factories.users import make_user
from tests.packed import list_samples
from users.models import Summary, User
from users.store.columns import SampleColumns
from users.store.dictionaries import (
    OriginKey,
    find_feeds_by_number,
    find_origins_by_number,
    get_or_create_feed_number,
    get_or_create_origin_numbers,
)
from users.store.packed.packing import pack_days_of_user
from users.store.samples import get_sample_store
from users.wearables.timeseries import TIMESERIES

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
OCTOBER = datetime(2026, 10, 1, tzinfo=UTC)
NOVEMBER = datetime(2026, 11, 1, tzinfo=UTC)
DEVICE = UUID("6a0c2f35-7a6c-4d5e-9d60-0b8a4f3a1d11")
WORKOUT = UUID("9b1f8a1e-64bd-4d0c-8a55-5d1c0f4f2b22")


HEART = TIMESERIES["heartrate"].number * 100
STEPS = TIMESERIES["steps"].number * 100
BODY = TIMESERIES["body_temperature"].number * 100
MINUTE = timedelta(minutes=1)
TICK = timedelta(microseconds=1)


def fill_month(tenant: Any, *, is_packed: bool, has_results: bool = False) -> User:
    """A user with samples and summaries of October 2026, some beyond; also results."""
    user = make_user(tenant=tenant)
    store_samples(user, HEART, [OCTOBER - TICK, NOVEMBER], provider="oura")
    store_samples(
        user,
        HEART,
        [OCTOBER, *(OCTOBER + n * MINUTE for n in range(5, 20)), NOVEMBER - TICK],
        provider="oura",
        origins=[
            OriginKey(),
            OriginKey("org.example.app", DEVICE, WORKOUT, "running"),
            OriginKey(device_id=DEVICE),
        ],
    )
    store_samples(user, HEART, [OCTOBER + MINUTE / 7], provider="garmin")
    store_samples(
        user,
        STEPS,
        [OCTOBER + n * MINUTE for n in range(9)],
        provider="garmin",
        duration=60,
    )
    store_samples(
        user,
        BODY,
        [OCTOBER + n * MINUTE for n in range(10)],
        provider="oura",
        extra={3: {"sensor_location": "ear"}, 8: {"sensor_location": "wrist"}},
    )
    put_samples(user, "caffeine", ("2026-10-03T07:00:00.25", 0, 95.5))
    put_samples(
        user,
        "stand_hour",
        ("2026-10-03T08:00:00", 60, 1),
        type_="idle",
    )
    if is_packed:
        pack_days_of_user(user_id=user.pk, before=NOVEMBER)
        # Late: a row beside its packed day.
        store_samples(user, HEART, [OCTOBER + 30 * MINUTE], provider="oura")
    record(user, "body", {"calendar_date": "2026-10-31", "weight": 71.5})
    record(user, "activity", {"calendar_date": "2026-10-01"}, device_id=DEVICE)
    record(user, "activity", {"calendar_date": "2026-11-01"})
    record(
        user,
        "sleep",
        {
            "bedtime_start": "2026-10-09T22:00:00+00:00",
            "bedtime_stop": "2026-10-10T06:00:00+00:00",
        },
    )
    if has_results:
        fill_results(user)
    return user


def fill_results(user: User) -> None:
    """Results collected in October, corrected in November."""
    order = make_order_awaiting_results(tenant=user.tenant, user=user)
    for text in ("85", "131"):
        make_results(
            order=order,
            results=(
                make_reported_result(text=text),
                make_reported_result("Colour", "yellow", unit="", reference_range=""),
            ),
            collected_at=NOVEMBER - MINUTE,
        )


@transaction.atomic
def store_samples(
    user: User,
    series: int,
    ts: list[datetime],
    *,
    provider: str,
    duration: int = 0,
    origins: list[OriginKey] | None = None,
    extra: dict[int, dict[str, Any]] | None = None,
) -> None:
    """Store samples whose values, offsets and origins differ."""
    numbers = get_or_create_origin_numbers(user=user, origins=origins or [])
    cycle = [numbers[each] for each in origins or [OriginKey()]]
    columns = SampleColumns(
        series=[series] * len(ts),
        ts=ts,
        value=[60 + n / 3 for n in range(len(ts))],
        tz_offset=[(n % 2) * 7200 - 3600 for n in range(len(ts))],
        duration=[duration] * len(ts),
        origin=[cycle[n % len(cycle)] for n in range(len(ts))],
        extra=extra or {},
    )
    feed = get_or_create_feed_number(
        tenant=user.tenant, provider=provider, source_type="ring"
    )
    get_sample_store().write_batch(user_id=user.pk, feed=feed, columns=columns)


def list_stored_rows(users: list[User]) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of October as the store and the tables have them, in order."""
    users = sorted(users, key=lambda user: str(user.uuid))
    return {
        "samples": [row for user in users for row in _samples(user)],
        "summaries": [row for user in users for row in _summaries(user)],
        "results": [row for user in users for row in _results(user)],
    }


def _samples(user: User) -> list[dict[str, Any]]:
    found = [each for each in list_samples(user.pk) if OCTOBER <= each.ts < NOVEMBER]
    tenant = user.tenant
    feeds = find_feeds_by_number(tenant=tenant, numbers={each.feed for each in found})
    origins = find_origins_by_number(
        user_id=user.pk, numbers={each.origin for each in found}
    )
    words = {
        number: (resource, type_)
        for resource in TIMESERIES.values()
        for number, type_ in resource.series.items()
    }
    rows = []
    for each in sorted(found, key=lambda each: (each.series, each.feed, each.ts)):
        resource, type_ = words[each.series]
        origin = origins[each.origin]
        rows.append(
            {
                "user_id": str(user.uuid),
                "resource": resource.slug,
                "type": type_,
                "unit": resource.unit,
                "timestamp": each.ts,
                "duration": each.duration,
                "timezone_offset": each.tz_offset,
                "value": each.value,
                "provider": feeds[each.feed].provider,
                "source_type": feeds[each.feed].source_type,
                "app_id": origin.app_id,
                "device_id": origin.device_id and str(origin.device_id),
                "workout_id": origin.workout_id and str(origin.workout_id),
                "sport": origin.sport,
                "extra": each.extra and json.dumps(each.extra, separators=(",", ":")),
            }
        )
    return rows


def _summaries(user: User) -> list[dict[str, Any]]:
    found = Summary.objects.for_tenant(user.tenant).filter(
        user=user,
        calendar_date__gte=date(2026, 10, 1),
        calendar_date__lte=date(2026, 10, 31),
    )
    return [
        {
            "id": str(each.pk),
            "user_id": str(user.uuid),
            "kind": each.kind,
            "provider": each.provider,
            "source_type": each.source_type,
            "app_id": each.app_id,
            "device_id": each.device_id and str(each.device_id),
            "calendar_date": each.calendar_date,
            "last_date": each.last_date,
            "starts_at": each.starts_at,
            "ends_at": each.ends_at,
            "version": each.version,
            "updated_at": each.updated_at,
            "body": json.dumps(each.body, separators=(",", ":"), ensure_ascii=False),
        }
        for each in found.order_by("kind", "starts_at", "pk")
    ]


def _results(user: User) -> list[dict[str, Any]]:
    found = Result.objects.for_tenant(user.tenant).filter(
        version__is_current=True, version__order__user=user
    )
    return [
        {
            "order_id": str(each.version.order_id),
            "user_id": str(user.uuid),
            "lab": each.version.order.lab.slug,
            "version": each.version.number,
            "status": each.version.status,
            "position": each.position,
            "collected_at": each.version.collected_at,
            "received_at": each.version.received_at,
            "reported_at": each.version.reported_at,
            "observed_at": each.observed_at,
            "name": each.name,
            "slug": each.slug,
            "loinc": each.loinc or None,
            "provider_id": each.provider_id or None,
            "sub_id": each.sub_id or None,
            "type": each.type,
            "result": each.result,
            "value": each.value,
            "unit": each.unit or None,
            "reference_range": each.reference_range or None,
            "min_range_value": each.min_range_value,
            "max_range_value": each.max_range_value,
            "is_above_max_range": each.is_above_max_range,
            "is_below_min_range": each.is_below_min_range,
            "interpretation": each.interpretation or None,
            "source_interpretation": each.source_interpretation or None,
            "is_preliminary": each.is_preliminary,
            "performing_laboratory": each.performing_laboratory or None,
        }
        for each in found.order_by("position")
    ]
