"""Streams: of workouts, read and stored; of sleeps, read. Contract 4.5, 5.3, 5.4."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from rest_framework.response import Response

from accounts.api.views import TenantAPIView
from accounts.operations.audit.entries import record_read
from accounts.states import Area
from portal.lib.api.compression import build_response_from_gzipped_json
from portal.lib.api.errors import FieldError, RequestInvalid
from portal.lib.api.fields import parse_path_uuid
from portal.lib.api.schema import JsonShape, describe_api_operation
from portal.lib.api.views import json_response
from portal.lib.errors import NotFound
from users.analysis.sleep_streams import SLEEP_STREAM_SCHEMA, list_samples_during_sleep
from users.operations.data.streams import record_workout_stream
from users.queries import find_summary, workout_stream
from users.wearables.streams import (
    STREAM_INPUT_SCHEMA,
    STREAM_RESOURCE,
    STREAM_SCHEMA,
    StreamInvalid,
    build_empty_workout_stream,
)
from users.wearables.summaries import SLEEP, WORKOUTS

if TYPE_CHECKING:
    from django.http import HttpResponse
    from rest_framework.request import Request

_STREAM = JsonShape("WorkoutStream", STREAM_SCHEMA)
_SLEEP = JsonShape("SleepStream", SLEEP_STREAM_SCHEMA)
_STREAM_INPUT = JsonShape("WorkoutStreamInput", STREAM_INPUT_SCHEMA)


class StreamStored(TypedDict):
    """The stream is stored; the next read returns it."""

    success: bool


class WorkoutStreamView(TenantAPIView):
    """Serve GET and PUT /v2/timeseries/workouts/{workout_id}/stream."""

    area = Area.USERS

    @describe_api_operation(
        "get_workout_stream", "Read a workout's stream", answer=_STREAM, refuses=(404,)
    )
    def get(self, request: Request, workout_id: str) -> HttpResponse:
        """Index-aligned channels, gzipped if the client accepts it.

        Channels without data are null; without a stream all channels are null.
        """
        found = workout_stream(
            tenant=self.tenant, workout_id=parse_path_uuid(workout_id, "workout_id")
        )
        if found is None:
            raise _missing("Workout")
        record_read(
            tenant=self.tenant,
            actor=self.actor,
            subject=STREAM_RESOURCE,
            subject_id=workout_id,
            user_uuid=found.user_uuid,
        )
        return build_response_from_gzipped_json(
            request, found.content or build_empty_workout_stream()
        )

    @describe_api_operation(
        "record_workout_stream",
        "Store a workout's stream",
        answer=StreamStored,
        body={"application/json": _STREAM_INPUT},
        refuses=(404,),
    )
    def put(self, request: Request, workout_id: str) -> Response:
        """Replaces the stream of a workout completely, or not at all.

        All channels have the same length, at most 100 000 points. Times ascend; equal
        times are allowed. An unchanged stream emits no event.
        """
        workout = find_summary(
            tenant=self.tenant,
            kind=WORKOUTS.slug,
            summary_id=parse_path_uuid(workout_id, "workout_id"),
        )
        if workout is None:
            raise _missing("Workout")
        try:
            record_workout_stream(workout=workout, actor=self.actor, body=request.data)
        except StreamInvalid as refused:
            raise RequestInvalid(
                [
                    FieldError(("body", *fault.loc), fault.msg, fault.type)
                    for fault in refused.faults
                ]
            ) from None
        answer: StreamStored = {"success": True}
        return Response(answer)


class SleepStreamView(TenantAPIView):
    """Serve GET /v2/timeseries/sleep/{sleep_id}/stream."""

    area = Area.USERS

    @describe_api_operation(
        "get_sleep_stream", "Read a sleep's streams", answer=_SLEEP, refuses=(404,)
    )
    def get(self, request: Request, sleep_id: str) -> HttpResponse:
        """Samples of the sleep's provider between bedtime start and end.

        The same samples as in timeseries; null without any.
        """
        sleep = find_summary(
            tenant=self.tenant,
            kind=SLEEP.slug,
            summary_id=parse_path_uuid(sleep_id, "sleep_id"),
        )
        if sleep is None:
            raise _missing("Sleep")
        record_read(
            tenant=self.tenant,
            actor=self.actor,
            subject="sleep_stream",
            subject_id=sleep_id,
            user_uuid=sleep.user.uuid,
        )
        return json_response(list_samples_during_sleep(sleep))


def _missing(what: str) -> NotFound:
    return NotFound("not_found", f"{what} not found.")
