"""Aggregates of samples by hour, day or week. Contract 10."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypedDict

from django.utils import timezone
from drf_spectacular.utils import extend_schema

from portal.lib.api.errors import FieldError, RequestInvalid
from portal.lib.api.fields import read_query
from portal.lib.api.schema import describe
from portal.lib.api.views import json_response
from portal.lib.periods import find_zone
from users.api.v2.inputs import AggregateInputs
from users.api.v2.views.timeseries import _RESOURCE, SamplesView
from users.wearables.aggregates import AggregateRequest, aggregate_samples
from users.wearables.timeseries import Aggregation
from users.wearables.values import EARLIEST

if TYPE_CHECKING:
    from datetime import date, tzinfo

    from django.http import HttpResponse
    from rest_framework.request import Request

    from users.wearables.aggregates import Bucket, LedgerLine

# Ours: a chart may show days to come; there is no sample in a farther one.
_AHEAD = timedelta(days=366)


class ShareAnswer(TypedDict):
    """A source in a bucket: what it says itself, and what of it counted.

    `count` is how many of its samples counted. `sum` and `counted` are null where
    samples don't add up.
    """

    provider: str
    type: str
    count: int
    sum: float | None
    counted: float | None


class ClaimAnswer(TypedDict):
    """What another source says of a time that it did not win."""

    provider: str
    type: str
    value: float


class LedgerLineAnswer(TypedDict):
    """A time that one source won; `end` is not included."""

    start: datetime
    end: datetime
    provider: str
    type: str
    value: float
    others: list[ClaimAnswer]


class BucketAnswer(TypedDict):
    """Samples from `start` to `end`, which is not included.

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
    """Buckets by start, those without a sample too.

    `time_zone` is the one asked for or the user's fallback; `rule` is null where
    samples don't add up.
    """

    unit: str
    period: str
    time_zone: str
    rule: str | None
    data: list[BucketAnswer]


@extend_schema(parameters=[_RESOURCE])
class AggregateView(SamplesView):
    """GET /v2/aggregate/{user_id}/{resource}."""

    @describe(
        "get_aggregate",
        "Add up a user's samples of one resource by hour, day or week",
        answer=AggregateAnswer,
        query=AggregateInputs,
        refuses=(404,),
    )
    def get(self, request: Request, user_id: str, resource: str) -> HttpResponse:
        """What samples come to, by the clocks of a time zone.

        Days have 23 or 25 hours where clocks change; weeks start on Monday and are cut
        to the range. At most 31 days by hour, 366 by day, 731 by week; 92 with `merge`,
        31 with the ledger. Where sources overlap, samples that add up count once: `max`
        takes hour by hour the source with the most, `priority` the first that has any,
        `merge` each source where none before it was measuring. First come those that
        `priority` names, then worn ones before phones before what was typed in. Of
        resources that don't add up every sample counts.
        """
        user = self.get_user(user_id)
        wanted_resource = self.get_resource(resource)
        query = read_query(request, AggregateInputs)
        name = query.get("time_zone") or user.fallback_time_zone or "UTC"
        zone = find_zone(name)
        start, end = _days(query, zone)
        provider = query.get("provider")
        wanted = AggregateRequest(
            resource=wanted_resource,
            start=start,
            end=end,
            period=query["period"],
            zone=zone,
            rule=query["rule"],
            provider=provider if provider is None else provider.lower(),
            ranking=tuple(slug.lower() for slug in query.get("priority", ())),
            type=query.get("type"),
            with_ledger="ledger" in query.get("include", ()),
        )
        buckets = aggregate_samples(user=user, wanted=wanted)
        self.record_read(wanted_resource.event_resource, user.uuid)
        adds_up = wanted_resource.aggregation == Aggregation.SUM
        answer: AggregateAnswer = {
            "unit": wanted_resource.unit,
            "period": str(wanted.period),
            "time_zone": name,
            "rule": str(wanted.rule) if adds_up else None,
            "data": [_bucket(each, wanted) for each in buckets],
        }
        return json_response(answer)


def _days(query: dict[str, Any], zone: tzinfo) -> tuple[date, date]:
    """First and last day, both included. Raises: 422."""
    start = query["start_date"]
    today = timezone.now().astimezone(zone).date()
    end = query.get("end_date") or max(start, today)
    if start < EARLIEST:
        raise _invalid("start_date", "Too early.", "greater_than_equal")
    if max(start, end) > today + _AHEAD:
        name = "end_date" if query.get("end_date") else "start_date"
        raise _invalid(name, "Too late.", "less_than_equal")
    if end < start:
        raise _invalid("end_date", "The end lies before the start.", "value_error")
    return start, end


def _invalid(name: str, message: str, kind: str) -> RequestInvalid:
    return RequestInvalid([FieldError(("query", name), message, kind)])


def _bucket(bucket: Bucket, wanted: AggregateRequest) -> BucketAnswer:
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
                "sum": share.said,
                "counted": share.counted,
            }
            for share in bucket.sources
        ],
        "ledger": [_line(line) for line in bucket.ledger]
        if wanted.with_ledger
        else None,
    }


def _line(line: LedgerLine) -> LedgerLineAnswer:
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
