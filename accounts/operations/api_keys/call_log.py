"""Write the log of API calls in bulk, and delete old calls."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.models import ApiCall, Tenant
from portal.lib.database import rows
from portal.lib.database.retention import (
    count_rows_and_find_oldest,
    delete_rows_in_batches,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime
    from uuid import UUID

    from portal.lib.database.retention import Aged

# Rows of one statement, so that none holds the log up for long.
_BATCH = 10_000
_COPY = """
COPY accounts_apicall (tenant_id, api_key_id, at, method, path, status, ms,
    request_id, address, user_uuid, code) FROM STDIN
"""
_TALLY = """
INSERT INTO accounts_apicalltally AS held
    (tenant_id, api_key_id, hour, calls, refused, faults)
SELECT * FROM unnest(%(tenants)s::bigint[], %(keys)s::uuid[],
    %(hours)s::timestamptz[], %(calls)s::int[], %(refused)s::int[], %(faults)s::int[])
ON CONFLICT (api_key_id, hour) DO UPDATE SET calls = held.calls + excluded.calls,
    refused = held.refused + excluded.refused, faults = held.faults + excluded.faults
"""
# What is drawn of the counts is a week; they name nobody, whatever the log is kept.
_TALLIES_KEPT = timedelta(days=8)
_FORGET_TALLIES = b"DELETE FROM accounts_apicalltally WHERE hour < %(before)s"
_DELETE = """
DELETE FROM accounts_apicall WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM accounts_apicall WHERE at < %(before)s LIMIT %(limit)s
))
"""
# The newest call of an environment that has more than it keeps.
_FIRST_OVER = """
SELECT at, id FROM accounts_apicall WHERE tenant_id = %(tenant)s
ORDER BY at DESC, id DESC OFFSET %(kept)s LIMIT 1
"""
_DELETE_OVER = """
DELETE FROM accounts_apicall WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM accounts_apicall
    WHERE tenant_id = %(tenant)s AND at <= %(at)s AND (at, id) <= (%(at)s, %(pk)s)
    LIMIT %(limit)s
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
    code: str = ""


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
                    call.code,
                )
            )


def _count_by_hour(calls: Iterable[Call]) -> None:
    counted: defaultdict[tuple[int, UUID, datetime], list[int]] = defaultdict(
        lambda: [0, 0, 0]
    )
    for call in calls:
        hour = call.at.replace(minute=0, second=0, microsecond=0)
        counts = counted[call.tenant_pk, call.key_id, hour]
        counts[0] += 1
        counts[1] += 400 <= call.status < 500
        counts[2] += call.status >= 500
    if not counted:
        return
    # In one order, as other processes add to the same rows.
    tenants, keys, hours = zip(*sorted(counted), strict=True)
    numbers, refused, faults = zip(
        *(counted[one] for one in sorted(counted)), strict=True
    )
    with rows.open_database_cursor() as opened:
        opened.execute(
            _TALLY.encode(),
            {
                "tenants": list(tenants),
                "keys": list(keys),
                "hours": list(hours),
                "calls": list(numbers),
                "refused": list(refused),
                "faults": list(faults),
            },
        )


def delete_expired_api_calls() -> int:
    """Delete calls older than API_CALL_LOG_DAYS, and those over API_CALL_LOG_ROWS.

    The second is the most that an environment keeps; its oldest calls go first. Returns
    how many were deleted. Source: Ours: one busy team must not fill the disk of all.
    """
    now = timezone.now()
    with rows.open_database_cursor() as opened:
        opened.execute(_FORGET_TALLIES, {"before": now - _TALLIES_KEPT})
    deleted = _delete_in_batches(
        _DELETE, before=now - timedelta(days=settings.API_CALL_LOG_DAYS)
    )
    for tenant in Tenant.objects.values_list("pk", flat=True):
        found = rows.fetch_rows(
            _FIRST_OVER, {"tenant": tenant, "kept": settings.API_CALL_LOG_ROWS}
        )
        for at, pk in found:
            deleted += _delete_in_batches(_DELETE_OVER, tenant=tenant, at=at, pk=pk)
    return deleted


def _delete_in_batches(statement: str, **values: object) -> int:
    deleted = 0
    while True:
        with rows.open_database_cursor() as opened:
            opened.execute(statement.encode(), {**values, "limit": _BATCH})
            deleted += opened.rowcount
            if opened.rowcount < _BATCH:
                return deleted


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
