"""Reads of the dashboard's lists of orders: pages, tabs, needed attention.

Patient details are read only where the caller asks for them.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Exists, OuterRef, Q
from django.db.models.functions import TruncDate

from labs.models import Order
from labs.queries.catalogue import find_lab_by_slug
from labs.queries.orders.attention import (
    COUNTED_UP_TO,
    count_orders_needing_attention,
    list_ids_needing_attention,
    list_parts_needing_attention,
    unacknowledged_alerts,
)
from labs.queries.orders.order_counts import fetch_order_counts
from labs.queries.orders.order_sorts import (
    list_few_ids,
    list_ids_by_index,
    list_ids_of_newest,
)
from labs.states.catalogue import CollectionMethod
from labs.states.order_queues import IN_STATE, WorkState, get_order_stage
from labs.states.orders import split_order_status
from portal.lib.database import rows
from users.queries.numbers import find_records_by_number
from users.queries.users.by_part import (
    find_users_by_part_of_id,
    list_keys_by_part_of_id,
)
from users.states import NumberedKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date, datetime
    from uuid import UUID

    from accounts.models import Tenant
    from labs.models.order import OrderQuerySet

NO_RESULT = "none"
NEWEST_FIRST = "-created_at"
# Orders of more users than this are found by a join, not by the users' keys.
_FEW_USERS = 500
_SHOWN = (
    "id",
    "status",
    "method",
    "origin",
    "priority",
    "sample_id",
    "interpretation",
    "activate_by",
    "account_reason",
    "due_by",
    "worst_case_due_by",
    "moved_from",
    "created_at",
    "updated_at",
    "tenant_id",
    "user__uuid",
    "user__client_user_id",
    "lab__name",
    "lab_test__name",
    "lab_account__account_name",
    "lab_account__provider_account_id",
)
_PATIENT = ("patient_name", "patient_dob")


@dataclass(frozen=True, slots=True)
class ListFilters:
    """Filters of a dashboard list of orders; empty values filter nothing.

    `stage` is a Stage, `status` the last part of one. `result` is an interpretation or
    NO_RESULT. `created_from` is included, `created_until` is not. `text` is in an ID of
    the order or its user, or in a number of a sample, lab or visit. `order_by` is a
    path of Order, with a minus for downwards. By the time of creation all are sorted;
    by status too where nothing but a status is filtered by, and by user where nothing
    is. Else the newest SORTED_UP_TO are sorted.
    """

    work: WorkState = WorkState.ALL
    stage: str = ""
    status: str = ""
    method: str = ""
    lab: str = ""
    account_id: UUID | None = None
    on_platform: bool = False
    result: str = ""
    created_from: datetime | None = None
    created_until: datetime | None = None
    user_uuid: UUID | None = None
    text: str = ""
    order_by: str = NEWEST_FIRST


@dataclass(frozen=True, slots=True)
class ListedOrders:
    """Part of a list. `total` is exact up to COUNTED_UP_TO; `is_exact` says so.

    `is_sort_cut` is whether only the newest were sorted.
    """

    orders: list[Order]
    total: int
    is_exact: bool
    is_sort_cut: bool = False


def count_orders_per_status(*, tenant: Tenant) -> dict[str, int]:
    """Return the number of live orders in each status; one query.

    A status that only deleted users' orders have may be among them, with 0.
    """
    numbers: dict[str, int] = defaultdict(int)
    for kind, number in fetch_order_counts(tenant=tenant).items():
        numbers[kind.status] += number
    return dict(numbers)


def list_orders(
    *,
    tenant: Tenant,
    filters: ListFilters,
    per_status: Mapping[str, int] = MappingProxyType({}),
    offset: int = 0,
    limit: int = 50,
    with_patients: bool = False,
) -> ListedOrders:
    """List a part of the orders; `per_status` is what count_orders_per_status returns.

    It is needed by filters of status, and else saves counting. At most three queries,
    and those of both searches by number where `text` is given.
    """
    parts = _matching_parts(tenant, filters, per_status)
    if not parts:
        return ListedOrders([], 0, is_exact=True)
    numbers = _find_known_numbers(filters, per_status)
    few = list_few_ids(parts, filters.order_by) if filters.text else None
    ids = (
        few[offset : offset + limit]
        if few is not None
        else list_ids_by_index(
            tenant,
            parts,
            filters.order_by,
            numbers=numbers,
            is_whole=filters == ListFilters(order_by=filters.order_by),
            offset=offset,
            limit=limit,
        )
    )
    is_sort_cut = ids is None
    if ids is None:
        ids = list_ids_of_newest(tenant, parts, filters.order_by, offset, limit)
    if few is not None:
        total = len(few)
    elif len(ids) < limit and (ids or not offset):
        total = offset + len(ids)  # counting would walk all that was walked just now
    elif numbers is not None:
        total = sum(numbers.values())
    elif filters == ListFilters(work=WorkState.ATTENTION, order_by=filters.order_by):
        total = count_orders_needing_attention(tenant=tenant)
    else:
        total = _count_parts(parts)
    is_exact = total <= COUNTED_UP_TO
    return ListedOrders(
        orders=_load_listed_orders(tenant, ids, with_patients=with_patients),
        total=min(total, COUNTED_UP_TO),
        is_exact=is_exact,
        is_sort_cut=is_sort_cut and not is_exact,
    )


def list_orders_by_id(*, tenant: Tenant, ids: Sequence[UUID]) -> list[Order]:
    """List those of these orders that are the tenant's, newest first; two queries."""
    orders = (
        _live_orders(tenant)
        .filter(pk__in=ids)
        .select_related("user", "lab", "lab_account", "lab_test")
        .prefetch_related("events")
        .order_by("-created_at", "-pk")
    )
    found = list(orders)
    for order in found:
        order.tenant = tenant
    return found


