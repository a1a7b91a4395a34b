"""Read the log of API calls of an environment: calls by filter, and statistics."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db.models import Q

from accounts.models import ApiCall
from portal.lib.choices import OpenChoices
from portal.lib.database import rows
from portal.lib.database.sorting import sort_as_asked
from portal.lib.ids import find_uuid_range_of_prefix, is_complete_uuid
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from uuid import UUID

    from django.db.models import QuerySet

    from accounts.models import Tenant

# A list that matches more says so instead of counting on.
COUNTED_UP_TO = 10_000
# As many calls, or those of so long, tell how a key's calls go.
JUDGED_CALLS = 10_000
JUDGED_SPAN = timedelta(hours=24)
# How far back the calls of a key, and those of an environment, are drawn.
DRAWN_DAYS = 7
DRAWN_HOURS = 24
_DAYS = """
SELECT api_key_id, floor(extract(epoch FROM %(hour)s - hour) / 86400)::int, sum(calls)
FROM accounts_apicalltally
WHERE tenant_id = %(tenant)s AND api_key_id = ANY(%(keys)s)
    AND hour > %(hour)s - %(span)s AND hour <= %(hour)s
GROUP BY 1, 2
"""
_HOURS = """
SELECT floor(extract(epoch FROM %(hour)s - hour) / 3600)::int,
    sum(calls), sum(refused), sum(faults)
FROM accounts_apicalltally
WHERE tenant_id = %(tenant)s AND api_key_id = ANY(%(keys)s)
    AND hour > %(hour)s - %(span)s AND hour <= %(hour)s
GROUP BY 1
"""
_SUMS = """
SELECT count(*), count(*) FILTER (WHERE status BETWEEN 400 AND 499),
    count(*) FILTER (WHERE status >= 500),
    percentile_disc(0.5) WITHIN GROUP (ORDER BY ms),
    percentile_disc(0.95) WITHIN GROUP (ORDER BY ms)
