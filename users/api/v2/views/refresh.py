"""Refreshing a user, and the devices of one. Contract 2.2, 2.4."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypedDict
from uuid import UUID

from rest_framework.exceptions import ValidationError
from rest_framework.response import Response
from rest_framework.serializers import FloatField

from portal.lib.api.fields import Inputs, parse_path_uuid, validate_query_string
from portal.lib.api.schema import Refusal, describe_api_operation
from users.api.v2.views.base import UserAPIView
from users.operations.pulling.refresh import (
    refresh_all_user_sources,
    wait_for_user_refresh,
)
from users.queries.data.introspection import find_user_device, list_user_devices
from users.wearables.payloads import DeviceAnswer, build_device_payload

if TYPE_CHECKING:
    from rest_framework.request import Request


class QuerySeconds(FloatField):
    """A finite number of seconds in the query string."""

    def to_internal_value(self, data: Any) -> float:
        seconds: float = super().to_internal_value(data)
        if not math.isfinite(seconds):
            raise ValidationError("Send a number.", code="value_error")
        return seconds


class RefreshInputs(Inputs):
    """Maximum wait for the sources."""

    timeout = QuerySeconds(
        default=10, min_value=5, max_value=60, help_text="Maximum wait in seconds"
    )


class RefreshAnswer(TypedDict):
    """Slugs of the sources; those that push or are paused are not listed."""

    success: bool
    user_id: UUID
    refreshed_sources: list[str]
    in_progress_sources: list[str]
    failed_sources: list[str]


class RefreshView(UserAPIView):
    """Serve POST /v2/user/refresh/{user_id}."""

    user_methods = ("POST",)

    @describe_api_operation(
        "refresh_user",
        "Ask a user's sources for what is new; 8 times an hour",
        query=RefreshInputs,
        refuses={202: RefreshAnswer, 404: Refusal, 429: Refusal},
        answer=RefreshAnswer,
    )
    def post(self, request: Request, user_id: str) -> Response:
        """Answers 200 when all refreshes have ended, 202 while some are running."""
        user = self.get_user(user_id)
        query = validate_query_string(request, RefreshInputs)
        started = refresh_all_user_sources(user=user, actor=self.actor)
        outcome = wait_for_user_refresh(
            tenant=self.tenant,
            started=started,
            timeout=timedelta(seconds=query["timeout"]),
        )
        answer: RefreshAnswer = {
            "success": True,
            "user_id": user.uuid,
            "refreshed_sources": list(outcome.refreshed),
            "in_progress_sources": list(outcome.in_progress),
            "failed_sources": list(outcome.failed),
        }
        return Response(answer, 202 if outcome.in_progress else 200)


class DeviceListView(UserAPIView):
    """Serve GET /v2/user/{user_id}/device."""

    user_methods = ("GET",)

    @describe_api_operation(
        "list_devices",
        "List a user's devices",
        answer=list[DeviceAnswer],
        refuses=(404,),
    )
    def get(self, request: Request, user_id: str) -> Response:
        user = self.get_user(user_id)
        devices = list_user_devices(user=user)
        self.record_read("devices", user.uuid)
        return Response([build_device_payload(user.uuid, device) for device in devices])


class DeviceView(UserAPIView):
    """Serve GET /v2/user/{user_id}/device/{device_id}."""

    user_methods = ("GET",)

    @describe_api_operation(
        "get_device", "Read a device", answer=DeviceAnswer, refuses=(404,)
    )
    def get(self, request: Request, user_id: str, device_id: str) -> Response:
        user = self.get_user(user_id)
        uuid = parse_path_uuid(device_id, "device_id")
        device = find_user_device(user=user, device_id=uuid)
        self.record_read("devices", user.uuid)
        return Response(build_device_payload(user.uuid, device))