def list_orders_needing_attention(*, tenant: Tenant, limit: int) -> list[Order]:
    """List orders needing attention: unacknowledged first, then last changed.

    At most two queries.
    """
    ids = list_ids_needing_attention(tenant=tenant, limit=limit)
    return _load_listed_orders(tenant, ids, with_patients=False)


def count_orders_per_user(
    *, tenant: Tenant, user_keys: Sequence[int]
) -> dict[int, int]:
    """Count the orders of each user by user key; users without any are absent.

    One query, by the index on users.
    """
    return dict(
        rows.fetch_rows(
            "SELECT user_id, count(*) FROM labs_order"
            " WHERE tenant_id = %s AND user_id = ANY(%s) GROUP BY user_id",
            [tenant.pk, list(user_keys)],
        )
    )


def count_orders_per_day(*, tenant: Tenant, since: datetime) -> dict[date, int]:
    """Count orders placed on each UTC day that has any, by the index alone.

    Those of users deleted since are counted too: it was a busy day all the same.
    """
    placed = Order.objects.for_tenant(tenant).filter(created_at__gte=since)
    by_day = placed.values_list(TruncDate("created_at", tzinfo=UTC))
    return dict(by_day.annotate(Count("created_at")).order_by())


def find_orders_by_id(*, tenant: Tenant, text: str, limit: int) -> list[Order]:
    """Return orders with `text` in one of their numbers; see find_records_by_number."""
    ids = find_records_by_number(
        tenant=tenant, kind=NumberedKind.ORDER, text=text, limit=limit
    )
    return _load_listed_orders(tenant, ids, with_patients=False)


def _live_orders(tenant: Tenant) -> OrderQuerySet:
    found: OrderQuerySet = Order.objects.for_tenant(tenant).live_among_many()
    return found


def _load_listed_orders(
    tenant: Tenant, ids: list[UUID], *, with_patients: bool
) -> list[Order]:
    """Load orders by id, in order, with the columns lists show."""
    if not ids:
        return []
    columns = (*_SHOWN, *(_PATIENT if with_patients else ()))
    alerts = unacknowledged_alerts(tenant).filter(order=OuterRef("pk"))
    full = Order.objects.for_tenant(tenant).select_related(
        "user", "lab", "lab_test", "lab_account"
    )
    full = full.annotate(has_open_alert=Exists(alerts))
    found = {order.pk: order for order in full.only(*columns).filter(pk__in=ids)}
    return [found[pk] for pk in ids if pk in found]


