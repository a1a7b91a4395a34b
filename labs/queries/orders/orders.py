"""Reads of orders and their transactions."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import OuterRef, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from labs.models import Appointment, Order
from labs.queries.orders.listed_orders import CONTENT_OF_TEST, load_listed_orders
from labs.queries.orders.order_counts import fetch_order_counts
from labs.queries.physicians import practising_physicians
from labs.states.appointments import AppointmentStatus
from labs.states.orders import ORDER_STATUSES, Interpretation, split_order_status
from portal.lib.database.rows import fetch_rows
from portal.lib.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from accounts.models import Tenant
    from labs.models.order import OrderQuerySet

PLACED_TEST = tuple(f"lab_test__{each}" for each in CONTENT_OF_TEST)
_SORTS = {
    "created_at": "created_at",
    "patient_name": "patient_name",
    "last_status": "status",
}
# The call without filters is by far the most frequent, and the ORM builds its query
# anew each time, at a millisecond.
_NEWEST = """
    SELECT id FROM labs_order WHERE tenant_id = %(tenant)s
        AND NOT (user_id IN (SELECT id FROM users_user
            WHERE tenant_id = %(tenant)s AND deleted_at IS NOT NULL))
    ORDER BY created_at DESC, id DESC LIMIT %(limit)s OFFSET %(offset)s
"""
# Filters that say nothing more than how OrderCount counts.
_KNOWN_BY_COUNTS: dict[str, Any] = {
    "low_statuses": (),
    "methods": (),
    "sort": "created_at",
    "descending": True,
}


@dataclass(frozen=True, slots=True)
class OrderFilters:
    """Filters of orders (contract 6.8); empty values filter nothing.

    Instants are included at both ends. `activation` holds `current`, `scheduled` or
    both.
    """

    search: str = ""
    created_from: datetime | None = None
    created_until: datetime | None = None
    updated_from: datetime | None = None
    updated_until: datetime | None = None
    low_statuses: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    activation: frozenset[str] = frozenset()
    interpretation: str = ""
    is_critical: bool | None = None
    user_uuid: UUID | None = None
    transaction_id: UUID | None = None
    order_ids: tuple[UUID, ...] = ()
    patient_name: str = ""
    recipient_name: str = ""
    sort: str = "created_at"
    descending: bool = True


@dataclass(frozen=True, slots=True)
class OrderPage:
    """One page of orders and the total number."""

    orders: list[Order]
    total: int


def count_orders_of_live_users(*, tenant: Tenant) -> int:
    """Return the number of orders of a tenant's live users."""
    return sum(fetch_order_counts(tenant=tenant).values())


def orders_with_details(*, tenant: Tenant) -> OrderQuerySet:
    """Return live orders with all payload data, by a constant number of queries."""
    appointments = Appointment.objects.for_tenant(tenant).filter(order=OuterRef("pk"))
    appointment = appointments.exclude(status=AppointmentStatus.CANCELLED).order_by(
        "-created_at"
    )
    rows: OrderQuerySet = (
        Order.objects.for_tenant(tenant)
        .live()
        .annotate(visit_id=appointment.values("pk")[:1])
        .select_related(
            *("user", "lab", "lab_test__lab", "lab_account", "shipment", "transaction")
        )
        .prefetch_related("events", *PLACED_TEST, "transaction__orders__events")
    )
    return rows


def get_order_with_details(*, tenant: Tenant, order_id: UUID) -> Order:
    """Return one order with all payload data. Raises: order_not_found (404)."""
    found = orders_with_details(tenant=tenant).filter(pk=order_id).first()
    if found is None:
        raise NotFound("order_not_found", _("Order not found."))
    found.tenant = tenant
    return found


def list_orders_page(
    *, tenant: Tenant, filters: OrderFilters, page: int = 1, size: int = 50
) -> OrderPage:
    """Return a page of orders, pages from 1; one past the end is empty.

    The total of a page that is not full is known by the walk that found it, and where
    only status and method are filtered by it is not counted either.
    """
    ids = _list_ids(tenant, filters, (page - 1) * size, size)
    # Ids first: the joins of a whole page cost less than those of all that is skipped.
    found = load_listed_orders(tenant=tenant, ids=ids)
    orders = [found[pk] for pk in ids if pk in found]
    if len(ids) < size and (ids or page == 1):
        total = (page - 1) * size + len(ids)
    elif replace(filters, **_KNOWN_BY_COUNTS) == OrderFilters():
        total = _sum_counts(tenant, filters)
    else:
        total = filter_orders(tenant=tenant, filters=filters).count()
    return OrderPage(orders, total)


