"""Reads of orders and their transactions."""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, prefetch_related_objects
from django.utils import timezone
from django.utils.translation import gettext as _

from labs.models import (
    Appointment,
    LabTest,
    LabTestVersion,
    MarkerVersion,
    Order,
    OrderEvent,
    OrderTransaction,
)
from labs.models.catalogue_version import PlacedTest, build_placed_test
from labs.queries.orders.order_counts import fetch_order_counts
from labs.queries.physicians import practising_physicians
from labs.states.appointments import AppointmentStatus
from labs.states.orders import ORDER_STATUSES, Interpretation, split_order_status
from portal.lib.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from django.db.models import Model

    from accounts.models import Tenant
    from labs.models.order import OrderQuerySet

# All that Order.placed reads.
_CONTENT_OF_TEST = ("markers__versions", "versions__markers__versions")
PLACED_TEST = tuple(f"lab_test__{each}" for each in _CONTENT_OF_TEST)
# What build_order reads of the other orders of a transaction.
_READ_OF_SIBLINGS = (
    *("tenant_id", "transaction_id", "status", "origin", "parent_id"),
    *("created_at", "updated_at"),
)
_SORTS = {
    "created_at": "created_at",
    "patient_name": "patient_name",
    "last_status": "status",
}
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
    return (
        _live_orders_with_visit(tenant)
        .select_related(
            *("user", "lab", "lab_test__lab", "lab_account", "shipment", "transaction")
        )
        .prefetch_related("events", *PLACED_TEST, "transaction__orders__events")
    )


def _live_orders_with_visit(tenant: Tenant) -> OrderQuerySet:
    appointments = Appointment.objects.for_tenant(tenant).filter(order=OuterRef("pk"))
    appointment = appointments.exclude(status=AppointmentStatus.CANCELLED).order_by(
        "-created_at"
    )
    rows: OrderQuerySet = (
        Order.objects.for_tenant(tenant)
        .live()
        .annotate(visit_id=appointment.values("pk")[:1])
    )
    return rows


def _list_orders_with_details(
    *, tenant: Tenant, ids: Sequence[UUID]
) -> dict[UUID, Order]:
    """Load orders as orders_with_details does, for build_order alone.

    A page has few labs and tests: each is loaded once. What belongs to an order is put
    to it here, as Django would make a query for each to hold it. What most orders lack
    is asked for only where there is any: each query costs as much as several orders.
    """
    again = Order.objects.for_tenant(tenant).filter(transaction=OuterRef("transaction"))
    rows = (
        _live_orders_with_visit(tenant)
        .select_related("user", "shipment")
        .annotate(has_siblings=Exists(again.exclude(pk=OuterRef("pk"))))
    )
    found = {order.pk: order for order in rows.filter(pk__in=ids)}
    siblings: dict[UUID, list[Order]] = defaultdict(list)
    for order in found.values():
        siblings[order.transaction_id].append(order)
    shared = {o.transaction_id for o in found.values() if vars(o)["has_siblings"]}
    if shared:
        others = Order.objects.for_tenant(tenant).exclude(pk__in=found)
        for each in others.filter(transaction__in=shared).only(*_READ_OF_SIBLINGS):
            siblings[each.transaction_id].append(each)
    everyone = {each.pk: each for own in siblings.values() for each in own}
    events: dict[UUID, list[OrderEvent]] = {key: [] for key in everyone}
    for event in OrderEvent.objects.for_tenant(tenant).filter(order__in=everyone):
        events[event.order_id].append(event)
    for key, order in everyone.items():
        _hold(order, "events", events[key])
    tests = _load_tests(tenant, {order.lab_test_id for order in found.values()})
    transactions: dict[UUID, OrderTransaction] = {}
    for key, own in siblings.items():
        transactions[key] = OrderTransaction(pk=key, tenant=tenant)
        _hold(transactions[key], "orders", own)
    for order in found.values():
        order.lab_test, placed = tests[order.lab_test_id]
        order.lab = order.lab_test.lab
        if placed:
            vars(order)["placed"] = placed
        order.transaction = transactions[order.transaction_id]
    return found


def _load_tests(
    tenant: Tenant, ids: Collection[UUID]
) -> dict[UUID, tuple[LabTest, PlacedTest | None]]:
    """Load tests with labs; with it what all orders of a test were placed with.

    That is None where a test or a marker has changed since some order may have been.
    """
    found = LabTest.objects.for_tenant(tenant).filter(pk__in=ids).select_related("lab")
    links = LabTest.markers.through.objects.filter(labtest=OuterRef(OuterRef("pk")))
    tests = found.annotate(
        has_changed=Exists(
            LabTestVersion.objects.for_tenant(tenant).filter(lab_test=OuterRef("pk"))
        ),
        has_changed_markers=Exists(
            MarkerVersion.objects.filter(marker__in=links.values("marker"))
        ),
    )
    loaded = list(tests)
    if any(test.has_changed or test.has_changed_markers for test in loaded):
        prefetch_related_objects(loaded, *_CONTENT_OF_TEST)
        return {test.pk: (test, None) for test in loaded}
    prefetch_related_objects(loaded, "markers")
    now = timezone.now()
    for test in loaded:
        for each in (test, *test.markers.all()):
            _hold(each, "versions", [])
    return {test.pk: (test, build_placed_test(panel=test, at=now)) for test in loaded}


def _hold(owner: Model, name: str, rows: Sequence[Any]) -> None:
    """Let an owner give these rows as if prefetched; a list can't be filtered."""
    vars(owner).setdefault("_prefetched_objects_cache", {})[name] = rows


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
    matching = filter_orders(tenant=tenant, filters=filters)
    sign = "-" if filters.descending else ""
    sort = _SORTS.get(filters.sort, "created_at")
    ids = list(
        matching.order_by(f"{sign}{sort}", f"{sign}pk").values_list("pk", flat=True)[
            (page - 1) * size : page * size
        ]
    )
    # Ids first: the joins of a whole page cost less than those of all that is skipped.
    found = _list_orders_with_details(tenant=tenant, ids=ids)
    orders = [found[pk] for pk in ids if pk in found]
    for order in orders:
        order.tenant = tenant
    if len(ids) < size and (ids or page == 1):
        total = (page - 1) * size + len(ids)
    elif replace(filters, **_KNOWN_BY_COUNTS) == OrderFilters():
        total = _sum_counts(tenant, filters)
    else:
        total = matching.count()
    return OrderPage(orders, total)


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
