"""Reads of the outbox.

Must not be here: writes, or a payload's meaning.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from accounts.webhooks.models import Event

if TYPE_CHECKING:
    from datetime import datetime

    from accounts.models import Tenant


class EventTally(NamedTuple):
    """How many of the events looked at are of one type, and when the last one was."""

    event_type: str
    number: int
    last_at: datetime


def recent_event_types(*, tenant: Tenant, among: int) -> list[EventTally]:
    """The types of the last `among` events of a tenant, the latest type first.

    It names no user: the type alone may say what somebody would rather not have read
    over a shoulder. One query, bounded by `among`.
    """
    last = Event.objects.for_tenant(tenant).order_by("-id")
    number: Counter[str] = Counter()
    last_at: dict[str, datetime] = {}
    for event_type, at in last.values_list("event_type", "created_at")[:among]:
        number[event_type] += 1
        last_at.setdefault(event_type, at)
    return [EventTally(kind, number[kind], at) for kind, at in last_at.items()]
