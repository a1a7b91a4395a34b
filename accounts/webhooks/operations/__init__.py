"""Verbs of the outbox; what other apps emit leaves through here."""

from accounts.webhooks.operations.emitting import UserRef, emit_event, emit_events
from accounts.webhooks.operations.retention import purge_user_events

__all__ = ["UserRef", "emit_event", "emit_events", "purge_user_events"]
