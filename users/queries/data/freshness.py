"""Extents of a user's summaries: first, last, number and days.

Menstrual cycles are left out: that there are any is sensitive too, so they are told of
where somebody opens them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from portal.lib.database import rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date, datetime

    from users.models import User

_SENSITIVE = "menstrual_cycle"


class SummaryExtent(NamedTuple):
    """A user's summaries of one kind and source.

    `number` is of those dated in the range asked for, `days` their dates, ascending.
    """

    kind: str
    provider: str
    first: datetime
    last: datetime
    number: int
    days: list[date]


def find_summary_extents(*, user: User, start: date, end: date) -> list[SummaryExtent]:
    """Return the extents of a user's summaries by kind and source; one query.

    `start` to `end`, both included, are the days that are counted.
    """
    found = rows.fetch_rows(
        "SELECT kind, provider, min(starts_at), max(coalesce(ends_at, starts_at)),"
        " count(*) FILTER (WHERE calendar_date BETWEEN %(start)s AND %(end)s)::integer,"
        " coalesce(array_agg(DISTINCT calendar_date ORDER BY calendar_date)"
        " FILTER (WHERE calendar_date BETWEEN %(start)s AND %(end)s), ARRAY[]::date[])"
        " FROM users_summary"
        " WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND kind <> %(sensitive)s"
        " GROUP BY kind, provider ORDER BY kind, provider",
        {
            "tenant": user.tenant_id,
            "user": user.pk,
            "sensitive": _SENSITIVE,
            "start": start,
            "end": end,
        },
    )
    return [SummaryExtent(*row) for row in found]


def find_latest_summaries(
    *, user: User, kinds: Sequence[str], provider: str | None = None
) -> dict[str, datetime]:
    """Return the end of the last summary by kind; one query."""
    found = rows.fetch_rows(
        "SELECT kind, max(coalesce(ends_at, starts_at)) FROM users_summary"
        " WHERE tenant_id = %(tenant)s AND user_id = %(user)s"
        " AND kind = ANY(%(kinds)s) AND (%(provider)s::text IS NULL"
        " OR provider = %(provider)s) GROUP BY kind",
        {
            "tenant": user.tenant_id,
            "user": user.pk,
            "kinds": list(kinds),
            "provider": provider,
        },
    )
    return dict(found)
