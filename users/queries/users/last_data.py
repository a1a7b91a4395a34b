"""Filter and sort users by when their data last arrived."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from django.utils import timezone

from users.queries.sources.sources import find_last_data_time_by_user
from users.states import LastData

if TYPE_CHECKING:
    from collections.abc import Sequence

    from accounts.models import Tenant

LAST_DATA_SORTS = ("last_data", "-last_data")
# Users without data sort as the earliest.
_NEVER = datetime.min.replace(tzinfo=UTC)
_SILENT_FOR: dict[str, timedelta] = {
    LastData.NOT_3_DAYS: timedelta(days=3),
    LastData.NOT_7_DAYS: timedelta(days=7),
    LastData.NOT_30_DAYS: timedelta(days=30),
}


def filter_users_by_last_data(
    *, tenant: Tenant, user_ids: Sequence[int], last_data: str, sort: str
) -> list[int]:
    """Return the user keys that match `last_data` (a LastData; empty: all).

    In the order given unless `sort` is of LAST_DATA_SORTS. One query, an index look-up
    for each key. Who was silent for all of ARRIVAL_RETENTION counts as never seen.
    """
    latest = find_last_data_time_by_user(tenant=tenant, user_ids=user_ids)
    now = timezone.now()
    fitting = [key for key in user_ids if _matches(last_data, latest.get(key), now)]
    if sort in LAST_DATA_SORTS:
        fitting.sort(
            key=lambda key: latest.get(key, _NEVER), reverse=sort.startswith("-")
        )
    return fitting


def _matches(last_data: str, at: datetime | None, now: datetime) -> bool:
    if last_data == LastData.DAY:
        return at is not None and at > now - timedelta(days=1)
    if last_data == LastData.NONE:
        return at is None
    if last_data in _SILENT_FOR:
        return at is None or at <= now - _SILENT_FOR[last_data]
    return True
