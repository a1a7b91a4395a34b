"""Reads of markers and panels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import F, Q
from django.utils.translation import gettext as _

from labs.models import ExpectedResult, Lab, LabTest, Marker
from labs.states.catalogue import Generation
from portal.lib.database.sorting import build_order
from portal.lib.errors import NotFound

if TYPE_CHECKING:
    from uuid import UUID

    from django.db.models import QuerySet

    from accounts.models import Tenant
    from labs.models.catalogue import LabTestQuerySet


@dataclass(frozen=True, slots=True)
class MarkerFilters:
    """Filters of markers (contract 6.2); empty values filter nothing.

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
    """One page of markers and the total number."""

    markers: list[Marker]
    total: int


@dataclass(frozen=True, slots=True)
class LabTestFilters:
    """Filters of panels (contract 6.3); empty values filter nothing.

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
class LabTestPage:
    """One page of panels and the total number."""

    panels: list[LabTest]
    total: int


@dataclass(frozen=True, slots=True)
class LabTestPlace:
    """The last panel of a page: its sort value and its id."""

    value: Any
    panel_id: UUID


def list_labs(*, tenant: Tenant) -> QuerySet[Lab]:
    """Return the shared labs of the tenant's environment and its own, by name.

    Source: Contract D23.
    """
    return Lab.objects.visible_to(tenant).order_by("name")


def find_lab_by_slug(*, tenant: Tenant, slug: str) -> Lab | None:
    """Return the lab of this slug that the tenant sees, its own first."""
    labs = list_labs(tenant=tenant).filter(slug=slug)
    return labs.order_by(F("owner").asc(nulls_last=True)).first()


def get_lab_by_slug(*, tenant: Tenant, slug: str, field: str = "lab_slug") -> Lab:
    """Return the lab of this slug. Raises: lab_not_found (404, at `field`)."""
    found = find_lab_by_slug(tenant=tenant, slug=slug)
    if found is None:
        raise NotFound("lab_not_found", _("Lab not found."), field)
    return found


def list_markers_page(
    *,
    tenant: Tenant,
    filters: MarkerFilters,
    page: int = 1,
    size: int = 50,
    order_by: str = "",
) -> MarkerPage:
    """Return a page of markers by id or `order_by` with their results, pages from 1.

    Retired markers are listed by their ids alone.
    """
    rows = Marker.objects.visible_to(tenant).order_by("pk")
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
    if filters.marker_ids is None:
        rows = rows.filter(retired_at=None)
    else:
        rows = rows.filter(pk__in=filters.marker_ids)
    first = (page - 1) * size
    shown = rows.select_related("lab").prefetch_related("expected_results")
    if order_by:
        shown = shown.order_by(build_order(order_by), "pk")
    return MarkerPage(list(shown[first : first + size]), rows.count())


def find_names_in_catalogue(
    *, tenant: Tenant, text: str, limit: int
) -> list[tuple[str, list[str]]]:
    """Return markers by name with the names of their labs, by name; one query.

    `text` is part of the name of a marker or of a result of it, in any case, or the
    LOINC code of one.
    """
    results = ExpectedResult.objects.filter(
        Q(name__icontains=text) | Q(loinc_code=text)
    )
    offered = Marker.objects.visible_to(tenant).filter(
        Q(name__icontains=text) | Q(pk__in=results.values("marker_id")),
        retired_at=None,
    )
    found = offered.values_list("name").annotate(
        labs=ArrayAgg("lab__name", distinct=True)
    )
    return list(found.order_by("name")[:limit])


def find_lab(*, tenant: Tenant, lab_id: int) -> Lab:
    """Return the lab with this id. Raises: lab_not_found (404)."""
    found = list_labs(tenant=tenant).filter(pk=lab_id).first()
    if found is None:
        raise NotFound("lab_not_found", _("Lab not found."), "lab_id")
    return found


def find_marker(
    *, tenant: Tenant, lab_id: int, provider_id: str, lab: Lab | None = None
) -> Marker:
    """Return a lab's marker by its code. Raises: marker_not_found (404)."""
    rows = Marker.objects.visible_to(tenant).filter(
        lab_id=lab_id, provider_id=provider_id
    )
    found = rows.first() if lab is None else rows.filter(lab=lab).first()
    if found is None:
        raise NotFound("marker_not_found", _("Marker not found."))
    return found


def lab_tests_with_details(*, tenant: Tenant) -> LabTestQuerySet:
    """Return panels with all payload data, by a constant number of queries."""
    rows: LabTestQuerySet = LabTest.objects.for_tenant(tenant)
    return rows.select_related("lab").prefetch_related("markers")


def get_lab_test_with_details(
    *, tenant: Tenant, lab_test_id: UUID, lab: Lab | None = None
) -> LabTest:
    """Return one panel, of `lab` if given. Raises: lab_test_not_found (404)."""
    rows = lab_tests_with_details(tenant=tenant).filter(pk=lab_test_id)
    found: LabTest | None = (rows if lab is None else rows.filter(lab=lab)).first()
    if found is None:
        raise NotFound("lab_test_not_found", _("Lab test not found."))
    return found


def list_lab_tests(
    *,
    tenant: Tenant,
    filters: LabTestFilters,
    after: LabTestPlace | None = None,
    limit: int | None = None,
) -> list[LabTest]:
    """Return matching panels after `after`; all without a limit."""
    rows = _filter_lab_tests(tenant, filters)
    if after is not None:
        beyond = "lt" if filters.descending else "gt"
        further = Q(**{f"{filters.sort}__{beyond}": after.value})
        beside = Q(**{filters.sort: after.value, f"pk__{beyond}": after.panel_id})
        rows = rows.filter(further | beside)
    return list(rows if limit is None else rows[:limit])


def list_lab_tests_page(
    *, tenant: Tenant, filters: LabTestFilters, page: int, size: int
) -> LabTestPage:
    """Return a page of matching panels, pages from 1."""
    rows = _filter_lab_tests(tenant, filters)
    first = (page - 1) * size
    return LabTestPage(list(rows[first : first + size]), rows.count())


def _filter_lab_tests(tenant: Tenant, filters: LabTestFilters) -> LabTestQuerySet:
    """Return matching panels in order."""
    exact: dict[str, Any] = {
        "lab": filters.lab,
        "lab__slug": filters.lab_slug,
        "method": filters.method or None,
        "status": filters.status or None,
        "generation": filters.generation or None,
        "name__icontains": filters.name or None,
    }
    rows = lab_tests_with_details(tenant=tenant).filter(
        **{name: value for name, value in exact.items() if value is not None}
    )
    # One condition each: a panel holds all of them.
    for marker_id in dict.fromkeys(filters.marker_ids):
        rows = rows.filter(markers=marker_id)
    for code in dict.fromkeys(filters.provider_ids):
        rows = rows.filter(markers__provider_id=code)
    sign = "-" if filters.descending else ""
    return rows.order_by(f"{sign}{filters.sort}", f"{sign}pk")
