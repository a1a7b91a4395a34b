"""Verbs of the outbox; what other apps emit leaves through here."""

from accounts.webhooks.operations.emitting import UserRef, emit_event, emit_events
from accounts.webhooks.operations.retention import delete_user_events

__all__ = ["UserRef", "delete_user_events", "emit_event", "emit_events"]
