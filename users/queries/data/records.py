"""Reads of one stored record of a user, with its storage details.

Every reader of these audits the read (accounts.operations.audit.entries).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from portal.lib.database import rows
from users.queries.data.summaries import SummaryRow

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from users.models import User


class StoredSummary(NamedTuple):
    """A summary of any kind: its row, its source data and its version."""

    kind: str
    version: int
    starts_at: datetime
    raw: Any
    row: SummaryRow


def find_summary_of_any_kind(*, user: User, summary_id: UUID) -> StoredSummary | None:
    """Return a user's summary of any kind by its ID; one query."""
    found = rows.fetch_rows(
        "SELECT kind, version, starts_at, raw::text, id, provider, source_type,"
        " app_id, device_id, body::text, created_at, updated_at FROM users_summary"
        " WHERE tenant_id = %s AND user_id = %s AND id = %s",
        [user.tenant_id, user.pk, summary_id],
    )
    if not found:
        return None
    kind, version, starts_at, raw, *row = found[0]
    row[5] = orjson.loads(row[5])
    return StoredSummary(kind, version, starts_at, orjson.loads(raw), SummaryRow(*row))