def _list_ids(
    tenant: Tenant, filters: OrderFilters, offset: int, limit: int
) -> list[UUID]:
    """List the IDs of some orders in their order."""
    if filters == OrderFilters():
        inputs = {"tenant": tenant.pk, "offset": offset, "limit": limit}
        return [pk for (pk,) in fetch_rows(_NEWEST, inputs)]
    matching = filter_orders(tenant=tenant, filters=filters)
    sign = "-" if filters.descending else ""
    sort = _SORTS.get(filters.sort, "created_at")
    keys = matching.order_by(f"{sign}{sort}", f"{sign}pk").values_list("pk", flat=True)
    return list(keys[offset : offset + limit])


def _sum_counts(tenant: Tenant, filters: OrderFilters) -> int:
    """Return the number of live orders with the filters' statuses and methods."""
    statuses = _statuses_ending_in(filters.low_statuses)
    return sum(
        number
        for kind, number in fetch_order_counts(tenant=tenant).items()
        if (not filters.low_statuses or kind.status in statuses)
        and (not filters.methods or kind.method in filters.methods)
    )


def filter_orders(*, tenant: Tenant, filters: OrderFilters) -> OrderQuerySet:
    """Return matching live orders, unordered, without related rows."""
    rows: OrderQuerySet = Order.objects.for_tenant(tenant).live_among_many()
    exact: dict[str, Any] = {
        "created_at__gte": filters.created_from,
        "created_at__lte": filters.created_until,
        "updated_at__gte": filters.updated_from,
        "updated_at__lte": filters.updated_until,
        "user__uuid": filters.user_uuid,
        "transaction_id": filters.transaction_id,
        "interpretation": filters.interpretation or None,
        "pk__in": filters.order_ids or None,
        "method__in": filters.methods or None,
        "patient_name__icontains": filters.patient_name or None,
        "recipient_name__icontains": filters.recipient_name or None,
    }
    rows = rows.filter(**{name: v for name, v in exact.items() if v is not None})
    if filters.low_statuses:
        rows = rows.filter(status__in=_statuses_ending_in(filters.low_statuses))
    if filters.is_critical is not None:
        critical = Q(interpretation=Interpretation.CRITICAL)
        rows = rows.filter(critical if filters.is_critical else ~critical)
    if len(filters.activation) == 1:
        later = Q(activate_by__gt=timezone.now().date())
        rows = rows.filter(later if "scheduled" in filters.activation else ~later)
    if filters.search:
        rows = _apply_search(rows, filters.search)
    return rows


def list_orders_of_transaction(*, tenant: Tenant, transaction_id: UUID) -> list[Order]:
    """List a transaction's orders, first to last, with their events.

    Raises: order_transaction_not_found (404).
    """
    rows: OrderQuerySet = Order.objects.for_tenant(tenant).live()
    orders = list(
        rows.filter(transaction_id=transaction_id)
        .select_related("user", "lab", "lab_account")
        .prefetch_related("events")
        .order_by("created_at", "pk")
    )
    if not orders:
        raise NotFound("order_transaction_not_found", _("Order transaction not found."))
    for order in orders:
        order.tenant = tenant
    return orders


def list_ordering_physicians(*, tenant: Tenant) -> list[dict[str, str]]:
    """List each physician of the tenant and of its orders once (contract 6.5)."""
    of_team = practising_physicians(tenant).values_list(
        "last_name", "first_name", "npi"
    )
    named = (
        Order.objects.for_tenant(tenant)
        .filter(physician__isnull=False)
        .values_list("physician__last_name", "physician__first_name", "physician__npi")
        .distinct()
    )
    return [
        {"first_name": first, "last_name": last, "npi": npi}
        for last, first, npi in sorted({*of_team, *named})
    ]


def _statuses_ending_in(lows: Sequence[str]) -> list[str]:
    return [
        status for status in ORDER_STATUSES if split_order_status(status).low in lows
    ]


def _apply_search(rows: OrderQuerySet, text: str) -> OrderQuerySet:
    """Filter by whole order or user id, birth date, or part of a name."""
    with suppress(ValueError):
        return rows.of_id_or_user(UUID(text))
    with suppress(ValueError):
        return rows.filter(patient_dob=date.fromisoformat(text))
    named = Q(patient_name__icontains=text) | Q(recipient_name__icontains=text)
    return rows.filter(named)
