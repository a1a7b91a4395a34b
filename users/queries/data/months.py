"""Users and summaries of whole months, for exports that copy all there is.

Every reader of these audits what it copies (accounts.operations.audit.entries).
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from portal.lib.database import rows
from portal.lib.database.months import MonthMark
from users.models import Summary, User

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from accounts.models import Tenant

# Each change of a summary counts its version up.
_MARKS = """
    SELECT person.tenant_id, left(person.uuid::text, 2),
        date_trunc('month', calendar_date::timestamp)::date, count(*), bit_xor(
            hash_record_extended(ROW(summary.id, version, summary.updated_at), 0)
        )
    FROM users_summary summary
    JOIN users_user person ON person.id = user_id AND person.deleted_at IS NULL
    WHERE calendar_date < %(before)s
    GROUP BY 1, 2, 3
"""
_CHUNK = 2_000


def find_summary_marks(*, before: date) -> list[MonthMark]:
    """Return the marks of months with summaries dated before a day, of live users.

    Over all tenants.
    """
    return [MonthMark(*row) for row in rows.fetch_rows(_MARKS, {"before": before})]


def iterate_live_users(tenant: Tenant, *, prefix: str) -> Iterator[User]:
    """Yield the live users of a tenant whose uuid begins so, by uuid."""
    mine = User.objects.for_tenant(tenant).live()
    found = mine.filter(uuid__gte=_fill(prefix, "0"), uuid__lte=_fill(prefix, "f"))
    yield from found.only("pk", "uuid").order_by("uuid").iterator(chunk_size=_CHUNK)


def iterate_summaries(
    tenant: Tenant, *, prefix: str, first: date, after: date
) -> Iterator[Summary]:
    """Yield the summaries of such users dated from `first` to before `after`.

    By user, kind, start and ID; without what their sources sent.
    """
    found = Summary.objects.for_tenant(tenant).filter(
        user__deleted_at=None,
        user__uuid__gte=_fill(prefix, "0"),
        user__uuid__lte=_fill(prefix, "f"),
        calendar_date__gte=first,
        calendar_date__lt=after,
    )
    found = found.select_related("user").defer("raw", "layers")
    order = ("user__uuid", "kind", "starts_at", "pk")
    yield from found.order_by(*order).iterator(chunk_size=_CHUNK)


def _fill(prefix: str, digit: str) -> UUID:
    return UUID(prefix.ljust(32, digit))