FROM (
    SELECT status, ms FROM accounts_apicall
    WHERE tenant_id = %(tenant)s AND at >= %(since)s {of_key}
    ORDER BY at DESC, id DESC LIMIT %(limit)s
) AS last
"""
_OF_KEY = "AND api_key_id = %(key)s"


class StatusClass(OpenChoices):
    """A class of HTTP statuses, as a filter."""

    OK = "ok", gettext_lazy("Successful (2xx)")
    ERRORS = "errors", gettext_lazy("Errors (4xx and 5xx)")
    REFUSED = "refused", gettext_lazy("Client errors (4xx)")
    LIMITED = "limited", gettext_lazy("Rate limited (429)")
    FAULT = "fault", gettext_lazy("Server errors (5xx)")


_ANSWERED: dict[str, Q] = {
    StatusClass.OK: Q(status__lt=400),
    StatusClass.ERRORS: Q(status__gte=400),
    StatusClass.REFUSED: Q(status__gte=400, status__lt=500),
    StatusClass.LIMITED: Q(status=429),
    StatusClass.FAULT: Q(status__gte=500),
}


@dataclass(frozen=True, slots=True)
class CallFilters:
    """Filters of calls; empty parts do not filter.

    `begins` is how a path begins (with a slash), or the id of a request or of a user; a
    whole id finds any path that names it. `slower_ms` and `since` are included.
    """

    key_id: UUID | None = None
    begins: str = ""
    answered: str = ""
    method: str = ""
    slower_ms: int | None = None
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class CallPage:
    """A page of calls, newest first; `after` is where older ones begin.

    In another order, `after` is where all of them begin, and the next `next_offset`.
    """

    calls: Sequence[ApiCall]
    after: tuple[datetime, int] | None
    next_offset: int | None = None


@dataclass(frozen=True, slots=True)
class CallSums:
    """Statistics of recent calls; the times are None without calls."""

    number: int
    refused: int
    faults: int
    median_ms: int | None
    p95_ms: int | None


@dataclass(frozen=True, slots=True)
class HourOfCalls:
    """The calls of an hour, by how they were answered."""

    fine: int = 0
    refused: int = 0
    faults: int = 0


def list_api_calls(
    *,
    tenant: Tenant,
    filters: CallFilters,
    before: tuple[datetime, int] | None = None,
    limit: int,
    order_by: str = "",
    offset: int = 0,
) -> CallPage:
    """Return a page of an environment's calls: one query, two if `order_by` is given.

    `order_by` is a path of ApiCall, with a minus for downwards, and `offset` how many
    of that order are skipped: of those before `before`, so that what is new since moves
    none from one page to another.
    """
    calls = _filter_calls(tenant, filters)
    if before:
        at, pk = before
        # The first condition is what the index can begin at.
        calls = calls.filter(at__lte=at).filter(Q(at__lt=at) | Q(at=at, pk__lt=pk))
    newest = ("-at", "-pk")
    if order_by and before is None:
        first = calls.order_by(*newest).values_list("at", "pk").first()
        before = (first[0], first[1] + 1) if first else None
        calls = calls.filter(at__lte=first[0]) if first else calls
    calls = sort_as_asked(calls.order_by(*newest), order_by=order_by, newest=newest)
    skipped = offset if order_by else 0
    found = list(calls[skipped : skipped + limit + 1])
    page = found[:limit]
    more = len(found) > limit
    if order_by:
        return CallPage(page, before if more else None, skipped + limit)
    return CallPage(page, (page[-1].at, page[-1].pk) if more else None)


def find_api_call(*, tenant: Tenant, pk: int) -> ApiCall | None:
    """Return one call of an environment."""
    call: ApiCall | None = ApiCall.objects.for_tenant(tenant).filter(pk=pk).first()
    return call


def count_matching_api_calls(*, tenant: Tenant, filters: CallFilters) -> int:
    """Count matching calls; COUNTED_UP_TO + 1 stands for more."""
    return _filter_calls(tenant, filters).order_by()[: COUNTED_UP_TO + 1].count()


def summarize_recent_api_calls(
    *, tenant: Tenant, key_id: UUID | None = None, at: datetime
) -> CallSums:
    """Summarize the last JUDGED_CALLS calls within JUDGED_SPAN, of one key or all."""
    ((number, refused, faults, median, p95),) = rows.fetch_rows(
        _SUMS.format(of_key=_OF_KEY if key_id else ""),
        {
            "tenant": tenant.pk,
            "key": key_id,
            "since": at - JUDGED_SPAN,
            "limit": JUDGED_CALLS,
        },
    )
    return CallSums(number, refused, faults, median, p95)


def count_api_calls_by_hour(
    *, tenant: Tenant, keys: Iterable[UUID], at: datetime
) -> Sequence[HourOfCalls]:
    """Count the calls of these keys in each of DRAWN_HOURS, oldest first.

    The last is the hour that `at` is in. One query.
    """
    found = rows.fetch_rows(
        _HOURS,
        {
            "tenant": tenant.pk,
            "keys": list(keys),
            "hour": at.replace(minute=0, second=0, microsecond=0),
            "span": timedelta(hours=DRAWN_HOURS),
        },
    )
    hours = [HourOfCalls()] * DRAWN_HOURS
    for ago, calls, refused, faults in found:
        hours[DRAWN_HOURS - 1 - ago] = HourOfCalls(
            int(calls - refused - faults), int(refused), int(faults)
        )
    return hours


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


def _filter_calls(tenant: Tenant, filters: CallFilters) -> QuerySet[ApiCall]:
    calls: QuerySet[ApiCall] = ApiCall.objects.for_tenant(tenant)
    if filters.key_id:
        calls = calls.filter(api_key=filters.key_id)
    if filters.begins:
        calls = calls.filter(_filter_by_prefix(filters.begins))
    if filters.answered in _ANSWERED:
        calls = calls.filter(_ANSWERED[filters.answered])
    if filters.method:
        calls = calls.filter(method=filters.method)
    if filters.slower_ms:
        calls = calls.filter(ms__gte=filters.slower_ms)
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
