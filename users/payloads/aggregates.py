"""The answer of aggregates (contract 10): buckets by hour, day or week."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, TypedDict

from users.wearables.timeseries import Aggregation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from users.analysis.aggregates import AggregateRequest, Bucket, SourceInterval


class ShareAnswer(TypedDict):
    """A source in a bucket: what it reported, and how much of it counted.

    `count` is how many of its samples counted. `sum` and `counted` are null where
    samples don't add up.
    """

    provider: str
    type: str
    count: int
    sum: float | None
    counted: float | None


class ClaimAnswer(TypedDict):
    """What another source reported for a time that it did not count for."""

    provider: str
    type: str
    value: float


class LedgerLineAnswer(TypedDict):
    """A time for which one source counted; `end` is exclusive."""

    start: datetime
    end: datetime
    provider: str
    type: str
    value: float
    others: list[ClaimAnswer]


class BucketAnswer(TypedDict):
    """Samples from `start` to `end` (exclusive).

    `count` is of the samples that counted; `min`, `max` and `mean` are of their values.
    `sum` is null where samples don't add up; one that reaches into the next bucket
    shares it out by time. `provider` is the one whose samples counted, null for none
    and for several. `type` is null but of resources with types, each of which has
    buckets of its own. `ledger` is null unless it was asked for.
    """

    start: datetime
    end: datetime
    type: str | None
    min: float | None
    max: float | None
    mean: float | None
    sum: float | None
    count: int
    provider: str | None
    sources: list[ShareAnswer]
    ledger: list[LedgerLineAnswer] | None


class AggregateAnswer(TypedDict):
    """Buckets by start, including those without samples.

    `time_zone` is the one asked for or the user's fallback; `rule` is null where
    samples don't add up.
    """

    unit: str
    period: str
    time_zone: str
    rule: str | None
    data: list[BucketAnswer]


def build_aggregate_response(
    wanted: AggregateRequest, zone_name: str, buckets: Sequence[Bucket]
) -> AggregateAnswer:
    """Return the answer to a request; `zone_name` is the name of its zone."""
    adds_up = wanted.resource.aggregation == Aggregation.SUM
    return {
        "unit": wanted.resource.unit,
        "period": str(wanted.period),
        "time_zone": zone_name,
        "rule": str(wanted.rule) if adds_up else None,
        "data": [_bucket(each, wanted) for each in buckets],
    }


def _bucket(bucket: Bucket, request: AggregateRequest) -> BucketAnswer:
    return {
        "start": bucket.start,
        "end": bucket.end,
        "type": bucket.type,
        "min": bucket.low,
        "max": bucket.high,
        "mean": bucket.mean,
        "sum": bucket.total,
        "count": bucket.count,
        "provider": bucket.provider,
        "sources": [
            {
                "provider": share.source.provider,
                "type": share.source.source_type,
                "count": share.samples,
                "sum": share.reported,
                "counted": share.counted,
            }
            for share in bucket.sources
        ],
        "ledger": [_line(line) for line in bucket.intervals]
        if request.with_intervals
        else None,
    }


def _line(line: SourceInterval) -> LedgerLineAnswer:
    return {
        "start": line.start,
        "end": line.end,
        "provider": line.source.provider,
        "type": line.source.source_type,
        "value": line.value,
        "others": [
            {"provider": slug, "type": source_type, "value": value}
            for (slug, source_type), value in line.others
        ],
    }
