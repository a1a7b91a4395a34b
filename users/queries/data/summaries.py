"""Reads of summaries: a range of days, the last one, one with its neighbours.

Every reader of these audits the read (accounts.operations.audit.entries).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

import orjson

from portal.lib.database import rows
from users.models import Summary

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date, datetime

    from accounts.models import Tenant
    from users.models import User


class SummaryRow(NamedTuple):
    """A stored summary: the columns of Summary that answers and pages show."""

    id: UUID
    provider: str
    source_type: str
    app_id: str | None
    device_id: UUID | None
    body: dict[str, Any]
    created_at: datetime
    updated_at: datetime


class RawSummaryRow(NamedTuple):
    """A stored summary with the element as it came."""

    id: UUID
    kind: str
    provider: str
    device_id: UUID | None
    starts_at: datetime
    body: dict[str, Any]
    raw: dict[str, Any]
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class SummaryPage:
    """A summary, earlier ones (newest first), and the next one."""

    shown: SummaryRow
    earlier: Sequence[SummaryRow]
    later: SummaryRow | None


def find_summary(*, tenant: Tenant, kind: str, summary_id: UUID) -> Summary | None:
    """Return a summary of a live user by its ID, with its user; one query."""
    found: Summary | None = (
        Summary.objects.for_tenant(tenant)
        .filter(id=summary_id, kind=kind, user__deleted_at=None)
        .select_related("user")
        .first()
    )
    if found is not None:
        found.user.tenant = tenant
    return found


def get_summary_with_neighbors(
    *, user: User, kind: str, wanted: UUID | None, until: date, earlier: int
) -> SummaryPage | None:
    """Return a summary of a user with its neighbors; three or four queries.

    The `wanted` one, else the last whose calendar_date is not after `until`, else the
    first of all. None: there is no such summary.
    """
    scope = [user.tenant_id, user.pk, kind]
    if wanted is not None:
        found = _summary_rows("AND id = %s", [*scope, wanted])
    else:
        latest = "AND calendar_date <= %s ORDER BY starts_at DESC, id DESC LIMIT 1"
        found = _summary_rows(latest, [*scope, until]) or _summary_rows(
            "ORDER BY starts_at, id LIMIT 1", scope
        )
    if not found:
        return None
    (shown,) = found
    beside = (
        "AND (starts_at, id) {} (SELECT starts_at, id FROM users_summary WHERE id = %s)"
    )
    return SummaryPage(
        shown=shown,
        earlier=_summary_rows(
            beside.format("<") + " ORDER BY starts_at DESC, id DESC LIMIT %s",
            [*scope, shown.id, earlier],
        ),
        later=next(
            iter(
                _summary_rows(
                    beside.format(">") + " ORDER BY starts_at, id LIMIT 1",
                    [*scope, shown.id],
                )
            ),
            None,
        ),
    )


def has_summaries_of_kind(*, user: User, kind: str) -> bool:
    """Return whether a user has a summary of a kind, without reading it; one query."""
    found = Summary.objects.for_tenant(user.tenant).filter(user=user, kind=kind)
    return bool(found.exists())


def list_user_summaries(
    *,
    user: User,
    kind: str,
    start: date,
    end: date,
    provider: str | None = None,
    is_span: bool = False,
) -> list[SummaryRow]:
    """Return a user's summaries of a kind from `start` to `end`, inclusive; one query.

    Ascending by start. With `is_span` those whose days overlap the range. `provider` is
    a slug, None for all.
    """
    first = "last_date" if is_span else "calendar_date"
    return _summary_rows(
        f"AND calendar_date <= %s AND {first} >= %s"
        " AND provider = coalesce(%s, provider) ORDER BY starts_at, id",
        [user.tenant_id, user.pk, kind, end, start, provider],
    )


def find_latest_summary(
    *, user: User, kind: str, provider: str | None = None
) -> SummaryRow | None:
    """Return the summary of a kind stored or changed last; one query.

    `provider` is a slug, None for all.
    """
    latest = (
        "AND provider = coalesce(%s, provider) ORDER BY updated_at DESC, id LIMIT 1"
    )
    found = _summary_rows(latest, [user.tenant_id, user.pk, kind, provider])
    return found[0] if found else None


def list_raw_summaries(
    *, user: User, kind: str, start: date, end: date, provider: str | None = None
) -> list[RawSummaryRow]:
    """Return a user's summaries as they came, by start; one query.

    `start` and `end` bound the calendar date, inclusive. `provider` is a slug, None for
    all.
    """
    return _raw_rows(
        "AND calendar_date BETWEEN %s AND %s AND provider = coalesce(%s, provider)"
        " ORDER BY starts_at, id",
        [user.tenant_id, user.pk, kind, start, end, provider],
    )


def find_latest_raw_summary(
    *, user: User, kind: str, provider: str | None = None
) -> RawSummaryRow | None:
    """Return the summary of a kind stored or changed last, as it came; one query."""
    found = _raw_rows(
        "AND provider = coalesce(%s, provider) ORDER BY updated_at DESC, id LIMIT 1",
        [user.tenant_id, user.pk, kind, provider],
    )
    return found[0] if found else None


def _raw_rows(condition: str, inputs: Sequence[object]) -> list[RawSummaryRow]:
    found = rows.fetch_rows(
        "SELECT id, kind, provider, device_id, starts_at, body::text, raw::text,"  # noqa: S608 - text of ours
        " created_at, updated_at FROM users_summary"
        f" WHERE tenant_id = %s AND user_id = %s AND kind = %s {condition}",
        inputs,
    )
    return [
        RawSummaryRow(*row[:5], *map(orjson.loads, row[5:7]), *row[7:]) for row in found
    ]


def _summary_rows(condition: str, inputs: Sequence[object]) -> list[SummaryRow]:
    found = rows.fetch_rows(
        "SELECT id, provider, source_type, app_id, device_id, body::text,"  # noqa: S608 - text of ours
        " created_at, updated_at FROM users_summary"
        f" WHERE tenant_id = %s AND user_id = %s AND kind = %s {condition}",
        inputs,
    )
    return [
        SummaryRow(*row[:5], orjson.loads(row[5]), *row[6:])  # type: ignore[call-arg]  # eight columns
        for row in found
    ]
