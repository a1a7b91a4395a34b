"""Summaries: store a batch, read a range of days. Contract 4.1, 5.4.

Each resource of the registry has one path and one view class, made here.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypedDict
from uuid import UUID

from django.utils import timezone
from rest_framework.response import Response

from portal.lib.api.errors import FieldError, RequestInvalid
from portal.lib.api.fields import validate_post_body, validate_query_string
from portal.lib.api.schema import JsonShape, describe_api_operation
from portal.lib.api.views import json_response, mount_api_view
from portal.lib.errors import NotFound
from users.analysis.workout_zones import (
    PROVENANCE_SCHEMA,
    derive_workout_zones,
    fill_missing_workout_zones,
)
from users.api.v2.inputs import (
    LatestSummaryInputs,
    SummaryBatchInputs,
    SummaryFilterInputs,
    WorkoutFilterInputs,
)
from users.api.v2.views.base import (
    SOURCE_TYPE,
    UserAPIView,
    build_batch_validation_error,
    get_pushed_batch_elements,
)
from users.operations.data.summaries import SummaryBatch, record_summaries
from users.queries import find_latest_summary, list_user_summaries
from users.wearables.readings import ElementsInvalid
from users.wearables.resources import ELEMENTS_MAX
from users.wearables.summaries import SUMMARIES, WORKOUTS

if TYPE_CHECKING:
    from datetime import date

    from django.http import HttpResponse
    from django.urls import URLPattern
    from rest_framework.request import Request

    from users.wearables.resources import SummaryResource

# Somewhere the next day has begun.
_FARTHEST_EAST = timedelta(hours=14)


class RecordedAnswer(TypedDict):
    """Result of a batch; unchanged elements are not counted.

    `ids` are those of all stored elements, in the order sent.
    """

    success: bool
    created: int
    updated: int
    dropped: int
    ids: list[UUID]


class SummaryView(UserAPIView):
    """Serve GET and POST /v2/summary/{resource}/{user_id}."""

    user_methods = ("GET", "POST")
    resource: SummaryResource
    filters: type[SummaryFilterInputs] = SummaryFilterInputs

    def list_summaries(self, request: Request, user_id: str) -> HttpResponse:
        """Summaries in a date range, ascending by start; no pages (contract 4.1)."""
        user = self.get_user(user_id)
        query = validate_query_string(request, self.filters)
        start, end = query["start_date"], find_last_day(query)
        found = list_user_summaries(
            user=user,
            kind=self.resource.slug,
            start=start,
            end=end,
            provider=lower_provider(query.get("provider")),
            is_span=self.resource.is_span,
        )
        whole = fill_missing_workout_zones(
            user=user, resource=self.resource, rows=found
        )
        elements = [self.resource.answer(user.uuid, row) for row in whole]
        if self.resource is WORKOUTS and "provenance" in query.get("include", ()):
            derived = derive_workout_zones(user=user, workouts=found)
            for element in elements:
                zones = derived.get(element["id"])
                element["provenance"] = {"hr_zones": zones and zones.provenance}
        self.record_read(self.resource.slug, user.uuid)
        return json_response({self.resource.key: elements})

    def read_latest(self, request: Request, user_id: str) -> HttpResponse:
        """The summary of one source, or of the source that sent last."""
        user = self.get_user(user_id)
        query = validate_query_string(request, LatestSummaryInputs)
        found = find_latest_summary(
            user=user,
            kind=self.resource.slug,
            provider=lower_provider(query.get("provider")),
        )
        if found is None:
            raise NotFound("summary_missing", "Summary not found.")
        self.record_read(self.resource.slug, user.uuid)
        return json_response(self.resource.answer(user.uuid, found))

    def record_batch(self, request: Request, user_id: str) -> Response:
        """Stores a batch completely or not at all; the later version of an ID wins."""
        user = self.get_user(user_id)
        source = validate_post_body(request, SummaryBatchInputs)
        elements = get_pushed_batch_elements(request)
        try:
            recorded = record_summaries(
                user=user,
                actor=self.actor,
                resource=self.resource,
                batch=SummaryBatch(elements=elements, **source),
            )
        except ElementsInvalid as refused:
            raise build_batch_validation_error(refused) from None
        answer: RecordedAnswer = {
            "success": True,
            "created": recorded.created,
            "updated": recorded.updated,
            "dropped": recorded.dropped,
            "ids": list(recorded.ids),
        }
        return Response(answer)


def _view(resource: SummaryResource) -> type[SummaryView]:
    name = "".join(word.title() for word in resource.slug.split("_"))
    one = JsonShape(f"{name}Summary", _answer(resource))
    listed = {str(resource.key): {"type": "array", "items": one}}
    element = JsonShape(f"{name}Element", resource.input_schema)

    filters = WorkoutFilterInputs if resource is WORKOUTS else SummaryFilterInputs

    class View(SummaryView):
        if resource.key is None:

            @describe_api_operation(
                f"get_{resource.slug}_summary",
                f"Read a user's latest summary: {resource.name.lower()}",
                answer=one,
                query=LatestSummaryInputs,
                refuses=(404,),
            )
            def get(self, request: Request, user_id: str) -> HttpResponse:
                return self.read_latest(request, user_id)

            get.__doc__ = SummaryView.read_latest.__doc__
        else:

            @describe_api_operation(
                f"list_{resource.slug}_summaries",
                f"Read a user's summaries: {resource.name.lower()}",
                answer=JsonShape(f"{name}Summaries", _object(listed)),
                query=filters,
                refuses=(404,),
            )
            def get(self, request: Request, user_id: str) -> HttpResponse:
                return self.list_summaries(request, user_id)

            get.__doc__ = SummaryView.list_summaries.__doc__

        @describe_api_operation(
            f"record_{resource.slug}_summaries",
            f"Store a user's summaries: {resource.name.lower()}",
            answer=RecordedAnswer,
            body={"application/json": JsonShape(f"{name}Batch", _batch(element))},
            refuses=(404,),
        )
        def post(self, request: Request, user_id: str) -> Response:
            return self.record_batch(request, user_id)

        post.__doc__ = SummaryView.record_batch.__doc__

    View.resource = resource
    View.filters = filters
    return View


def find_last_day(query: dict[str, Any]) -> date:
    """Return the last day of a range. Raises: 422 where it is before the first.

    Without one until now, wherever the user is; a summary has the date of its own zone.
    """
    start: date = query["start_date"]
    end: date = query.get("end_date") or max(
        start, (timezone.now() + _FARTHEST_EAST).date()
    )
    if end < start:
        at = ("query", "end_date")
        raise RequestInvalid(
            [FieldError(at, "The end must not be before the start.", "value_error")]
        )
    return end


def lower_provider(slug: str | None) -> str | None:
    """Return the slug of a filter as sources are written."""
    return slug if slug is None else slug.lower()


def _answer(resource: SummaryResource) -> dict[str, Any]:
    schema = resource.schema
    if resource is not WORKOUTS:
        return schema
    more = {"provenance": PROVENANCE_SCHEMA}
    return {**schema, "properties": {**schema["properties"], **more}}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
    }


def _batch(element: JsonShape) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "provider": {"type": "string", "description": "Slug of a source"},
            "source_type": SOURCE_TYPE,
            "app_id": {"type": ["string", "null"], "maxLength": 255},
            "device_id": {"type": ["string", "null"], "format": "uuid"},
            "data": {
                "type": "array",
                "items": element,
                "minItems": 1,
                "maxItems": ELEMENTS_MAX,
            },
        },
        "required": ["provider", "data"],
    }


summary_endpoints: list[URLPattern] = [
    mount_api_view(f"summary/{slug}/<user_id>", _view(resource), f"api-summary-{slug}")
    for slug, resource in SUMMARIES.items()
]
