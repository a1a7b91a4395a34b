"""Aggregates of samples by hour, day or week. Contract 10."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema

from portal.lib.api.errors import FieldError, RequestInvalid
from portal.lib.api.fields import validate_query_string
from portal.lib.api.schema import describe_api_operation
from portal.lib.api.views import json_response
from portal.lib.periods import find_time_zone_by_name
from users.analysis.aggregates import AggregateRequest, aggregate_samples
from users.api.v2.inputs import AggregateInputs
from users.api.v2.views.timeseries import RESOURCE, SamplesView
from users.payloads.aggregates import AggregateAnswer, build_aggregate_response
from users.wearables.values import EARLIEST

if TYPE_CHECKING:
    from datetime import date, tzinfo

    from django.http import HttpResponse
    from rest_framework.request import Request


# Ours: a chart may show days to come; there is no sample in a farther one.
_AHEAD = timedelta(days=366)


@extend_schema(parameters=[RESOURCE])
class AggregateView(SamplesView):
    """Serve GET /v2/aggregate/{user_id}/{resource}."""

    user_methods = ("GET",)

    @describe_api_operation(
        "get_aggregate",
        "Aggregate a user's samples of one resource by hour, day or week",
        answer=AggregateAnswer,
        query=AggregateInputs,
        refuses=(404,),
    )
    def get(self, request: Request, user_id: str, resource: str) -> HttpResponse:
        """Totals, means and extremes of samples, by hour, day or week of a time zone.

        Days with a clock change have 23 or 25 hours; weeks start on Monday and are cut
        to the range. Limits: 31 days by hour, 366 by day, 731 by week; 92 days with
        `merge`, 31 with `include=ledger`. Where sources overlap, totals count each time
        once: per hour, `max` uses the source with the highest total and `priority` the
        highest-ranked source with data; `merge` uses all sources, except while a
        higher-ranked one has data. Ranking: sources named in `priority`, or else in the
        ranking of the user or team (`/v2/team/source/priorities`), then wearables,
        phones and manual entries. Means use every sample.
        """
        user = self.get_user(user_id)
        wanted_resource = self.get_resource(resource)
        query = validate_query_string(request, AggregateInputs)
        name = query.get("time_zone") or user.fallback_time_zone or "UTC"
        zone = find_time_zone_by_name(name)
        start, end = _days(query, zone)
        provider = query.get("provider")
        aggregate_request = AggregateRequest(
            resource=wanted_resource,
            start=start,
            end=end,
            period=query["period"],
            zone=zone,
            rule=query["rule"],
            provider=provider if provider is None else provider.lower(),
            ranking=tuple(slug.lower() for slug in query.get("priority", ())),
            type=query.get("type"),
            with_intervals="ledger" in query.get("include", ()),
        )
        buckets = aggregate_samples(user=user, request=aggregate_request)
        self.record_read(wanted_resource.event_resource, user.uuid)
        return json_response(build_aggregate_response(aggregate_request, name, buckets))


def _days(query: dict[str, Any], zone: tzinfo) -> tuple[date, date]:
    """Return the first and last day, both inclusive. Raises: 422."""
    start = query["start_date"]
    today = timezone.now().astimezone(zone).date()
    end = query.get("end_date") or max(start, today)
    if start < EARLIEST:
        raise _invalid(
            "start_date", f"Must be {EARLIEST} or later.", "greater_than_equal"
        )
    if max(start, end) > today + _AHEAD:
        name = "end_date" if query.get("end_date") else "start_date"
        raise _invalid(name, f"Must be {today + _AHEAD} or earlier.", "less_than_equal")
    if end < start:
        raise _invalid(
            "end_date", "The end must not be before the start.", "value_error"
        )
    return start, end


def _invalid(name: str, message: str, kind: str) -> RequestInvalid:
    return RequestInvalid([FieldError(("query", name), message, kind)])
