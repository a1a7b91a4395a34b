"""Filter and sort users by when their data last arrived."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from django.core.exceptions import EmptyResultSet
from django.utils import timezone

from portal.lib.database import rows
from users.states import LastData

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import QuerySet

    from accounts.models import Tenant
    from users.models import User

LAST_DATA_SORTS = ("last_data", "-last_data")
_SILENT_FOR: dict[str, timedelta] = {
    LastData.NOT_3_DAYS: timedelta(days=3),
    LastData.NOT_7_DAYS: timedelta(days=7),
    LastData.NOT_30_DAYS: timedelta(days=30),
}


# Users without data sort as the earliest; `place` is the order that they came in.
_ORDERS = {
    "last_data": "at NULLS FIRST, place",
    "-last_data": "at DESC NULLS LAST, place",
}
_FIND = """
SELECT coalesce((array_agg(id ORDER BY {order}) FILTER (WHERE {fits}))[%s:%s], '{{}}'),
    count(*) FILTER (WHERE {fits}), count(*) <= %s
FROM (SELECT id, row_number() OVER () AS place FROM ({keys}) listed) asked
LEFT JOIN LATERAL (
    SELECT at FROM users_arrival
    WHERE user_id = asked.id AND tenant_id = %s ORDER BY at DESC LIMIT 1
) latest ON true
"""


class FoundByLastData(NamedTuple):
    """Keys of a page, how many users fit, and whether all were looked through."""

    keys: list[int]
    total: int
    is_whole: bool


def find_users_by_last_data(
    *,
    tenant: Tenant,
    users: QuerySet[User],
    at_most: int,
    last_data: str,
    sort: str = "",
    offset: int = 0,
    limit: int,
) -> FoundByLastData:
    """Return a page of the first `at_most` users that match `last_data` (a LastData).

    `users` is in order, which stays unless `sort` is of LAST_DATA_SORTS; an empty
    `last_data` matches all. Who was silent for all of ARRIVAL_RETENTION counts as never
    seen. One statement, with an index look-up for each user: 10,000 keys sent here and
    back took longer.
    """
    try:
        keys, inputs = users.values("id")[: at_most + 1].query.sql_with_params()
    except EmptyResultSet:
        return FoundByLastData([], 0, is_whole=True)
    condition, since = _build_condition(last_data)
    fits = f"place <= {at_most:d} AND {condition}"
    [found] = rows.fetch_rows(
        _FIND.format(order=_ORDERS.get(sort, "place"), fits=fits, keys=keys),
        [*since, offset + 1, offset + limit, *since, at_most, *inputs, tenant.pk],
    )
    return FoundByLastData(*found)


def _build_condition(last_data: str) -> tuple[str, list[datetime]]:
    """Return the condition on when data last came, `at`, and its input."""
    now = timezone.now()
    if last_data == LastData.DAY:
        return "at > %s", [now - timedelta(days=1)]
    if last_data == LastData.NONE:
        return "at IS NULL", []
    if last_data in _SILENT_FOR:
        return "(at IS NULL OR at <= %s)", [now - _SILENT_FOR[last_data]]
    return "true", []
