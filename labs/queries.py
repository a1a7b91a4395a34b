"""Reads of lab testing that cross tables.

Must not be here: any write, or the audit of a read (the edge that asks records it).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from labs.models import ExpectedResult, LabAccount, LabTest, Marker, Order
from labs.states.catalogue import Generation
from labs.states.orders import ORDER_STATUSES, Interpretation, split_status
from portal.lib.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from django.db.models import QuerySet

    from accounts.models import Tenant
    from labs.models import Lab
    from labs.models.catalogue import LabTestQuerySet
    from labs.models.order import OrderQuerySet

_SORTS = {
    "created_at": "created_at",
    "patient_name": "patient_name",
    "last_status": "status",
}


@dataclass(frozen=True, slots=True)
class OrderFilters:
    """Which orders a list shows (contract 6.8); empty values filter nothing.

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
    """One page of orders and how many there are in all."""

    orders: list[Order]
    total: int


@dataclass(frozen=True, slots=True)
class MarkerFilters:
    """Which markers a list shows (contract 6.2); empty values filter nothing.

    `lab` is that of a chosen account; `text` is part of the name or the lab's code,
    or, `by_loinc`, the LOINC code of a result.
    """

    lab: Lab | None = None
    lab_slug: str | None = None
    lab_ids: tuple[int, ...] = ()
    text: str = ""
    by_loinc: bool = False
    is_a_la_carte: bool | None = None
    marker_ids: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class MarkerPage:
    """One page of markers and how many there are in all."""

    markers: list[Marker]
    total: int


@dataclass(frozen=True, slots=True)
class LabTestFilters:
    """Which panels a list shows (contract 6.3); empty values filter nothing.

    A panel holds all of `marker_ids` and all of `provider_ids`. `lab` is that of a
    chosen account; `generation` empty means both. `sort` is a column.
    """

    lab: Lab | None = None
    lab_slug: str | None = None
    method: str = ""
    status: str = ""
    generation: str = Generation.MANUAL
    marker_ids: tuple[int, ...] = ()
    provider_ids: tuple[str, ...] = ()
    name: str = ""
    sort: str = "created_at"
    descending: bool = False


@dataclass(frozen=True, slots=True)
class LabTestPlace:
    """The panel that a page ended with: its value of the sorting column, and its id."""

    value: Any
    panel_id: UUID


def linked_account(*, tenant: Tenant, account_id: UUID) -> LabAccount:
    """A lab account that the tenant may use, its lab loaded.

    Raises: lab_account_not_found (404), also for one that is not linked.
    """
    rows = LabAccount.objects.linked_to(tenant).select_related("lab")
    found = rows.filter(pk=account_id).first()
    if found is None:
        raise NotFound(
            "lab_account_not_found", "Lab account not found.", "lab_account_id"
        )
    return found


def linked_accounts(
    *, tenant: Tenant, account_id: UUID | None = None, status: str = ""
) -> list[LabAccount]:
    """Lab accounts that the tenant may use, their lab and links loaded."""
    rows = LabAccount.objects.linked_to(tenant)
    if account_id is not None:
        rows = rows.filter(pk=account_id)
    if status:
        rows = rows.filter(status=status)
    return _with_links(rows)


def organisation_accounts(
    *, tenant: Tenant, account_id: UUID | None = None
) -> list[LabAccount]:
    """Lab accounts of the tenant's organisation, their lab and links loaded."""
    rows = LabAccount.objects.of_organisation(tenant)
    return _with_links(rows.filter(pk=account_id) if account_id else rows)


def find_markers(
    *, filters: MarkerFilters, page: int = 1, size: int = 50
) -> MarkerPage:
    """A page of markers by id with their results, pages from 1."""
    rows = Marker.objects.order_by("pk")
    if filters.lab is not None:
        rows = rows.filter(lab=filters.lab)
    if filters.lab_slug is not None:
        # Contract 6.2: the slug beats the ids.
        rows = rows.filter(lab__slug=filters.lab_slug)
    elif filters.lab_ids:
        rows = rows.filter(lab_id__in=filters.lab_ids)
    if filters.text:
        part = Q(name__icontains=filters.text)
        part |= Q(provider_id__icontains=filters.text)
        if filters.by_loinc:
            results = ExpectedResult.objects.filter(loinc_code=filters.text)
            part |= Q(pk__in=results.values("marker_id"))
        rows = rows.filter(part)
    if filters.is_a_la_carte is not None:
        rows = rows.filter(a_la_carte_enabled=filters.is_a_la_carte)
    if filters.marker_ids is not None:
        rows = rows.filter(pk__in=filters.marker_ids)
    first = (page - 1) * size
    shown = rows.select_related("lab").prefetch_related("expected_results")
    return MarkerPage(list(shown[first : first + size]), rows.count())


def find_marker(*, lab_id: int, provider_id: str, lab: Lab | None = None) -> Marker:
    """The marker of a lab by its code there. Raises: marker_not_found (404)."""
    rows = Marker.objects.filter(lab_id=lab_id, provider_id=provider_id)
    found = rows.first() if lab is None else rows.filter(lab=lab).first()
    if found is None:
        raise NotFound("marker_not_found", "Marker not found.")
    return found


def full_lab_tests(*, tenant: Tenant) -> LabTestQuerySet:
    """Panels with all their payload shows, by a constant number of queries."""
    rows: LabTestQuerySet = LabTest.objects.for_tenant(tenant)
    return rows.select_related("lab").prefetch_related("markers")


