"""Pages of a team's own catalogue: files in and out, updates and their differences."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from accounts.states import Area
from accounts.web.columns import read_list_columns
from accounts.web.rights import require_right
from labs.models import CatalogueUpdate, Lab, Marker, ServiceCenter
from labs.operations.catalogue.catalogue_export import (
    export_lab_catalogue,
    export_lab_catalogue_messages,
)
from labs.operations.catalogue.catalogue_rows import COLUMNS, FILE_BYTES_MAX
from labs.operations.catalogue.catalogue_uploads import (
    pack_catalogue_files,
    read_catalogue_upload,
)
from labs.operations.catalogue.import_catalogue import (
    OWN_MARKERS_MAX,
    CatalogueInvalid,
    apply_catalogue_update,
    check_catalogue_update,
    discard_catalogue_update,
    list_catalogue_changes,
    read_update_files,
)
from labs.operations.catalogue.loinc_proposals import (
    confirm_loinc_codes,
    list_results_without_loinc,
    propose_loinc_of_result,
)
from labs.web.columns import RESULTS_WITHOUT_LOINC
from portal.lib.errors import DomainError
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import (
    Pager,
    allow_larger_request_body,
    page_url,
    redirect_browser,
    render_page,
)

if TYPE_CHECKING:
    from uuid import UUID

    from django.core.files.uploadedfile import UploadedFile
    from django.http.response import HttpResponseBase

    from accounts.web.requests import TenantRequest

# Files of this size, and what a form puts around them.
BODY_MAX_BYTES = FILE_BYTES_MAX + 1024 * 1024
FAULTS_SHOWN = 200
# What a form names a result by: as many digits as PostgreSQL's integer holds.
_RESULT = re.compile(r"result-([0-9]{1,9})")
_CHANGES_A_PAGE = 100
_RESULTS_A_PAGE = 25
_UPDATES_SHOWN = 20


class ManyFilesInput(forms.FileInput):
    """A chooser of several files."""

    allow_multiple_selected = True


class ManyFilesField(forms.FileField):
    """Several files; a chosen file may be empty."""

    widget = ManyFilesInput

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile[Any]]:
        """Return the files; an empty list is refused."""
        files = data or [None]
        return [super(ManyFilesField, self).clean(one, initial) for one in files]


class CatalogueFilesForm(forms.Form):
    """The files of an update, and whether they are the whole catalogue."""

    chosen = ManyFilesField(
        allow_empty_file=True,  # the check names it
        error_messages={"required": gettext_lazy("Choose a file.")},
    )
    is_complete = forms.BooleanField(required=False)


class PageForm(forms.Form):
    """The number of a page; an invalid one counts as not given."""

    page = forms.IntegerField(required=False, min_value=1, max_value=10_000)


@allow_larger_request_body(BODY_MAX_BYTES)
@require_http_methods(["GET", "POST"])
@require_right(Area.CATALOGUE)
def show_own_catalogue(request: TenantRequest) -> HttpResponseBase:
    """Show a team's own labs and updates, and check the files of a new one."""
    if request.method == "POST":
        return _check(request)
    return _render_catalogue(request, CatalogueFilesForm())


@require_right(Area.CATALOGUE, write=True)
def _check(request: TenantRequest) -> HttpResponse:
    form = CatalogueFilesForm(request.POST, request.FILES)
    if not form.is_valid():
        return _render_catalogue(request, form, status=422)
    try:
        update = check_catalogue_update(
            contents=read_catalogue_upload(
                (file.name or "", file.read()) for file in form.cleaned_data["chosen"]
            ),
            actor=request.actor,
            is_complete=form.cleaned_data["is_complete"],
            owner=request.tenant,
        )
    except CatalogueInvalid as invalid:
        return _render_catalogue(request, form, status=422, faults=invalid.faults)
    except DomainError as refusal:
        form.add_error("chosen", refusal.message)
        return _render_catalogue(request, form, status=422)
    return redirect_browser(request, _update_url(request, update))


@require_http_methods(["GET", "POST"])
@require_right(Area.CATALOGUE)
def show_catalogue_update(request: TenantRequest, update_id: UUID) -> HttpResponseBase:
    """Show the differences of an update; apply or discard one that was checked."""
    if request.method == "POST":
        return _decide(request, update_id)
    return _render_update(request, update_id)


@require_right(Area.CATALOGUE, write=True)
def _decide(request: TenantRequest, update_id: UUID) -> HttpResponse:
    update = _get_update(request, update_id)
    if request.POST.get("action") == "discard":
        discard_catalogue_update(update_id=update.pk, owner=request.tenant)
        messages.success(request, _("Update discarded. The catalog is unchanged."))
        return redirect_browser(request, page_url(request, "labs:own_catalogue"))
    try:
        applied = apply_catalogue_update(
            update_id=update.pk, actor=request.actor, owner=request.tenant
        )
    except CatalogueInvalid as invalid:
        return _render_update(request, update_id, status=422, faults=invalid.faults)
    except DomainError as refusal:
        messages.error(request, refusal.message)
        return redirect_browser(request, _update_url(request, update))
    messages.success(
        request, _("Update %(number)d is applied.") % {"number": applied.number}
    )
    return redirect_browser(request, _update_url(request, applied))


@require_GET
@require_right(Area.CATALOGUE)
def download_update_files(request: TenantRequest, update_id: UUID) -> HttpResponse:
    """Send the files that an update was checked from."""
    update = _get_update(request, update_id)
    number = update.number or "draft"
    return _build_download(
        pack_catalogue_files(read_update_files(update)), f"catalog-update-{number}.zip"
    )


