"""Results of whole months, for exports that copy all there is.

A result is of the month (UTC) in which its sample was collected, or was reported where
the lab gave no time of collection. Every reader of these audits what it copies
(accounts.operations.audit.entries).
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models.functions import Coalesce

from labs.models import Result
from portal.lib.database import rows
from portal.lib.database.months import MonthMark

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from accounts.models import Tenant

# Whole rows: those of a version may be corrected in place, such as a LOINC code.
_MARKS = """
    SELECT person.tenant_id, left(person.uuid::text, 2), date_trunc('month',
            coalesce(version.collected_at, version.reported_at) AT TIME ZONE 'UTC'
        )::date,
        count(*), bit_xor(hash_record_extended(single, 0) # hash_record_extended(
            version, 0
        ))
    FROM labs_result single
    JOIN labs_resultversion version ON version.id = version_id AND is_current
    JOIN labs_order ordered ON ordered.id = order_id
    JOIN users_user person ON person.id = user_id AND person.deleted_at IS NULL
    WHERE coalesce(version.collected_at, version.reported_at) < %(before)s
    GROUP BY 1, 2, 3
"""
_CHUNK = 2_000


def find_result_marks(*, before: datetime) -> list[MonthMark]:
    """Return the marks of months with results before a time, of live users.

    Over all tenants.
    """
    return [MonthMark(*row) for row in rows.fetch_rows(_MARKS, {"before": before})]


def iterate_results(
    tenant: Tenant, *, prefix: str, start: datetime, end: datetime
) -> Iterator[Result]:
    """Yield the current results in [start, end) of users whose uuid begins so.

    By user, time, order and the lab's own order, with version, order and lab.
    """
    found = (
        Result.objects.for_tenant(tenant)
        .alias(at=Coalesce("version__collected_at", "version__reported_at"))
        .filter(
            version__is_current=True,
            version__order__user__deleted_at=None,
            version__order__user__uuid__gte=UUID(prefix.ljust(32, "0")),
            version__order__user__uuid__lte=UUID(prefix.ljust(32, "f")),
            at__gte=start,
            at__lt=end,
        )
    )
    found = found.select_related("version__order__user", "version__order__lab")
    order = ("version__order__user__uuid", "at", "version__order_id", "position")
    yield from found.order_by(*order).iterator(chunk_size=_CHUNK)
