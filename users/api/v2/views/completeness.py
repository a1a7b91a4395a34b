"""What is proven of a user's data, by source, resource and day."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, TypedDict
from uuid import UUID

from django.utils import timezone
from rest_framework.response import Response

from portal.lib.api.errors import FieldError, RequestInvalid
from portal.lib.api.fields import validate_query_string
from portal.lib.api.schema import describe_api_operation
from portal.lib.periods import find_time_zone_by_name
from users.analysis.completeness import DAYS_MAX, prove_completeness
from users.api.v2.inputs import CompletenessInputs
from users.api.v2.views.base import UserAPIView
from users.states import DayState

if TYPE_CHECKING:
    from rest_framework.request import Request

    from users.analysis.completeness import ResourceCompleteness


class DayCompleteness(TypedDict):
    """A day: its state, and how many records the source has of it."""

    date: date
    state: Annotated[str, DayState]
    count: int | None
    read_at: datetime | None
    announced_at: datetime | None


class ResourceDays(TypedDict):
    """Days of a resource; the last two say why days are missing, and when they are
    asked for again.
    """

    days: list[DayCompleteness]
    read_until: datetime | None
    asked_again_at: datetime | None
    error_type: str | None


class ProviderDays(TypedDict):
    """Resources of a live source; one that is not read proves nothing."""

    is_read: bool
    resources: dict[str, ResourceDays]


class CompletenessAnswer(TypedDict):
    """Days of the user's fallback time zone, by slug of the source."""

    user_id: UUID
    time_zone: str
    start_date: date
    end_date: date
    provider: dict[str, ProviderDays]


class CompletenessView(UserAPIView):
    """Serve GET /v2/user/{user_id}/completeness."""

    user_methods = ("GET",)

    @describe_api_operation(
        "get_user_completeness",
        "Prove that nothing of a user's data is missing",
        answer=CompletenessAnswer,
        query=CompletenessInputs,
        refuses=(404,),
    )
    def get(self, request: Request, user_id: str) -> Response:
        """State of each day by source and resource, for at most 92 days.

        `complete` and `source_has_none` are proven by a read that covers the whole day
        after it ended; `filled_later` was missing for more than a day. `missing` was
        not read yet, `open` is not over, `received` came from a source that is not
        read, and `not_read` lies before what is read at all.
        """
        user = self.get_user(user_id)
        query = validate_query_string(request, CompletenessInputs)
        name = user.fallback_time_zone or "UTC"
        today = timezone.now().astimezone(find_time_zone_by_name(name)).date()
        first, last = query["start_date"], query.get("end_date") or today
        if not timedelta(0) <= last - first < timedelta(days=DAYS_MAX):
            raise RequestInvalid(
                [
                    FieldError(
                        ("query", "end_date"),
                        f"Enter a date up to {DAYS_MAX - 1} days after start_date.",
                        "value_error",
                    )
                ]
            )
        sources = prove_completeness(
            user=user, first=first, last=last, provider=query.get("provider")
        )
        self.record_read("completeness", user.uuid)
        answer: CompletenessAnswer = {
            "user_id": user.uuid,
            "time_zone": name,
            "start_date": first,
            "end_date": last,
            "provider": {
                each.connection.provider: {
                    "is_read": each.is_read,
                    "resources": {
                        one.resource: _build_days(one) for one in each.resources
                    },
                }
                for each in sources
            },
        }
        return Response(answer)


def _build_days(resource: ResourceCompleteness) -> ResourceDays:
    return {
        "days": [
            {
                "date": each.day,
                "state": each.state.value,
                "count": each.number,
                "read_at": each.read_at,
                "announced_at": each.announced_at,
            }
            for each in resource.days
        ],
        "read_until": resource.read_until,
        "asked_again_at": resource.asked_again_at,
        "error_type": resource.error_type or None,
    }