def _count_parts(parts: list[OrderQuerySet]) -> int:
    """Count the orders of all parts together, up to COUNTED_UP_TO + 1."""
    first, *others = (
        part.order_by().values_list("id", flat=True)[: COUNTED_UP_TO + 1]
        for part in parts
    )
    number = (first.union(*others) if others else first).count()
    return min(number, COUNTED_UP_TO + 1)


def _find_known_numbers(
    filters: ListFilters, per_status: Mapping[str, int]
) -> Mapping[str, int] | None:
    """Return the matching orders per status where no more than that is filtered by."""
    of_status = ListFilters(
        work=filters.work,
        stage=filters.stage,
        status=filters.status,
        method=filters.method,
        order_by=filters.order_by,
    )
    if not per_status or filters != of_status or filters.work == WorkState.ATTENTION:
        return None
    fitting = [each for each in per_status if _status_fits_filters(each, filters)]
    if filters.method and not all(map(_filter_names_method, fitting)):
        return None
    return {each: per_status[each] for each in fitting}


def _matching_parts(
    tenant: Tenant, filters: ListFilters, statuses: Iterable[str]
) -> list[OrderQuerySet]:
    """Return matching live orders in parts; no parts where none can match."""
    is_attention = filters.work == WorkState.ATTENTION
    parts = (
        list_parts_needing_attention(tenant) if is_attention else [_live_orders(tenant)]
    )
    conditions = [
        _status_condition(filters, statuses),
        _search_condition(tenant, filters.text),
    ]
    if None in conditions:
        return []
    exact: dict[str, Any] = {
        "lab_id": _find_lab_key(tenant, filters.lab) if filters.lab else None,
        "lab_account_id": filters.account_id,
        "lab_account__isnull": True if filters.on_platform else None,
        "created_at__gte": filters.created_from,
        "created_at__lt": filters.created_until,
        "user__uuid": filters.user_uuid,
    }
    conditions.append(Q(**{name: v for name, v in exact.items() if v is not None}))
    if filters.result:
        value = "" if filters.result == NO_RESULT else filters.result
        conditions.append(Q(interpretation=value))
    return [part.filter(*conditions) for part in parts]


def _status_condition(filters: ListFilters, statuses: Iterable[str]) -> Q | None:
    """Return the condition on the status; None where no order can match."""
    narrowed = filters.status or filters.stage or filters.method
    if filters.work not in IN_STATE and not narrowed:
        return Q()
    fitting = [status for status in statuses if _status_fits_filters(status, filters)]
    if not fitting:
        return None
    condition = Q(status__in=fitting)
    # An unknown status may not contain a method.
    if filters.method and not all(map(_filter_names_method, fitting)):
        condition &= Q(method=filters.method)
    return condition


def _status_fits_filters(status: str, filters: ListFilters) -> bool:
    _, method, low = split_order_status(status)
    is_other = filters.method != method and _filter_names_method(status)
    return (
        (filters.work not in IN_STATE or IN_STATE[filters.work](status))
        and (not filters.status or filters.status == low)
        and (not filters.stage or filters.stage == get_order_stage(status))
        and not (filters.method and is_other)
    )


def _filter_names_method(status: str) -> bool:
    return CollectionMethod.known(split_order_status(status).method) is not None


def _find_lab_key(tenant: Tenant, slug: str) -> int:
    """Return the lab's key: a join would look up the slug of each order's lab."""
    found = find_lab_by_slug(tenant=tenant, slug=slug)
    return found.pk if found else 0


def _search_condition(tenant: Tenant, text: str) -> Q | None:
    """Return the condition of a search by ids; None where nothing can match."""
    if not text:
        return Q()
    if "\0" in text:  # PostgreSQL takes no text with it
        return None
    users = find_users_by_part_of_id(
        tenant=tenant, text=text, limit=_FEW_USERS + 1
    ).users
    if len(users) > _FEW_USERS:
        return Q(user_id__in=list_keys_by_part_of_id(tenant=tenant, text=text))
    numbered = find_records_by_number(
        tenant=tenant, kind=NumberedKind.ORDER, text=text, limit=_FEW_USERS
    )
    return Q(pk__in=numbered) | Q(user_id__in=[user.id for user in users])
