"""The log of API calls: written in bulk after the answers, deleted when it is old.

Must not be here: what of a call is kept (accounts.api.call_log makes the rows), or
reading the log (accounts.queries).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils import timezone

from portal.lib import rows

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from uuid import UUID

# Rows of one statement, so that none holds the log up for long.
_BATCH = 10_000
_COPY = """
COPY accounts_apicall (tenant_id, api_key_id, at, method, path, status, ms,
    request_id, address, user_uuid) FROM STDIN
"""
_DELETE = """
DELETE FROM accounts_apicall WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM accounts_apicall WHERE at < %(before)s LIMIT %(limit)s
))
"""


@dataclass(frozen=True, slots=True)
class Call:
    """A call as the log keeps it; the fields are those of ApiCall."""

    tenant_pk: int
    key_id: UUID
    at: datetime
    method: str
    path: str
    status: int
    ms: int
    request_id: str
    address: str | None
    user_uuid: UUID | None


def write_calls(calls: Iterable[Call]) -> None:
    """Add calls to the log, in one statement.

    Source: Ours (spec silent): whoever runs a server wants to see what it called.
    """
    with rows.cursor() as opened, opened.copy(_COPY.encode()) as copy:
        for call in calls:
            copy.write_row(
                (
                    call.tenant_pk,
                    call.key_id,
                    call.at,
                    call.method,
                    call.path,
                    call.status,
                    call.ms,
                    call.request_id,
                    call.address,
                    call.user_uuid,
                )
            )


def prune_calls() -> int:
    """Delete what is older than API_CALL_LOG_DAYS; returns how many calls."""
    before = timezone.now() - timedelta(days=settings.API_CALL_LOG_DAYS)
    pruned = 0
    while True:
        with rows.cursor() as opened:
            opened.execute(_DELETE.encode(), {"before": before, "limit": _BATCH})
            pruned += opened.rowcount
            if opened.rowcount < _BATCH:
                return pruned


def forget_calls_of_user(*, tenant_pk: int, user_uuid: UUID) -> int:
    """Delete the calls that named a user, on erasure; returns how many."""
    with rows.cursor() as opened:
        opened.execute(
            b"DELETE FROM accounts_apicall"
            b" WHERE tenant_id = %(tenant)s AND user_uuid = %(user)s",
            {"tenant": tenant_pk, "user": user_uuid},
        )
        return opened.rowcount
