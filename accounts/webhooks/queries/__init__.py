"""Reads of the outbox: its events, its log, the health of its endpoints."""

from accounts.webhooks.queries.events import (
    CarryingEvent,
    EndpointDelivery,
    EventTally,
    SentEvent,
    count_recent_event_types,
    list_endpoints_sent_to,
    list_events_with_text,
    list_user_events,
)

__all__ = [
    "CarryingEvent",
    "EndpointDelivery",
    "EventTally",
    "SentEvent",
    "count_recent_event_types",
    "list_endpoints_sent_to",
    "list_events_with_text",
    "list_user_events",
]
