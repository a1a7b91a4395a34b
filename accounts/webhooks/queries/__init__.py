"""Reads of the outbox: its events, its log, the health of its endpoints."""

from accounts.webhooks.queries.events import (
    CarryingEvent,
    EventTally,
    SentEvent,
    SentTo,
    endpoints_told,
    events_about,
    events_carrying,
    recent_event_types,
)

__all__ = [
    "CarryingEvent",
    "EventTally",
    "SentEvent",
    "SentTo",
    "endpoints_told",
    "events_about",
    "events_carrying",
    "recent_event_types",
]
