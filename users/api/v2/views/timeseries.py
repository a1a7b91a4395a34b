"""Timeseries: store a batch of samples, read them grouped. Contract 5.1, 5.4.

One pair of paths serves every resource of the registry.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema

from portal.lib.api.errors import FieldError, RequestInvalid
from portal.lib.api.fields import validate_post_body, validate_query_string
from portal.lib.api.schema import JsonShape, describe_api_operation
from portal.lib.api.views import json_response
from portal.lib.errors import NotFound
from portal.lib.periods import (
    SkippedTime,
    convert_local_time_to_utc,
    find_day_start,
    find_time_zone_by_name,
)
from users.api.v2.inputs import SampleBatchInputs, SampleFilterInputs
from users.api.v2.views.base import (
    SOURCE_TYPE,
    UserAPIView,
    build_batch_validation_error,
    get_pushed_batch_elements,
)
from users.operations.data.samples import SampleBatch, record_samples
from users.payloads.samples import build_grouped_samples_response, decode_sample_cursor
from users.store.pages import get_sample_page
from users.wearables.payloads import SOURCE
from users.wearables.readings import ElementsInvalid
from users.wearables.timeseries import TIMESERIES
from users.wearables.timeseries.readings import FIRST_MOMENT, SAMPLES_MAX
from users.wearables.timeseries.shapes import (
    build_schema_of_any_pushed_sample,
    build_schema_of_any_sample,
)
from users.wearables.values import AHEAD

if TYPE_CHECKING:
    from django.http import HttpResponse
    from rest_framework.request import Request

    from users.models import User
    from users.wearables.timeseries import TimeseriesResource

_TICK = timedelta(microseconds=1)
RESOURCE = OpenApiParameter(
    "resource",
    str,
    OpenApiParameter.PATH,
    enum=sorted(TIMESERIES),
    description="Units by resource; intervals have start and end, some need a type: "
    + "; ".join(
        f"`{slug}` ({resource.unit}"
        + (", interval" if resource.is_interval else "")
        + (", of any type" if resource.has_open_type else "")
        + (", of type " + " or ".join(resource.types) if resource.types else "")
        + ")"
        for slug, resource in sorted(TIMESERIES.items())
    ),
)
SAMPLES = {"type": "array", "items": JsonShape("Sample", build_schema_of_any_sample())}
_GROUP = JsonShape(
    "SampleGroup",
    {
        "type": "object",
        "properties": {"source": JsonShape("SampleSource", SOURCE), "data": SAMPLES},
        "required": ["source", "data"],
    },
)
_GROUPED = JsonShape(
    "GroupedSamples",
    {
        "type": "object",
        "properties": {
            "groups": {
                "type": "object",
                "description": "By slug of the provider",
                "additionalProperties": {"type": "array", "items": _GROUP},
            },
            "next_cursor": {"type": ["string", "null"]},
            "next": {
                "type": ["string", "null"],
                "description": "Equals next_cursor; kept for old clients",
            },
        },
        "required": ["groups", "next_cursor", "next"],
    },
)
_BATCH = JsonShape(
    "SampleBatch",
    {
        "type": "object",
        "properties": {
            "provider": {"type": "string", "description": "Slug of a source"},
            "source_type": SOURCE_TYPE,
            "app_id": {"type": ["string", "null"], "maxLength": 255},
            "device_id": {"type": ["string", "null"], "format": "uuid"},
            "workout_id": {"type": ["string", "null"], "format": "uuid"},
            "sport": {"type": ["string", "null"], "maxLength": 100},
            "data": {
                "type": "array",
                "items": JsonShape(
                    "SampleElement", build_schema_of_any_pushed_sample()
                ),
                "minItems": 1,
                "maxItems": SAMPLES_MAX,
            },
        },
        "required": ["provider", "data"],
    },
)


class RecordedSamplesAnswer(TypedDict):
    """Result of a batch; unchanged samples are not counted."""

    success: bool
    created: int
    updated: int
    dropped: int


class SamplesView(UserAPIView):
    """Base of views about one timeseries resource of one user."""

    def get_resource(self, slug: str) -> TimeseriesResource:
        """Return the resource of the path. Raises: resource_unknown (404)."""
        resource = TIMESERIES.get(slug)
        if resource is None:
            raise NotFound("resource_unknown", "Unknown resource.")
        return resource


@extend_schema(parameters=[RESOURCE])
class GroupedSamplesView(SamplesView):
    """Serve GET /v2/timeseries/{user_id}/{resource}/grouped."""

    user_methods = ("GET",)

    @describe_api_operation(
        "list_grouped_samples",
        "Read a user's samples of one resource, grouped by source",
        answer=_GROUPED,
        query=SampleFilterInputs,
        refuses=(404,),
    )
    def get(self, request: Request, user_id: str, resource: str) -> HttpResponse:
        """Samples in a range, ascending, both ends inclusive.

        Dates and date-times without offset are in the user's fallback time zone. A page
        has at most `limit` samples over all groups; `next_cursor` returns the next
        page.
        """
        user = self.get_user(user_id)
        wanted_resource = self.get_resource(resource)
        query = validate_query_string(request, SampleFilterInputs)
        start, end = get_sample_bounds(user, query)
        provider = query.get("provider")
        page = get_sample_page(
            user=user,
            resource=wanted_resource,
            start=start,
            end=end,
            provider=provider if provider is None else provider.lower(),
            after=decode_sample_cursor(query.get("next_cursor") or query.get("cursor")),
            limit=query["limit"],
        )
        subject = wanted_resource.event_resource
        self.record_read(subject, user.uuid, is_last=True)
        return json_response(build_grouped_samples_response(page))


@extend_schema(parameters=[RESOURCE])
class SampleBatchView(SamplesView):
    """Serve POST /v2/timeseries/{user_id}/{resource}."""

    user_methods: ClassVar[tuple[str, ...]] = ("POST",)

    @describe_api_operation(
        "record_samples",
        "Store a user's samples of one resource",
        answer=RecordedSamplesAnswer,
        body={"application/json": _BATCH},
        refuses=(400, 404),
    )
    def post(self, request: Request, user_id: str, resource: str) -> HttpResponse:
        """Stores a batch completely or not at all; the later value of a time wins."""
        user = self.get_user(user_id)
        wanted_resource = self.get_resource(resource)
        source = validate_post_body(request, SampleBatchInputs)
        elements = get_pushed_batch_elements(request)
        try:
            recorded = record_samples(
                user=user,
                actor=self.actor,
                resource=wanted_resource,
                batch=SampleBatch(elements=elements, **source),
            )
        except ElementsInvalid as refused:
            raise build_batch_validation_error(refused) from None
        answer: RecordedSamplesAnswer = {
            "success": True,
            "created": recorded.created,
            "updated": recorded.updated,
            "dropped": recorded.dropped,
        }
        return json_response(answer)


def get_sample_bounds(user: User, inputs: dict[str, Any]) -> tuple[datetime, datetime]:
    """Return the requested range, its end exclusive. Raises: 422."""
    zone = find_time_zone_by_name(user.fallback_time_zone)
    now = timezone.now()

    def moment(name: str, value: date | datetime, days: int = 0) -> datetime:
        try:
            if not isinstance(value, datetime):
                return find_day_start(value + timedelta(days=days), zone)
            if value.tzinfo is None:
                return convert_local_time_to_utc(value, zone)
            return value.astimezone(UTC)
        except (SkippedTime, OverflowError):
            at = ("query", name)
            raise RequestInvalid(
                [FieldError(at, "This time does not exist.", "value_error")]
            ) from None

    start = moment("start_date", inputs["start_date"])
    last = inputs.get("end_date", max(start, now))
    end = moment("end_date", last, days=1)
    if isinstance(last, datetime):
        end += _TICK
    if end <= start:
        at = ("query", "end_date")
        raise RequestInvalid(
            [FieldError(at, "The end must not be before the start.", "value_error")]
        )
    # No sample lies outside; the store need not look.
    return max(start, FIRST_MOMENT), min(end, now + AHEAD + _TICK)
