"""Every event type Assay emits: its name, when, and the JSON Schema of its data.

Each app declares its own as `EVENT_TYPES` in its module `events`, which is imported
when the catalogue is first read. Contract 8.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from portal.lib.app_modules import import_declarations

if TYPE_CHECKING:
    from collections.abc import Mapping

ATTEMPT_EXHAUSTED = "message.attempt.exhausted"


@dataclass(frozen=True, slots=True)
class EventType:
    """One kind of event."""

    name: str
    when: str
    schema: dict[str, Any]


@cache
def load_event_types() -> Mapping[str, EventType]:
    """Return the event types of all apps by name.

    Raises: ValueError if two of them have one name.
    """
    declared = [
        kind
        for kinds in import_declarations("events", "EVENT_TYPES").values()
        for kind in kinds
    ]
    by_name = {kind.name: kind for kind in declared}
    if len(by_name) < len(declared):
        raise ValueError("two event types have one name")
    return MappingProxyType(by_name)


def filter_covers_event_type(pattern: str) -> bool:
    """Return whether a filter is an event type or a prefix of one.

    Source: Contract 8.7 (`filter_types`).
    """
    known = load_event_types()
    if pattern in known:
        return True
    return pattern.endswith(".") and any(kind.startswith(pattern) for kind in known)
