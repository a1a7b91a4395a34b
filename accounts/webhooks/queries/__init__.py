"""Reads of the outbox: its events, its log, the health of its endpoints."""

from accounts.webhooks.queries.events import (
    CarryingEvent,
    EndpointDelivery,
    EventTally,
    SentEvent,
    count_recent_event_types,
    list_endpoints_by_message,
    list_events_about_object,
    list_user_events_with_bodies,
)

__all__ = [
    "CarryingEvent",
    "EndpointDelivery",
    "EventTally",
    "SentEvent",
    "count_recent_event_types",
    "list_endpoints_by_message",
    "list_events_about_object",
    "list_user_events_with_bodies",
]
