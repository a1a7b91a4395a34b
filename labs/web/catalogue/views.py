"""Pages of lab tests and markers: list, archive, restore."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404
from django.utils.translation import gettext as _
from django.views.decorators.http import (
    require_GET,
    require_http_methods,
    require_POST,
)

from accounts.states import Area
from accounts.web.columns import read_list_columns
from accounts.web.dialogs import render_confirmation
from accounts.web.rights import require_right
from labs.operations.catalogue.panels import archive_lab_test, unarchive_lab_test
from labs.queries.catalogue import (
    LabTestFilters,
    MarkerFilters,
    get_lab_test_with_details,
    list_lab_tests_page,
    list_labs,
    list_markers_page,
)
from labs.states.catalogue import CollectionMethod, LabTestStatus
from labs.web.columns import LAB_TESTS, MARKERS
from portal.lib.errors import DomainError, NotFound
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import Pager, page_url, redirect_browser, render_page
from portal.ui.filters import FilterBar, ListFilter, build_choices

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from labs.models import Lab, LabTest

BACK_WORDS = gettext_lazy("Tests and markers")
PAGE_SIZE = 50
_PAGE_MAX = 10_000


class CatalogueFilterForm(forms.Form):
    """Read a list's filters; an invalid value counts as not given."""

    q = forms.CharField(required=False, max_length=100)
    lab = forms.SlugField(required=False, max_length=50)
    collection = forms.ChoiceField(required=False, choices=CollectionMethod.offered)
    status = forms.ChoiceField(required=False, choices=LabTestStatus.offered)
    page = forms.IntegerField(required=False, min_value=1, max_value=_PAGE_MAX)


@require_GET
@require_right(Area.CATALOGUE)
def show_lab_test_list(request: TenantRequest) -> HttpResponse:
    columns = read_list_columns(request, LAB_TESTS)
    entered = _read_filters(request)
    filters = LabTestFilters(
        lab_slug=entered.get("lab") or None,
        method=entered.get("collection", ""),
        status=entered.get("status", ""),
        name=entered.get("q", ""),
        sort=columns.order_by.removeprefix("-"),
        descending=columns.order_by.startswith("-"),
    )
    labs = list_labs(tenant=request.tenant)
    page = entered.get("page") or 1
    found = list_lab_tests_page(
        tenant=request.tenant, filters=filters, page=page, size=PAGE_SIZE
    )
    pager = Pager(found.total, (page - 1) * PAGE_SIZE, PAGE_SIZE)
    return render_page(
        request,
        "labs/lab_tests.html",
        panels=found.panels,
        columns=columns,
        pager=pager,
        before=page - 1 if pager.previous is not None else None,
        after=page + 1 if pager.next is not None else None,
        labs=labs,
        bar=FilterBar(
            (
                _build_lab_filter(labs, entered),
                ListFilter(
                    "collection",
                    _("Collection"),
                    filters.method,
                    build_choices(CollectionMethod.offered()),
                ),
                ListFilter(
                    "status",
                    _("Status"),
                    filters.status,
                    build_choices(LabTestStatus.offered()),
                ),
            ),
            text=filters.name,
            label=_("Search lab tests"),
            placeholder=_("Part of a name"),
        ),
        is_filtered=any(entered.values()),
        section="lab_tests",
    )


@require_GET
@require_right(Area.CATALOGUE)
def show_marker_list(request: TenantRequest) -> HttpResponse:
    columns = read_list_columns(request, MARKERS)
    filters = _read_filters(request)
    labs = list_labs(tenant=request.tenant)
    page = filters.get("page") or 1
    found = list_markers_page(
        tenant=request.tenant,
        filters=MarkerFilters(
            lab_slug=filters.get("lab") or None,
            text=filters.get("q", ""),
            by_loinc=True,
        ),
        order_by=columns.order_asked,
        page=page,
        size=PAGE_SIZE,
    )
    pager = Pager(found.total, (page - 1) * PAGE_SIZE, PAGE_SIZE)
    return render_page(
        request,
        "labs/markers.html",
        markers=found.markers,
        columns=columns,
        pager=pager,
        before=page - 1 if pager.previous is not None else None,
        after=page + 1 if pager.next is not None else None,
        labs=labs,
        bar=FilterBar(
            (_build_lab_filter(labs, filters),),
            text=filters.get("q", ""),
            label=_("Search markers"),
            placeholder=_("Marker, lab or LOINC code"),
        ),
        section="lab_tests",
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.CATALOGUE, write=True)
def archive_panel_dialog(request: TenantRequest, lab_test_id: str) -> HttpResponse:
    panel = _get_panel(request, lab_test_id)
    back = page_url(request, "labs:tests")
    if request.method == "POST":
        try:
            archive_lab_test(
                tenant=request.tenant, actor=request.actor, lab_test_id=panel.pk
            )
        except DomainError as refusal:
            messages.error(request, refusal.message)
        else:
            messages.success(request, _("%(test)s archived.") % {"test": panel.name})
        return redirect_browser(request, back)
    return render_confirmation(
        request,
        title=_("Archive %(test)s?") % {"test": panel.name},
        says=_("It can't be ordered any more. Existing orders continue."),
        verb=_("Archive test"),
        keep=_("Keep test"),
        back=back,
        back_words=BACK_WORDS,
    )


@require_POST
@require_right(Area.CATALOGUE, write=True)
def restore_panel(request: TenantRequest, lab_test_id: str) -> HttpResponse:
    panel = _get_panel(request, lab_test_id)
    try:
        unarchive_lab_test(
            tenant=request.tenant, actor=request.actor, lab_test_id=panel.pk
        )
    except DomainError as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, _("%(test)s restored.") % {"test": panel.name})
    return redirect_browser(request, page_url(request, "labs:tests"))


def _build_lab_filter(labs: Iterable[Lab], given: dict[str, Any]) -> ListFilter:
    choices = build_choices((lab.slug, lab.name) for lab in labs)
    return ListFilter("lab", _("Lab"), given.get("lab", ""), choices)


def _read_filters(request: TenantRequest) -> dict[str, Any]:
    form = CatalogueFilterForm(request.GET)
    form.is_valid()
    return form.cleaned_data


def _get_panel(request: TenantRequest, lab_test_id: str) -> LabTest:
    try:
        panel_id = UUID(lab_test_id)
        return get_lab_test_with_details(tenant=request.tenant, lab_test_id=panel_id)
    except (ValueError, NotFound):
        raise Http404 from None
