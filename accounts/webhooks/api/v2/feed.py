"""Serve GET /v2/events: the webhook events, for clients that cannot receive them.

Contract 10.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, TypedDict

import orjson
from django.utils import timezone
from rest_framework import serializers

from accounts.api.views import TenantAPIView
from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.webhooks.catalogue import filter_covers_event_type
from accounts.webhooks.feed import list_event_feed
from accounts.webhooks.models.endpoint import EVENT_TYPE_MAX_LENGTH
from accounts.webhooks.operations.retention import find_oldest_retained_event_time
from portal.lib.api.errors import FieldError, RequestInvalid
from portal.lib.api.fields import Inputs, QueryInt, QueryText, validate_query_string
from portal.lib.api.pagination import (
    CURSOR_MAX_LENGTH,
    decode_row_cursor,
    encode_page_cursor,
)
from portal.lib.api.schema import describe_api_operation
from portal.lib.api.views import json_response

if TYPE_CHECKING:
    from django.http import HttpResponse
    from rest_framework.request import Request

LIMIT_DEFAULT, LIMIT_MAX = 100, 500
KEPT_SINCE = "Events-Kept-Since"


class EventsQuery(Inputs):
    """`after`, `limit` (default 100, 1 to 500), and `event_type`, repeated for several.

    An event type is exact, or a prefix that ends in a dot.
    """

    after = QueryText(required=False, max_length=CURSOR_MAX_LENGTH)
    limit = QueryInt(default=LIMIT_DEFAULT, min_value=1, max_value=LIMIT_MAX)
    event_type = serializers.ListField(
        child=QueryText(max_length=EVENT_TYPE_MAX_LENGTH), required=False
    )


class FeedItem(TypedDict):
    """One event: `id` is its webhook-id, `event` what is posted of it."""

    id: str
    created_at: datetime
    event: dict[str, Any]


class FeedItems(TypedDict):
    """Events, oldest first; at the end `next_cursor` is the `after` that was sent."""

    data: list[FeedItem]
    next_cursor: str


class EventsView(TenantAPIView):
    """GET /v2/events."""

    area = Area.WEBHOOKS
    # Its events tell of all of these.
    also_reads = (Area.USERS, Area.PATIENT_DETAILS, Area.ORDERS, Area.REPORTS)

    @describe_api_operation(
        "list_events", "List events", answer=FeedItems, query=EventsQuery
    )
    def get(self, request: Request) -> HttpResponse:
        """Begin without `after` at the oldest event that is kept; keep `next_cursor`.

        No event is passed over, whatever else is being written. A page may hold less
        than `limit` events, or none, before the end. The header `Events-Kept-Since`
        (RFC 3339) says from when on nothing is missing but the events of erased users:
        who read last before that may have missed some, and reads the resources anew.
        """
        query = validate_query_string(request, EventsQuery)
        types = query.get("event_type")
        for index, each in enumerate(types or ()):
            if not filter_covers_event_type(each):
                place = ("query", "event_type", index)
                raise RequestInvalid(
                    [
                        FieldError(
                            place,
                            "Enter an event type or a prefix that ends in a dot.",
                            "enum",
                        )
                    ]
                )
        page = list_event_feed(
            tenant=self.tenant,
            after=decode_row_cursor(query.get("after"), name="after"),
            limit=query["limit"],
            types=types,
        )
        if page.events:
            record_read(
                tenant=self.tenant,
                actor=self.actor,
                subject="events",
                subject_id=page.events[0].message_id,
            )
        answer = json_response(
            {
                "data": [
                    {
                        "id": event.message_id,
                        "created_at": event.created_at,
                        # Written once, and sent as it was written.
                        "event": orjson.Fragment(event.body),
                    }
                    for event in page.events
                ],
                "next_cursor": encode_page_cursor([str(page.position)]),
            }
        )
        oldest = find_oldest_retained_event_time(
            team=self.tenant.team, now=timezone.now()
        )
        answer[KEPT_SINCE] = oldest.isoformat(timespec="seconds")
        return answer
