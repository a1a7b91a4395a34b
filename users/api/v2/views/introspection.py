"""Introspection: data received from sources and backfills. Contract 5.5."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, TypedDict
from uuid import UUID

from rest_framework.response import Response

from accounts.api.views import TenantAPIView
from accounts.operations.audit.entries import record_read
from accounts.states import Area
from portal.lib.api.fields import QueryInt, QueryText, QueryUuid, validate_query_string
from portal.lib.api.pagination import (
    CURSOR_MAX_LENGTH,
    CursorInputs,
    build_invalid_cursor_error,
    decode_page_cursor,
    encode_page_cursor,
)
from portal.lib.api.schema import describe_api_operation
from users.queries.data.introspection import (
    Introspected,
    IntrospectedPage,
    Place,
    list_latest_backfills_by_source,
    list_received_resources_by_source,
)
from users.states import PullStatus

if TYPE_CHECKING:
    from collections.abc import Callable

    from rest_framework.request import Request

    from users.models import Connection, Pull, Supply

USERS_MAX = 100
# Contract 5.5 wants a release of the puller; ours has one kind.
RELEASE = "1"


class IntrospectionInputs(CursorInputs):
    """Filter by user and source; an unknown one has no entries."""

    user_id = QueryUuid(required=False)
    provider = QueryText(required=False)
    user_limit = QueryInt(default=USERS_MAX, min_value=1, max_value=USERS_MAX)
    cursor = QueryText(
        required=False,
        max_length=CURSOR_MAX_LENGTH,
        help_text="Former name of next_cursor",
    )


class LastAttempt(TypedDict):
    """Last time a source sent or was asked for a resource."""

    timestamp: datetime
    status: str


class DataSpan(TypedDict, total=False):
    """Start of the oldest and newest stored record; absent without any."""

    oldest_data: datetime
    newest_data: datetime


class ResourceIntrospection(DataSpan):
    """Data received for a resource; `sent_count` counts new and changed records."""

    last_attempt: LastAttempt
    sent_count: int


class UserResources(TypedDict):
    """Resources by slug of the source."""

    user_id: UUID
    provider: dict[str, dict[str, ResourceIntrospection]]


class ResourcesAnswer(TypedDict):
    """A page of users with current or former sources."""

    data: list[UserResources]
    next: str | None
    next_cursor: str | None


class PullTimeline(TypedDict):
    """When a backfill was scheduled, started and ended."""

    scheduled_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


class PullDetails(TypedDict, total=False):
    """Details of a backfill; without a start it reads all past data."""

    range_start: datetime
    range_end: datetime
    days_with_data: int
    error_details: str


class HistoricalPull(PullDetails):
    """The latest backfill of a resource."""

    status: Annotated[str, PullStatus]
    timeline: PullTimeline
    release: str
    trace_id: str


class ProviderHistory(TypedDict):
    """Resources with a backfill, and resources of live connections without one.

    A source that pushes is never pulled.
    """

    pulled: dict[str, HistoricalPull]
    not_pulled: list[str]


class UserHistory(TypedDict):
    """Backfills by slug of the source."""

    user_id: UUID
    provider: dict[str, ProviderHistory]


class HistoriesAnswer(TypedDict):
    """A page of users with current or former sources."""

    data: list[UserHistory]
    next: str | None
    next_cursor: str | None


class _IntrospectionView(TenantAPIView):
    area = Area.USERS

    def read_page(
        self, request: Request, read: Callable[..., IntrospectedPage], subject: str
    ) -> tuple[list[Introspected], str | None]:
        """Return the users of a page and its cursor, and record the read."""
        query = validate_query_string(request, IntrospectionInputs)
        provider = query.get("provider")
        page = read(
            tenant=self.tenant,
            user_id=query.get("user_id"),
            provider=provider if provider is None else provider.lower(),
            after=_read_place(query.get("next_cursor") or query.get("cursor")),
            limit=query["user_limit"],
        )
        record_read(
            tenant=self.tenant,
            actor=self.actor,
            subject=subject,
            subject_id=f"users={len(page.users)}",
            user_uuid=query.get("user_id"),
        )
        cursor = None
        if page.after is not None:
            place = (page.after.created_on.isoformat(), str(page.after.user_id))
            cursor = encode_page_cursor(place)
        return list(page.users), cursor


class ResourcesView(_IntrospectionView):
    """Serve GET /v2/introspect/resources."""

    @describe_api_operation(
        "introspect_resources",
        "Read data received, by user, source and resource",
        answer=ResourcesAnswer,
        query=IntrospectionInputs,
    )
    def get(self, request: Request) -> Response:
        users, cursor = self.read_page(
            request, list_received_resources_by_source, "introspected_resources"
        )
        answer: ResourcesAnswer = {
            "data": [
                {
                    "user_id": user.user_id,
                    "provider": {
                        slug: {
                            supply.resource: _resource(supply)
                            for supply in user.supplies.get(slug, ())
                        }
                        for slug in {**user.live, **user.supplies}
                    },
                }
                for user in users
            ],
            "next": cursor,
            "next_cursor": cursor,
        }
        return Response(answer)


class HistoriesView(_IntrospectionView):
    """Serve GET /v2/introspect/historical_pull."""

    @describe_api_operation(
        "introspect_historical_pulls",
        "Read the status of backfills, by user, source and resource",
        answer=HistoriesAnswer,
        query=IntrospectionInputs,
    )
    def get(self, request: Request) -> Response:
        users, cursor = self.read_page(
            request, list_latest_backfills_by_source, "introspected_histories"
        )
        answer: HistoriesAnswer = {
            "data": [
                {
                    "user_id": user.user_id,
                    "provider": {
                        slug: _history(
                            user.live.get(slug), user.histories.get(slug, [])
                        )
                        for slug in {**user.live, **user.histories}
                    },
                }
                for user in users
            ],
            "next": cursor,
            "next_cursor": cursor,
        }
        return Response(answer)


def _resource(supply: Supply) -> ResourceIntrospection:
    answer: ResourceIntrospection = {
        "last_attempt": {
            "timestamp": supply.attempted_at,
            "status": "failure" if supply.attempt_failed else "success",
        },
        "sent_count": supply.sent_count,
    }
    if supply.oldest_data is not None and supply.newest_data is not None:
        answer["oldest_data"] = supply.oldest_data
        answer["newest_data"] = supply.newest_data
    return answer


def _history(live: Connection | None, pulls: list[Pull]) -> ProviderHistory:
    pulled = {pull.resource: _pull(pull) for pull in pulls}
    given: dict[str, Any] = live.resource_availability if live else {}
    return {
        "pulled": pulled,
        "not_pulled": [
            resource
            for resource, availability in given.items()
            if availability["status"] == "available" and resource not in pulled
        ],
    }


def _pull(pull: Pull) -> HistoricalPull:
    answer: HistoricalPull = {
        "status": pull.status,
        "timeline": {
            "scheduled_at": pull.scheduled_at,
            "started_at": pull.started_at,
            "ended_at": pull.ended_at,
        },
        "release": RELEASE,
        "trace_id": str(pull.pk),
    }
    if pull.range_start is not None:
        answer["range_start"] = pull.range_start
    if pull.range_end is not None:
        answer["range_end"] = pull.range_end
    if pull.days_with_data is not None:
        answer["days_with_data"] = pull.days_with_data
    if pull.error_type:
        answer["error_details"] = pull.error_type
    return answer


def _read_place(cursor: str | None) -> Place | None:
    if cursor is None:
        return None
    at, user_id = decode_page_cursor(cursor, length=2)
    try:
        created_on = datetime.fromisoformat(at)
        place = Place(created_on, UUID(user_id))
    except ValueError:
        raise build_invalid_cursor_error() from None
    if created_on.tzinfo is None:
        raise build_invalid_cursor_error()
    return place
