"""API calls that return what the explorer shows, and their answers."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import orjson
from django.utils.translation import gettext as _

from portal.lib.periods import find_time_zone_by_name
from portal.lib.web.links import build_absolute_url
from users.analysis.aggregates import AggregateRequest, aggregate_samples
from users.analysis.buckets import Period
from users.analysis.explorer import Form
from users.analysis.workout_zones import fill_missing_workout_zones
from users.payloads.aggregates import build_aggregate_response
from users.payloads.samples import build_grouped_samples_response
from users.queries import list_user_summaries
from users.store.pages import get_sample_page

if TYPE_CHECKING:
    from users.models import User
    from users.web.explorer.query import Question, SeriesKey
    from users.web.explorer.series import ShownSeries

# Ours: what somebody reads on a page; the call says so.
LIMIT = 100


@dataclass(frozen=True, slots=True)
class Call:
    """An API call that returns a series, without its body."""

    key: SeriesKey
    path: str
    inputs: tuple[tuple[str, str], ...]
    period: Period | None = None

    @property
    def title(self) -> str:
        """Return the title of its box."""
        return _("%(resource)s from the API") % {"resource": self.key.name}

    @property
    def url(self) -> str:
        """Return the whole URL."""
        query = urlencode(self.inputs, safe=":,/")
        return build_absolute_url(f"{self.path}?{query}")

    @property
    def curl(self) -> str:
        """Return the call as a shell command."""
        return f'curl {shlex.quote(self.url)} \\\n  -H "x-service-api-key: $ASSAY_KEY"'


def build_api_call(user: User, question: Question, shown: ShownSeries) -> Call:
    """Build the call that returns the data of a series."""
    key, view = shown.key, shown.view
    provider = (("provider", question.provider),) if question.provider else ()
    if view is None:
        first, last = question.day_bounds
        return Call(
            key,
            f"/v2/summary/{key.slug}/{user.uuid}",
            (
                ("start_date", first.isoformat()),
                ("end_date", last.isoformat()),
                *provider,
            ),
        )
    if view.form == Form.BUCKETS:
        first, last = question.day_bounds
        return Call(
            key,
            f"/v2/aggregate/{user.uuid}/{key.slug}",
            (
                ("start_date", first.isoformat()),
                ("end_date", last.isoformat()),
                ("period", str(view.resolution)),
                ("time_zone", question.counting_zone_name),
                *provider,
                *((("type", key.type),) if key.type else ()),
            ),
            Period(str(view.resolution)),
        )
    start, end = question.bounds
    return Call(
        key,
        f"/v2/timeseries/{user.uuid}/{key.slug}/grouped",
        (("start_date", start), ("end_date", end), *provider, ("limit", str(LIMIT))),
    )


def build_api_call_response(user: User, question: Question, call: Call) -> Any:
    """Return the API's answer to a call as JSON data; at most eight queries."""
    return orjson.loads(orjson.dumps(_answer(user, question, call)))


def _answer(user: User, question: Question, call: Call) -> object:
    provider = question.provider or None
    first, last = question.day_bounds
    if call.key.timeseries is None:
        resource = call.key.summary
        rows = list_user_summaries(
            user=user, kind=resource.slug, start=first, end=last, provider=provider
        )
        whole = fill_missing_workout_zones(user=user, resource=resource, rows=rows)
        answers = [resource.answer(user.uuid, row) for row in whole]
        return {resource.key: answers}
    if call.period is not None:
        zone_name = question.counting_zone_name
        request = AggregateRequest(
            resource=call.key.timeseries,
            start=first,
            end=last,
            period=call.period,
            zone=find_time_zone_by_name(zone_name),
            provider=provider,
            type=call.key.type,
        )
        buckets = aggregate_samples(user=user, request=request)
        return build_aggregate_response(request, zone_name, buckets)
    page = get_sample_page(
        user=user,
        resource=call.key.timeseries,
        start=question.start,
        end=question.end,
        provider=provider,
        limit=LIMIT,
    )
    return build_grouped_samples_response(page)
