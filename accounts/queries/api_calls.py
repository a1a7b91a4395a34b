"""Read the log of API calls: a key's calls by filter, and statistics."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db.models import Q

from accounts.models import ApiCall
from portal.lib.choices import OpenChoices
from portal.lib.database import rows
from portal.lib.ids import find_uuid_range_of_prefix, is_complete_uuid
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from uuid import UUID

    from django.db.models import QuerySet

    from accounts.models import ApiKey, Tenant

# A list that matches more says so instead of counting on.
COUNTED_UP_TO = 10_000
# As many calls, or those of so long, tell how a key's calls go.
JUDGED_CALLS = 10_000
JUDGED_SPAN = timedelta(hours=24)
# How far back the calls of a key are drawn.
DRAWN_DAYS = 7
_DAYS = """
SELECT api_key_id, floor(extract(epoch FROM %(hour)s - hour) / 86400)::int, sum(calls)
FROM accounts_apicalltally
WHERE tenant_id = %(tenant)s AND api_key_id = ANY(%(keys)s)
    AND hour > %(hour)s - %(span)s AND hour <= %(hour)s
GROUP BY 1, 2
"""
_SUMS = """
SELECT count(*), count(*) FILTER (WHERE status BETWEEN 400 AND 499),
    count(*) FILTER (WHERE status >= 500),
    percentile_disc(0.95) WITHIN GROUP (ORDER BY ms)
FROM (
    SELECT status, ms FROM accounts_apicall
    WHERE tenant_id = %(tenant)s AND api_key_id = %(key)s AND at >= %(since)s
    ORDER BY at DESC, id DESC LIMIT %(limit)s
) AS last
"""


class StatusClass(OpenChoices):
    """A class of HTTP statuses, as a filter."""

    OK = "ok", gettext_lazy("Successful (2xx)")
    REFUSED = "refused", gettext_lazy("Client errors (4xx)")
    LIMITED = "limited", gettext_lazy("Rate limited (429)")
    FAULT = "fault", gettext_lazy("Server errors (5xx)")


_ANSWERED: dict[str, Q] = {
    StatusClass.OK: Q(status__lt=400),
    StatusClass.REFUSED: Q(status__gte=400, status__lt=500),
    StatusClass.LIMITED: Q(status=429),
    StatusClass.FAULT: Q(status__gte=500),
}


@dataclass(frozen=True, slots=True)
class CallFilters:
    """Filters of calls; empty parts do not filter.

    `begins` is how a path begins (with a slash), or the id of a request or of a user; a
    whole id finds any path that names it. `since` is included.
    """

    begins: str = ""
    answered: str = ""
    method: str = ""
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class CallPage:
    """A page of calls, newest first; `after` is where older ones begin."""

    calls: Sequence[ApiCall]
    after: tuple[datetime, int] | None


@dataclass(frozen=True, slots=True)
class CallSums:
    """Statistics of recent calls; `p95_ms` is None without calls."""

    number: int
    refused: int
    faults: int
    p95_ms: int | None


def list_api_calls_of_key(
    *,
    key: ApiKey,
    filters: CallFilters,
    before: tuple[datetime, int] | None = None,
    limit: int,
) -> CallPage:
    """Return a page of a key's calls with one query."""
    calls = _filter_calls(key, filters)
    if before:
        at, pk = before
        # The first condition is what the index can begin at.
        calls = calls.filter(at__lte=at).filter(Q(at__lt=at) | Q(at=at, pk__lt=pk))
    found = list(calls.order_by("-at", "-pk")[: limit + 1])
    page = found[:limit]
    more = len(found) > limit
    return CallPage(page, (page[-1].at, page[-1].pk) if more else None)


def count_matching_api_calls(*, key: ApiKey, filters: CallFilters) -> int:
    """Count matching calls; COUNTED_UP_TO + 1 stands for more."""
    return _filter_calls(key, filters).order_by()[: COUNTED_UP_TO + 1].count()


def summarize_recent_api_calls(*, key: ApiKey, at: datetime) -> CallSums:
    """Summarize a key's last JUDGED_CALLS calls within JUDGED_SPAN."""
    ((number, refused, faults, p95),) = rows.fetch_rows(
        _SUMS,
        {
            "tenant": key.tenant_id,
            "key": key.pk,
            "since": at - JUDGED_SPAN,
            "limit": JUDGED_CALLS,
        },
    )
    return CallSums(number, refused, faults, p95)


def count_api_calls_by_day(
    *, tenant: Tenant, keys: Iterable[UUID], at: datetime
) -> Mapping[UUID, Sequence[int]]:
    """Count the calls of these keys on each of DRAWN_DAYS, oldest first.

    Days are of 24 hours and end with the hour that `at` is in: none is cut short. Any
    other key made none. One query.
    """
    found = rows.fetch_rows(
        _DAYS,
        {
            "tenant": tenant.pk,
            "keys": list(keys),
            "hour": at.replace(minute=0, second=0, microsecond=0),
            "span": timedelta(days=DRAWN_DAYS),
        },
    )
    days: defaultdict[UUID, list[int]] = defaultdict(lambda: [0] * DRAWN_DAYS)
    for key, ago, calls in found:
        days[key][DRAWN_DAYS - 1 - ago] = int(calls)
    return days


def _filter_calls(key: ApiKey, filters: CallFilters) -> QuerySet[ApiCall]:
    calls: QuerySet[ApiCall] = ApiCall.objects.for_tenant(key.tenant).filter(
        api_key=key
    )
    if filters.begins:
        calls = calls.filter(_filter_by_prefix(filters.begins))
    if filters.answered in _ANSWERED:
        calls = calls.filter(_ANSWERED[filters.answered])
    if filters.method:
        calls = calls.filter(method=filters.method)
    if filters.since:
        calls = calls.filter(at__gte=filters.since)
    return calls


def _filter_by_prefix(text: str) -> Q:
    if text.startswith("/"):
        return Q(path__startswith=text)
    bounds = find_uuid_range_of_prefix(text)
    if bounds is None:
        return Q(pk__in=())
    condition = Q(user_uuid__range=bounds)
    condition |= Q(request_id__startswith=text.replace("-", "").lower())
    if is_complete_uuid(text, bounds[0]):
        condition |= Q(path__contains=str(bounds[0]))
    return condition
