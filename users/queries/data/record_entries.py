"""Reads of the timeline of a user's page: nights, workouts, and breaks of sources.

Every reader of these audits the read (accounts.operations.audit.entries).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from portal.lib.database import rows
from users.states import EntryKind

if TYPE_CHECKING:
    from datetime import date, datetime
    from uuid import UUID

    from accounts.models import Tenant

_SESSIONS = """
    SELECT id, kind, provider, calendar_date, starts_at, ends_at,
        (body ->> 'total')::float8, coalesce(body ->> 'title', ''),
        coalesce(body #>> '{sport,name}', ''), (body ->> 'max_hr')::float8
    FROM users_summary
    WHERE tenant_id = %s AND user_id = %s AND kind IN ('sleep', 'workouts')
        AND calendar_date BETWEEN %s AND %s
    ORDER BY starts_at DESC, id LIMIT %s
"""
_ENTRIES = """
    SELECT entry.connection_id, source.provider, entry.at, entry.kind, entry.detail
    FROM users_connectionentry entry
    JOIN users_connection source ON source.id = entry.connection_id
    WHERE source.tenant_id = %(tenant)s AND source.user_id = %(user)s
        AND entry.kind = ANY(%(kinds)s) AND entry.at < %(end)s
    ORDER BY entry.id DESC LIMIT %(limit)s
"""
_BEGIN = (EntryKind.FAILED, EntryKind.PAUSED)
_END = (
    EntryKind.CONNECTED,
    EntryKind.MENDED,
    EntryKind.RESUMED,
    EntryKind.DISCONNECTED,
)
# Ours: what a user's sources went through, looked at from the newest on.
_ENTRIES_AT_MOST = 1_000


class Session(NamedTuple):
    """A sleep or workout; `asleep` in seconds, `highest` in beats a minute."""

    id: UUID
    kind: str
    provider: str
    day: date
    starts_at: datetime
    ends_at: datetime | None
    asleep: float | None
    title: str
    sport: str
    highest: float | None


class SourceBreak(NamedTuple):
    """A time in which a source was in error or paused; `until` None: it still is.

    `cause` is a ConnectionFault or a PauseCause.
    """

    provider: str
    kind: str
    cause: str
    since: datetime
    until: datetime | None


def list_sessions(
    *, tenant: Tenant, user_key: int, first: date, last: date, limit: int
) -> list[Session]:
    """Return a user's sleeps and workouts of these days, latest first; one query."""
    found = rows.fetch_rows(_SESSIONS, [tenant.pk, user_key, first, last, limit])
    return [Session(*row) for row in found]


def list_source_breaks(
    *, tenant: Tenant, user_key: int, start: datetime, end: datetime
) -> list[SourceBreak]:
    """Return the breaks of a user's sources that reach into a time; one query."""
    found = rows.fetch_rows(
        _ENTRIES,
        {
            "tenant": tenant.pk,
            "user": user_key,
            "kinds": [str(kind) for kind in (*_BEGIN, *_END)],
            "end": end,
            "limit": _ENTRIES_AT_MOST,
        },
    )
    breaks: list[SourceBreak] = []
    begun: dict[int, SourceBreak] = {}
    for connection, provider, at, kind, detail in reversed(found):
        if kind in _BEGIN:
            begun.setdefault(connection, SourceBreak(provider, kind, detail, at, None))
        elif opened := begun.pop(connection, None):
            breaks.append(opened._replace(until=at))
    breaks += begun.values()
    fitting = [each for each in breaks if each.until is None or each.until >= start]
    return sorted(fitting, key=lambda each: each.since)
