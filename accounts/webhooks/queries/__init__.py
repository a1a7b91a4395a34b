"""Reads of the outbox: its events, its log, the health of its endpoints."""

from accounts.webhooks.queries.events import (
    EventTally,
    SentEvent,
    events_about,
    recent_event_types,
)

__all__ = ["EventTally", "SentEvent", "events_about", "recent_event_types"]
