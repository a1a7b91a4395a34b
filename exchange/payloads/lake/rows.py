"""What the lake's files hold: a month of a dataset, of a tenant's users by uuid."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from functools import cache
from typing import TYPE_CHECKING, Any, BinaryIO

import orjson

from exchange.payloads.lake.schema import DATASETS
from exchange.payloads.lake.writing import open_sample_writer, write_records
from labs.queries.results.months import iterate_results
from users.queries.data.months import iterate_live_users, iterate_summaries
from users.store.dictionaries import (
    find_feeds_by_number,
    find_origins_by_number,
    find_series_by_number,
)
from users.store.months import iterate_sample_columns
from users.wearables.timeseries import TIMESERIES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from accounts.models import Tenant
    from labs.models import Result
    from users.models import Summary
    from users.store.dictionaries import OriginKey


@dataclass(frozen=True, slots=True)
class Extract:
    """Rows of one file: of users whose uuid begins with `part`; `month` is a day 1."""

    tenant: Tenant
    dataset: str
    month: date
    part: str

    @property
    def after(self) -> date:
        """Return the first day of the next month."""
        month = self.month
        return date(month.year + month.month // 12, month.month % 12 + 1, 1)

    @property
    def start(self) -> datetime:
        """Return when the month begins, UTC."""
        return datetime.combine(self.month, time(), UTC)

    @property
    def end(self) -> datetime:
        """Return when the month has ended, UTC."""
        return datetime.combine(self.after, time(), UTC)


def write_extract(extract: Extract, target: BinaryIO) -> int:
    """Write the rows of a file, as they are now; return how many.

    The caller acts for the tenant. Raises: day_damaged.
    """
    if extract.dataset == "samples":
        return _write_samples(extract, target)
    records = {"summaries": _list_summaries, "results": _list_results}
    return write_records(target, extract.dataset, records[extract.dataset](extract))


def _write_samples(extract: Extract, target: BinaryIO) -> int:
    tenant = extract.tenant
    with open_sample_writer(target) as writer:
        for user in iterate_live_users(tenant, prefix=extract.part):
            parts = iterate_sample_columns(
                user_id=user.pk, start=extract.start, end=extract.end
            )
            for part in parts:
                resource, type_ = _find_series(tenant, part.series)
                feeds = find_feeds_by_number(tenant=tenant, numbers={part.feed})
                words = {
                    "user_id": str(user.uuid),
                    "resource": resource,
                    "type": type_,
                    "unit": TIMESERIES[resource].unit,
                    "provider": feeds[part.feed].provider,
                    "source_type": feeds[part.feed].source_type,
                }
                writer.add(part, _find_origins(user.pk, part.columns.origin), words)
    return writer.rows


def _find_series(tenant: Tenant, series: int) -> tuple[str, str | None]:
    """Return the resource and type of a series."""
    if found := _closed_series().get(series):
        return found
    return find_series_by_number(tenant=tenant, numbers=[series])[series]


@cache
def _closed_series() -> dict[int, tuple[str, str | None]]:
    return {
        number: (slug, type_)
        for slug, resource in TIMESERIES.items()
        for number, type_ in resource.series.items()
    }


def _find_origins(user_id: int, origin: Any) -> dict[int, dict[str, str | None]]:
    numbers: Collection[int] = {int(origin[0])}
    if (origin != origin[0]).any():
        numbers = set(origin.tolist())
    found: Mapping[int, OriginKey] = find_origins_by_number(
        user_id=user_id, numbers=numbers
    )
    return {
        number: {
            name: None if value is None else str(value)
            for name, value in found[number]._asdict().items()
        }
        for number in numbers
    }


def _list_summaries(extract: Extract) -> Iterator[dict[str, Any]]:
    names = [each.name for each in DATASETS["summaries"].columns]
    own = set(names) - {"id", "user_id", "device_id", "body"}
    found: Iterator[Summary] = iterate_summaries(
        extract.tenant,
        prefix=extract.part,
        first=extract.month,
        after=extract.after,
    )
    for summary in found:
        yield {
            **{name: getattr(summary, name) for name in own},
            "id": str(summary.pk),
            "user_id": str(summary.user.uuid),
            "device_id": summary.device_id and str(summary.device_id),
            "body": orjson.dumps(summary.body).decode(),
        }


def _list_results(extract: Extract) -> Iterator[dict[str, Any]]:
    of_version = {"status", "collected_at", "received_at"}
    elsewhere = {"order_id", "user_id", "lab", "version", "reported_at"}
    columns = DATASETS["results"].columns
    own = [each for each in columns if each.name not in of_version | elsewhere]
    found: Iterator[Result] = iterate_results(
        extract.tenant, prefix=extract.part, start=extract.start, end=extract.end
    )
    for result in found:
        version = result.version
        yield {
            # What no lab gave is an empty text in our tables.
            **{
                each.name: getattr(result, each.name)
                if each.is_required
                else _or_null(getattr(result, each.name))
                for each in own
            },
            **{name: getattr(version, name) for name in of_version},
            "order_id": str(version.order_id),
            "user_id": str(version.order.user.uuid),
            "lab": version.order.lab.slug,
            "version": version.number,
            "reported_at": version.reported_at,
        }


def _or_null(value: Any) -> Any:
    return None if value == "" else value