@require_GET
@require_right(Area.CATALOGUE)
def export_own_catalogue(request: TenantRequest) -> HttpResponse:
    """Send a team's own catalogue as a zip file of CSV files, or as HL7 messages."""
    labs = Lab.objects.in_catalogue_of(request.tenant)
    if request.GET.get("format") == "hl7":
        return _build_download(
            export_lab_catalogue_messages(labs=labs, at=timezone.now()),
            "catalog.hl7",
            kind="application/octet-stream",
        )
    return _build_download(
        pack_catalogue_files(export_lab_catalogue(labs=labs)), "catalog.zip"
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.CATALOGUE)
def show_loinc_proposals(request: TenantRequest) -> HttpResponseBase:
    """Show results without a LOINC code, with proposals, and store confirmed ones."""
    if request.method == "POST":
        return _confirm_codes(request)
    columns = read_list_columns(request, RESULTS_WITHOUT_LOINC)
    found = list_results_without_loinc(
        owner=request.tenant, order_by=columns.order_asked
    )
    page, links = _paginate(request, found, _RESULTS_A_PAGE)
    return render_page(
        request,
        "labs/loinc_proposals.html",
        columns=columns,
        rows=[propose_loinc_of_result(result) for result in page],
        **links,
        section="lab_tests",
    )


@require_right(Area.CATALOGUE, write=True)
def _confirm_codes(request: TenantRequest) -> HttpResponse:
    codes = {
        int(found[1]): code
        for name in request.POST
        if (found := _RESULT.fullmatch(name))
        and (code := request.POST.get(name, "").strip())
    }
    here = page_url(request, "labs:loinc_proposals")
    try:
        update = confirm_loinc_codes(
            owner=request.tenant, actor=request.actor, codes=codes
        )
    except DomainError as refusal:
        messages.error(request, refusal.message)
        return redirect_browser(request, here)
    messages.success(
        request,
        _("LOINC codes stored as update %(number)d.") % {"number": update.number},
    )
    return redirect_browser(request, here)


def _render_catalogue(
    request: TenantRequest,
    form: CatalogueFilesForm,
    *,
    status: int = 200,
    faults: tuple[Any, ...] = (),
) -> HttpResponse:
    labs = Lab.objects.in_catalogue_of(request.tenant).order_by("name")
    markers = Marker.objects.filter(lab__owner=request.tenant)
    updates = CatalogueUpdate.objects.filter(owner=request.tenant).defer("content")
    return render_page(
        request,
        "labs/own_catalogue.html",
        status=status,
        form=form,
        faults=faults[:FAULTS_SHOWN],
        more_faults=max(0, len(faults) - FAULTS_SHOWN),
        labs=labs,
        marker_count=markers.filter(retired_at=None).count(),
        retired_count=markers.exclude(retired_at=None).count(),
        center_count=ServiceCenter.objects.filter(
            lab__owner=request.tenant, is_active=True
        ).count(),
        without_loinc=list_results_without_loinc(owner=request.tenant).count(),
        updates=updates.order_by("-number", "-created_at").exclude(number=None)[
            :_UPDATES_SHOWN
        ],
        drafts=updates.filter(number=None).exclude(changes=[]).order_by("-created_at"),
        columns=COLUMNS,
        megabytes=FILE_BYTES_MAX // 1024 // 1024,
        markers_max=OWN_MARKERS_MAX,
        section="lab_tests",
    )


def _render_update(
    request: TenantRequest,
    update_id: UUID,
    *,
    status: int = 200,
    faults: tuple[Any, ...] = (),
) -> HttpResponse:
    update = _get_update(request, update_id)
    changes = list_catalogue_changes(update)
    counts = Counter((change.table, change.kind) for change in changes)
    page, links = _paginate(request, changes, _CHANGES_A_PAGE)
    return render_page(
        request,
        "labs/catalogue_update.html",
        status=status,
        update=update,
        faults=faults[:FAULTS_SHOWN],
        more_faults=max(0, len(faults) - FAULTS_SHOWN),
        changes=page,
        counts=[(table, kind.label, n) for (table, kind), n in counts.items()],
        **links,
        section="lab_tests",
    )


def _paginate(
    request: TenantRequest, rows: Any, size: int
) -> tuple[list[Any], dict[str, Any]]:
    """Return a page of rows, and what templates show of the pages beside it."""
    form = PageForm(request.GET)
    form.is_valid()
    page = Paginator(rows, size).get_page(form.cleaned_data.get("page") or 1)
    total = page.paginator.count
    return list(page), {
        "pager": Pager(total, (page.number - 1) * size, size),
        "before": page.previous_page_number() if page.has_previous() else None,
        "after": page.next_page_number() if page.has_next() else None,
    }


def _get_update(request: TenantRequest, update_id: UUID) -> CatalogueUpdate:
    found = CatalogueUpdate.objects.filter(pk=update_id, owner=request.tenant).first()
    if found is None:
        raise Http404
    return found


def _update_url(request: TenantRequest, update: CatalogueUpdate) -> str:
    return page_url(request, "labs:catalogue_update", update_id=update.pk)


def _build_download(
    content: bytes, name: str, *, kind: str = "application/zip"
) -> HttpResponse:
    response = HttpResponse(content, content_type=kind)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
