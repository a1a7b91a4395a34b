"""Calls that only older published clients make: raw summaries, ungrouped samples.

Contract 5.1a, 10. Each names the call to use instead, and is told deprecated.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar

from drf_spectacular.utils import extend_schema

from portal.lib.api.fields import validate_query_string
from portal.lib.api.schema import JsonShape, describe_api_operation
from portal.lib.api.views import json_response, mount_api_view
from portal.lib.errors import DomainError, NotFound
from users.api.v2.inputs import (
    LatestSummaryInputs,
    SampleRangeInputs,
    SummaryFilterInputs,
)
from users.api.v2.views.base import UserAPIView
from users.api.v2.views.summaries import find_last_day, lower_provider
from users.api.v2.views.timeseries import (
    RESOURCE,
    SAMPLES,
    SampleBatchView,
    SamplesView,
    get_sample_bounds,
)
from users.payloads.raw import (
    RAW_DEVICE,
    RAW_SUMMARY,
    build_raw_device_payload,
    build_raw_summary_payload,
)
from users.queries.data.introspection import list_user_devices
from users.queries.data.summaries import find_latest_raw_summary, list_raw_summaries
from users.store.pages import get_sample_page
from users.wearables.summaries import SUMMARIES
from users.wearables.timeseries import TIMESERIES

if TYPE_CHECKING:
    from django.http import HttpResponse
    from django.urls import URLPattern
    from rest_framework.request import Request

    from users.wearables.resources import SummaryResource
    from users.wearables.timeseries import TimeseriesResource

# Ours: a month of samples a minute; one answer holds them all.
SAMPLES_AT_MOST = 31 * 24 * 60
RAW_RESOURCES = ("activity", "body", "profile", "sleep", "workouts")
_DEPRECATED = f"@{int(datetime(2026, 11, 24, tzinfo=UTC).timestamp())}"


def _name_successor(reply: HttpResponse, path: str) -> HttpResponse:
    """Say in the headers that the call is deprecated, and for which (RFC 9745)."""
    reply["Deprecation"] = _DEPRECATED
    reply["Link"] = f'<{path}>; rel="successor-version"'
    return reply


class UngroupedSamplesView(SamplesView):
    """Base of the calls that answer with a bare array of samples."""

    def list_samples(
        self,
        request: Request,
        user_id: str,
        resource: TimeseriesResource,
        type_: str | None = None,
    ) -> HttpResponse:
        """Answer with all samples of a range, of one type or of all.

        Raises: too_many_samples (400) over SAMPLES_AT_MOST.
        """
        user = self.get_user(user_id)
        query = validate_query_string(request, SampleRangeInputs)
        start, end = get_sample_bounds(user, query)
        page = get_sample_page(
            user=user,
            resource=resource,
            start=start,
            end=end,
            provider=lower_provider(query.get("provider")),
            limit=SAMPLES_AT_MOST,
        )
        if page.last is not None:
            raise DomainError(
                "too_many_samples",
                f"The range has more than {SAMPLES_AT_MOST} samples. Send a shorter"
                " one, or use the grouped call, which has pages.",
            )
        samples = [
            sample
            for groups in page.groups.values()
            for group in groups
            for sample in group["data"]
            if type_ is None or sample["type"] == type_
        ]
        samples.sort(key=lambda sample: sample["timestamp"])
        self.record_read(resource.event_resource, user.uuid)
        path = f"/v2/timeseries/{user_id}/{resource.slug}/grouped"
        return _name_successor(json_response(samples), path)


@extend_schema(parameters=[RESOURCE])
class UserSamplesView(SampleBatchView, UngroupedSamplesView):
    """Serve GET and POST /v2/timeseries/{user_id}/{resource}."""

    user_methods: ClassVar[tuple[str, ...]] = ("GET", "POST")

    @extend_schema(deprecated=True)
    @describe_api_operation(
        "list_samples",
        "Read a user's samples of one resource, not grouped",
        answer=JsonShape("Samples", SAMPLES),
        query=SampleRangeInputs,
        refuses=(400, 404),
    )
    def get(self, request: Request, user_id: str, resource: str) -> HttpResponse:
        """For older clients; use the grouped call. Ascending, without pages."""
        return self.list_samples(request, user_id, self.get_resource(resource))


def _cholesterol_view(kind: str) -> type[UngroupedSamplesView]:
    class View(UngroupedSamplesView):
        user_methods = ("GET",)

        @extend_schema(deprecated=True)
        @describe_api_operation(
            f"list_cholesterol_{kind}_samples",
            f"Read a user's cholesterol samples of type {kind}",
            answer=JsonShape("Samples", SAMPLES),
            query=SampleRangeInputs,
            refuses=(400, 404),
        )
        def get(self, request: Request, user_id: str) -> HttpResponse:
            """For older clients; use the grouped call. Ascending, without pages."""
            return self.list_samples(request, user_id, TIMESERIES["cholesterol"], kind)

    return View


def _raw_view(resource: SummaryResource) -> type[UserAPIView]:
    title = "".join(word.title() for word in resource.slug.split("_"))
    key = resource.key or resource.slug
    one = JsonShape(f"Raw{title}", RAW_SUMMARY)
    listed: Any = one if resource.key is None else {"type": "array", "items": one}
    shape = {"type": "object", "properties": {key: listed}, "required": [key]}
    inputs = LatestSummaryInputs if resource.key is None else SummaryFilterInputs

    class View(UserAPIView):
        user_methods = ("GET",)

        @extend_schema(deprecated=True)
        @describe_api_operation(
            f"list_raw_{resource.slug}",
            f"Read a user's summaries as they came: {resource.name.lower()}",
            answer=JsonShape(f"Raw{title}Answer", shape),
            query=inputs,
            refuses=(404,),
        )
        def get(self, request: Request, user_id: str) -> HttpResponse:
            """For older clients. `data` is the element as its source sent it."""
            user = self.get_user(user_id)
            query = validate_query_string(request, inputs)
            provider = lower_provider(query.get("provider"))
            if resource.key is None:
                row = find_latest_raw_summary(
                    user=user, kind=resource.slug, provider=provider
                )
                if row is None:
                    raise NotFound("summary_missing", "Summary not found.")
                found: Any = build_raw_summary_payload(user.uuid, row)
            else:
                found = [
                    build_raw_summary_payload(user.uuid, row)
                    for row in list_raw_summaries(
                        user=user,
                        kind=resource.slug,
                        start=query["start_date"],
                        end=find_last_day(query),
                        provider=provider,
                    )
                ]
            self.record_read(resource.slug, user.uuid)
            path = f"/v2/summary/{resource.slug}/{user_id}"
            return _name_successor(json_response({key: found}), path)

    return View


class RawDevicesView(UserAPIView):
    """Serve GET /v2/summary/devices/{user_id}/raw."""

    user_methods = ("GET",)

    @extend_schema(deprecated=True)
    @describe_api_operation(
        "list_raw_devices",
        "Read a user's devices as older clients do",
        answer=JsonShape(
            "RawDevices",
            {
                "type": "object",
                "properties": {
                    "devices": {
                        "type": "array",
                        "items": JsonShape("RawDevice", RAW_DEVICE),
                    }
                },
                "required": ["devices"],
            },
        ),
        query=LatestSummaryInputs,
        refuses=(404,),
    )
    def get(self, request: Request, user_id: str) -> HttpResponse:
        """For older clients; use the list of devices."""
        user = self.get_user(user_id)
        provider = lower_provider(
            validate_query_string(request, LatestSummaryInputs).get("provider")
        )
        devices = [
            build_raw_device_payload(user.uuid, device)
            for device in list_user_devices(user=user)
            if provider in (None, device.provider)
        ]
        self.record_read("devices", user.uuid)
        return _name_successor(
            json_response({"devices": devices}), f"/v2/user/{user_id}/device"
        )


former_endpoints: list[URLPattern] = [
    *(
        mount_api_view(
            f"summary/{slug}/<user_id>/raw",
            _raw_view(SUMMARIES[slug]),
            f"api-raw-{slug}",
        )
        for slug in RAW_RESOURCES
    ),
    mount_api_view("summary/devices/<user_id>/raw", RawDevicesView, "api-raw-devices"),
    *(
        mount_api_view(
            f"timeseries/<user_id>/cholesterol/{kind}",
            _cholesterol_view(kind),
            f"api-cholesterol-{kind}",
        )
        for kind in map(str, TIMESERIES["cholesterol"].types)
    ),
]