def full_lab_test(
    *, tenant: Tenant, lab_test_id: UUID, lab: Lab | None = None
) -> LabTest:
    """One panel, of `lab` where one is given. Raises: lab_test_not_found (404)."""
    rows = full_lab_tests(tenant=tenant).filter(pk=lab_test_id)
    found: LabTest | None = (rows if lab is None else rows.filter(lab=lab)).first()
    if found is None:
        raise NotFound("lab_test_not_found", "Lab test not found.")
    return found


def find_lab_tests(
    *,
    tenant: Tenant,
    filters: LabTestFilters,
    after: LabTestPlace | None = None,
    limit: int | None = None,
) -> list[LabTest]:
    """Panels that match, from the one that follows `after`; all without a limit."""
    exact: dict[str, Any] = {
        "lab": filters.lab,
        "lab__slug": filters.lab_slug,
        "method": filters.method or None,
        "status": filters.status or None,
        "generation": filters.generation or None,
        "name__icontains": filters.name or None,
    }
    rows = full_lab_tests(tenant=tenant).filter(
        **{name: value for name, value in exact.items() if value is not None}
    )
    # One condition each: a panel holds all of them.
    for marker_id in dict.fromkeys(filters.marker_ids):
        rows = rows.filter(markers=marker_id)
    for code in dict.fromkeys(filters.provider_ids):
        rows = rows.filter(markers__provider_id=code)
    sign, beyond = ("-", "lt") if filters.descending else ("", "gt")
    if after is not None:
        further = Q(**{f"{filters.sort}__{beyond}": after.value})
        beside = Q(**{filters.sort: after.value, f"pk__{beyond}": after.panel_id})
        rows = rows.filter(further | beside)
    rows = rows.order_by(f"{sign}{filters.sort}", f"{sign}pk")
    return list(rows if limit is None else rows[:limit])


def full_orders(*, tenant: Tenant) -> OrderQuerySet:
    """Live orders with all their payload shows, by a constant number of queries."""
    rows: OrderQuerySet = Order.objects.for_tenant(tenant).live()
    return rows.select_related(
        "user", "lab", "lab_test__lab", "lab_account", "shipment", "transaction"
    ).prefetch_related("events", "lab_test__markers", "transaction__orders__events")


def full_order(*, tenant: Tenant, order_id: UUID) -> Order:
    """One order with all that its payload shows. Raises: order_not_found (404)."""
    found = full_orders(tenant=tenant).filter(pk=order_id).first()
    if found is None:
        raise NotFound("order_not_found", "Order not found.")
    found.tenant = tenant
    return found


def find_orders(
    *, tenant: Tenant, filters: OrderFilters, page: int = 1, size: int = 50
) -> OrderPage:
    """A page of orders, pages from 1; one beyond the end is empty."""
    wanted = matching_orders(tenant=tenant, filters=filters)
    sign = "-" if filters.descending else ""
    sort = _SORTS.get(filters.sort, "created_at")
    ids = list(
        wanted.order_by(f"{sign}{sort}", f"{sign}pk").values_list("pk", flat=True)[
            (page - 1) * size : page * size
        ]
    )
    # Ids first: the joins of a whole page cost less than those of all that is skipped.
    found = {order.pk: order for order in full_orders(tenant=tenant).filter(pk__in=ids)}
    orders = [found[pk] for pk in ids if pk in found]
    for order in orders:
        order.tenant = tenant
    return OrderPage(orders, wanted.count())


def matching_orders(*, tenant: Tenant, filters: OrderFilters) -> OrderQuerySet:
    """Live orders that match, in no order, nothing loaded beside them."""
    rows: OrderQuerySet = Order.objects.for_tenant(tenant).live()
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
        rows = rows.filter(status__in=_full_statuses(filters.low_statuses))
    if filters.is_critical is not None:
        critical = Q(interpretation=Interpretation.CRITICAL)
        rows = rows.filter(critical if filters.is_critical else ~critical)
    if len(filters.activation) == 1:
        later = Q(activate_by__gt=timezone.now().date())
        rows = rows.filter(later if "scheduled" in filters.activation else ~later)
    if filters.search:
        rows = rows.filter(_search(filters.search))
    return rows


def full_transaction(*, tenant: Tenant, transaction_id: UUID) -> list[Order]:
    """The orders of a transaction, first to last, with their events.

    Raises: order_transaction_not_found (404).
    """
    rows: OrderQuerySet = Order.objects.for_tenant(tenant).live()
    orders = list(
        rows.filter(transaction_id=transaction_id)
        .prefetch_related("events")
        .order_by("created_at", "pk")
    )
    if not orders:
        raise NotFound("order_transaction_not_found", "Order transaction not found.")
    return orders


def ordering_physicians(*, tenant: Tenant) -> list[dict[str, str]]:
    """Each physician that the tenant's orders named, once, by name (contract 6.5)."""
    named = (
        Order.objects.for_tenant(tenant)
        .filter(physician__isnull=False)
        .values_list("physician__last_name", "physician__first_name", "physician__npi")
        .distinct()
    )
    return [
        {"first_name": first, "last_name": last, "npi": npi}
        for last, first, npi in sorted(named)
    ]


def _with_links(rows: QuerySet[LabAccount]) -> list[LabAccount]:
    full = rows.select_related("lab").prefetch_related("team_links__team")
    return list(full.order_by("lab__name", "created_at", "pk"))


def _full_statuses(lows: Sequence[str]) -> list[str]:
    return [status for status in ORDER_STATUSES if split_status(status).low in lows]


def _search(text: str) -> Q:
    """An order's or a user's whole id, a birth date, or part of a name."""
    try:
        wanted = UUID(text)
    except ValueError:
        pass
    else:
        return Q(pk=wanted) | Q(user__uuid=wanted)
    try:
        return Q(patient_dob=date.fromisoformat(text))
    except ValueError:
        return Q(patient_name__icontains=text) | Q(recipient_name__icontains=text)
