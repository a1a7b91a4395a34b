"""Sources of a user as shown: their status and timeline."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from portal.ui.pills import format_wire_value_as_words
from users.states import (
    ConnectionFault,
    ConnectionStatus,
    EntryKind,
    PauseCause,
    explain_connection_status,
)
from users.wearables.names import resource_name
from users.wearables.providers import find_provider

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from users.models import Connection, ConnectionEntry
    from users.states import Condition
    from users.wearables.providers import Provider

# More resources than this are counted, not named.
_NAMED_RESOURCES = 4
# By kind of entry: the look's mark and icon.
_MARKS = {
    EntryKind.CONNECTED: ("ok", "link"),
    EntryKind.FAILED: ("bad", "alert"),
    EntryKind.MENDED: ("ok", "check"),
    EntryKind.PAUSED: ("", "minus"),
    EntryKind.RESUMED: ("ok", "bolt"),
    EntryKind.REFRESHED: ("now", "rotate"),
    EntryKind.HISTORY: ("ok", "list"),
    EntryKind.EMAILED: ("", "message"),
    EntryKind.DISCONNECTED: ("", "x"),
}


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A connected source, its name and its resources."""

    connection: Connection
    provider: Provider

    @property
    def resources(self) -> tuple[str, ...]:
        """Return the first resources of the source."""
        return self.provider.resources[:_NAMED_RESOURCES]

    @property
    def more(self) -> int:
        """Return the number of other resources."""
        return len(self.provider.resources) - len(self.resources)

    @property
    def condition(self) -> Condition:
        """Return the explanation and next step of its status."""
        return explain_connection_status(
            self.connection.status,
            error_type=self.connection.error_type,
            pause_cause=self.connection.pause_cause,
        )

    @property
    def is_healthy(self) -> bool:
        """Return whether it is connected without problems."""
        return self.connection.status == ConnectionStatus.CONNECTED

    @property
    def is_paused(self) -> bool:
        """Return whether it is paused."""
        return self.connection.status == ConnectionStatus.PAUSED


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """An entry of a connection's timeline, or several merged into one.

    `raw` is the webhook-id of what told it, where there is one.
    """

    label: str
    kind: str
    icon: str
    at: datetime
    detail: str = ""
    raw: str = ""


def build_source_row(connection: Connection) -> SourceRow:
    """Return a connection as a row."""
    return SourceRow(connection, find_provider(connection.provider))


def build_connection_timeline(entries: Iterable[ConnectionEntry]) -> list[TimelineRow]:
    """Build the shown timeline in order; consecutive backfills are one row."""
    shown: list[TimelineRow] = []
    for kind, run in groupby(entries, key=lambda entry: entry.kind):
        if kind == EntryKind.HISTORY:
            shown.append(_history_row(list(run)))
        else:
            shown += map(_row, run)
    return shown


def _row(entry: ConnectionEntry) -> TimelineRow:
    known = EntryKind.known(entry.kind)
    kind, icon = _MARKS.get(known, ("", "info")) if known else ("", "info")
    items = [_detail(entry), _name_actor(entry)]
    if entry.message_id:
        items.append(_("webhook sent"))
    return TimelineRow(
        label=known.label if known else format_wire_value_as_words(entry.kind),
        kind=kind,
        icon=icon,
        at=entry.at,
        detail=" · ".join(text.rstrip(".") for text in items if text),
        raw=entry.message_id,
    )


def _history_row(entries: list[ConnectionEntry]) -> TimelineRow:
    kind, icon = _MARKS[EntryKind.HISTORY]
    named = ", ".join(resource_name(entry.detail) for entry in reversed(entries))
    told = _("webhook sent") if len(entries) == 1 else _("one webhook sent for each")
    return TimelineRow(
        label=EntryKind.HISTORY.label,
        kind=kind,
        icon=icon,
        at=entries[0].at,
        detail=f"{named} · {told}",
        raw=entries[0].message_id if len(entries) == 1 else "",
    )


def _detail(entry: ConnectionEntry) -> str:
    if entry.kind == EntryKind.FAILED:
        fault = ConnectionFault.known(entry.detail) or ConnectionFault.UNKNOWN
        return str(
            explain_connection_status(ConnectionStatus.ERROR, error_type=fault).sentence
        )
    if entry.kind == EntryKind.PAUSED:
        cause = PauseCause.known(entry.detail)
        return str(cause.label) if cause else format_wire_value_as_words(entry.detail)
    if entry.kind == EntryKind.REFRESHED:
        if not _is_repeated(entry):
            return ""
        return _("%(number)s times") % {"number": entry.detail}
    return format_wire_value_as_words(entry.detail)


def _name_actor(entry: ConnectionEntry) -> str:
    if not entry.actor_label:
        return ""
    if _is_repeated(entry):
        return _("last by %(actor)s") % {"actor": entry.actor_label}
    return _("by %(actor)s") % {"actor": entry.actor_label}


def _is_repeated(entry: ConnectionEntry) -> bool:
    """Return whether the entry counts several refreshes."""
    return entry.kind == EntryKind.REFRESHED and entry.detail not in {"", "1"}
