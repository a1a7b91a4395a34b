"""Write the log of API calls in bulk, and delete old calls."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.models import ApiCall
from portal.lib.database import rows
from portal.lib.database.retention import (
    count_rows_and_find_oldest,
    delete_rows_in_batches,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime
    from uuid import UUID

    from accounts.models import Tenant
    from portal.lib.database.retention import Aged

# Rows of one statement, so that none holds the log up for long.
_BATCH = 10_000
_COPY = """
COPY accounts_apicall (tenant_id, api_key_id, at, method, path, status, ms,
    request_id, address, user_uuid) FROM STDIN
"""
_TALLY = """
INSERT INTO accounts_apicalltally AS held (tenant_id, api_key_id, hour, calls)
SELECT * FROM unnest(%(tenants)s::bigint[], %(keys)s::uuid[],
    %(hours)s::timestamptz[], %(calls)s::int[])
ON CONFLICT (api_key_id, hour) DO UPDATE SET calls = held.calls + excluded.calls
"""
# What is drawn of the counts is a week; they name nobody, whatever the log is kept.
_TALLIES_KEPT = timedelta(days=8)
_FORGET_TALLIES = b"DELETE FROM accounts_apicalltally WHERE hour < %(before)s"
_DELETE = """
DELETE FROM accounts_apicall WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM accounts_apicall WHERE at < %(before)s LIMIT %(limit)s
))
"""


@dataclass(frozen=True, slots=True)
class Call:
    """A call to write; the fields are those of ApiCall."""

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


@transaction.atomic
def write_api_call_log(calls: Iterable[Call]) -> None:
    """Write calls to the log and to the hourly counts, in two statements.

    Source: Ours (spec silent): whoever runs a server wants to see what it called.
    """
    calls = list(calls)
    _count_by_hour(calls)
    with rows.open_database_cursor() as opened, opened.copy(_COPY.encode()) as copy:
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


def _count_by_hour(calls: Iterable[Call]) -> None:
    counted = Counter(
        (
            call.tenant_pk,
            call.key_id,
            call.at.replace(minute=0, second=0, microsecond=0),
        )
        for call in calls
    )
    if not counted:
        return
    # In one order, as other processes add to the same rows.
    tenants, keys, hours = zip(*sorted(counted), strict=True)
    with rows.open_database_cursor() as opened:
        opened.execute(
            _TALLY.encode(),
            {
                "tenants": list(tenants),
                "keys": list(keys),
                "hours": list(hours),
                "calls": [counted[one] for one in sorted(counted)],
            },
        )


def delete_expired_api_calls() -> int:
    """Delete calls older than API_CALL_LOG_DAYS; return how many."""
    with rows.open_database_cursor() as opened:
        opened.execute(_FORGET_TALLIES, {"before": timezone.now() - _TALLIES_KEPT})
    before = timezone.now() - timedelta(days=settings.API_CALL_LOG_DAYS)
    pruned = 0
    while True:
        with rows.open_database_cursor() as opened:
            opened.execute(_DELETE.encode(), {"before": before, "limit": _BATCH})
            pruned += opened.rowcount
            if opened.rowcount < _BATCH:
                return pruned


def count_api_calls_before(tenant: Tenant, before: datetime) -> Aged:
    """Count a tenant's calls before a moment, up to a bound."""
    return count_rows_and_find_oldest(
        ApiCall.objects.for_tenant(tenant).filter(at__lt=before), "at"
    )


def delete_tenant_api_calls_before(tenant: Tenant, before: datetime) -> Iterator[int]:
    """Delete a tenant's calls before a moment, by its retention rule."""
    return delete_rows_in_batches(
        ApiCall.objects.for_tenant(tenant).filter(at__lt=before), step=_BATCH
    )


def delete_api_calls_of_user(*, tenant_pk: int, user_uuid: UUID) -> int:
    """Delete the calls that named an erased user; return how many."""
    with rows.open_database_cursor() as opened:
        opened.execute(
            b"DELETE FROM accounts_apicall"
            b" WHERE tenant_id = %(tenant)s AND user_uuid = %(user)s",
            {"tenant": tenant_pk, "user": user_uuid},
        )
        return opened.rowcount
