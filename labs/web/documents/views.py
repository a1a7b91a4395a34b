"""Documents of an order: downloads, labels, and the requisition link.

They name the patient and require the right to patient details; collection instructions
do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.dialogs import render_form
from accounts.web.rights import require_right
from labs.documents.labels import LabelStock
from labs.documents.links import (
    LINK_TTL,
    get_requisition_link_expiry,
    get_requisition_link_url,
)
from labs.operations.documents.lab_documents import read_lab_document
from labs.operations.documents.order_documents import (
    LABELS_AT_MOST,
    LABELS_USUAL,
    reissue_requisition_link,
    render_order_instructions,
    render_order_specimen_labels,
    render_panel_instructions,
    render_requisition_as_first_printed,
    render_results_report,
)
from labs.queries.catalogue import get_lab_test_with_details
from labs.queries.orders.history import had_requisition_created
from labs.queries.orders.orders import get_order_with_details
from labs.queries.results.documents import get_lab_document, list_lab_documents
from labs.queries.results.results import get_results_of_order
from labs.states.lab_documents import DocumentFault, LabDocumentStatus
from labs.states.orders import split_order_status
from portal.lib.errors import NotFound
from portal.lib.web.views import page_url

if TYPE_CHECKING:
    from datetime import datetime

    from accounts.web.requests import TenantRequest
    from labs.documents.sheet import Document
    from labs.models import LabDocument, Order

_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class LabDocumentRow:
    """A document from the lab; `is_latest` where no version follows it.

    `words` say why it can't be opened, empty where it can.
    """

    document: LabDocument
    words: str
    is_latest: bool


@dataclass(frozen=True, slots=True)
class OrderDocuments:
    """The documents of an order for this member, and the requisition link.

    `requisition` and `labels` come with the requisition; `link` is empty without one,
    and `link_left` says how long it works, empty where it has ended.
    """

    may_see: bool
    requisition: bool
    instructions: bool
    results: bool
    is_import: bool = False
    link: str = ""
    link_ends_at: datetime | None = None
    link_left: str = ""
    from_lab: tuple[LabDocumentRow, ...] = ()


class LabelsForm(forms.Form):
    """The collection date, number and stock of labels."""

    collection_date = forms.DateField(
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )
    number_of_labels = forms.IntegerField(min_value=1, max_value=LABELS_AT_MOST)
    stock = forms.ChoiceField(choices=LabelStock.offered, required=False)


def build_pdf_response(document: Document) -> HttpResponse:
    """Return a PDF to show in the browser, with its file name."""
    return HttpResponse(
        document.body,
        content_type="application/pdf",
        headers={"Content-Disposition": f'inline; filename="{document.name}"'},
    )


def list_order_documents(request: TenantRequest, order: Order) -> OrderDocuments:
    """Return the documents of an order for this member."""
    may_see = request.rights.allow(Area.PATIENT_DETAILS)
    is_made = had_requisition_created(order)
    ends_at = get_requisition_link_expiry(order)
    shows_link = may_see and ends_at is not None
    return OrderDocuments(
        may_see=may_see,
        requisition=is_made,
        instructions=order.lab_test.has_collection_instructions,
        # Set by the first delivery of results; unknown if it has no status.
        results=bool(order.interpretation),
        is_import=any(
            split_order_status(event.status).low == "requisition_bypassed"
            for event in order.events.all()
        ),
        link=(get_requisition_link_url(order) or "") if shows_link else "",
        link_ends_at=ends_at if shows_link else None,
        link_left=_format_time_left(ends_at) if shows_link and ends_at else "",
        from_lab=_build_lab_document_rows(order) if may_see else (),
    )


def _build_lab_document_rows(order: Order) -> tuple[LabDocumentRow, ...]:
    """Build the rows of an order's documents from its lab, newest first."""
    documents = list_lab_documents(order=order)
    latest = {one.series: one.pk for one in documents}.values()
    return tuple(
        LabDocumentRow(one, _describe_lab_document(one), one.pk in latest)
        for one in reversed(documents)
    )


def _describe_lab_document(document: LabDocument) -> str:
    """Say why a document can't be opened; empty where it can."""
    if document.status == LabDocumentStatus.AVAILABLE:
        return ""
    fault = DocumentFault.known(document.fault)
    if fault is not None:
        return str(fault.label)
    status = LabDocumentStatus.known(document.status)
    return str(status.label) if status else document.status


@require_GET
@require_right(Area.ORDERS)
@require_right(Area.PATIENT_DETAILS)
def download_requisition(request: TenantRequest, order_id: UUID) -> HttpResponse:
    order = get_order_with_details(tenant=request.tenant, order_id=order_id)
    try:
        document = render_requisition_as_first_printed(order)
    except NotFound as refusal:
        return _redirect_with_error(request, order, refusal)
    _record_read(request, order, "requisition")
    return build_pdf_response(document)


@require_GET
@require_right(Area.ORDERS)
@require_right(Area.PATIENT_DETAILS)
def print_specimen_labels(request: TenantRequest, order_id: UUID) -> HttpResponse:
    """Return the labels as a PDF, or ask for their details first."""
    order = get_order_with_details(tenant=request.tenant, order_id=order_id)
    if not had_requisition_created(order):
        refusal = NotFound(
            "requisition_not_found", _("The requisition is not ready yet.")
        )
        return _redirect_with_error(request, order, refusal)
    if "collection_date" not in request.GET:
        form = LabelsForm(
            initial={
                "collection_date": timezone.localdate(),
                "number_of_labels": LABELS_USUAL,
                "stock": LabelStock.SHEET,
            }
        )
        return _render_label_dialog(request, order, form)
    form = LabelsForm(request.GET)
    if not form.is_valid():
        return _render_label_dialog(request, order, form, status=422)
    day: date = form.cleaned_data["collection_date"]
    document = render_order_specimen_labels(
        order,
        collected_on=day,
        number=form.cleaned_data["number_of_labels"],
        stock=LabelStock.known(form.cleaned_data["stock"]) or LabelStock.SHEET,
    )
    _record_read(request, order, "labels")
    return build_pdf_response(document)


@require_GET
@require_right(Area.ORDERS)
def download_order_instructions(request: TenantRequest, order_id: UUID) -> HttpResponse:
    order = get_order_with_details(tenant=request.tenant, order_id=order_id)
    try:
        document = render_order_instructions(order)
    except NotFound as refusal:
        return _redirect_with_error(request, order, refusal)
    _record_read(request, order, "collection_instructions")
    return build_pdf_response(document)


@require_GET
@require_right(Area.ORDERS)
@require_right(Area.PATIENT_DETAILS)
def download_results_report(request: TenantRequest, order_id: UUID) -> HttpResponse:
    order = get_order_with_details(tenant=request.tenant, order_id=order_id)
    try:
        found = get_results_of_order(order=order)
    except NotFound as refusal:
        return _redirect_with_error(request, order, refusal)
    _record_read(request, order, "result")
    return build_pdf_response(render_results_report(found=found, tenant=request.tenant))


@require_GET
@require_right(Area.ORDERS)
@require_right(Area.PATIENT_DETAILS)
def download_lab_document(
    request: TenantRequest, order_id: UUID, lab_document_id: UUID
) -> HttpResponse:
    order = get_order_with_details(tenant=request.tenant, order_id=order_id)
    found = get_lab_document(order=order, document_id=lab_document_id)
    document = read_lab_document(found)
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="lab_document",
        subject_id=found.pk,
        user_uuid=order.user.uuid,
    )
    return build_pdf_response(document)


@require_GET
@require_right(Area.CATALOGUE)
def download_panel_instructions(
    request: TenantRequest, lab_test_id: str
) -> HttpResponse:
    try:
        panel_id = UUID(lab_test_id)
    except ValueError:
        raise Http404 from None
    panel = get_lab_test_with_details(tenant=request.tenant, lab_test_id=panel_id)
    try:
        return build_pdf_response(
            render_panel_instructions(panel=panel, tenant=request.tenant)
        )
    except NotFound as refusal:
        messages.error(request, refusal.message)
        return HttpResponseRedirect(page_url(request, "labs:tests"))


@require_POST
@require_right(Area.ORDERS, write=True)
@require_right(Area.PATIENT_DETAILS)
def replace_requisition_link(request: TenantRequest, order_id: UUID) -> HttpResponse:
    order = get_order_with_details(tenant=request.tenant, order_id=order_id)
    try:
        reissue_requisition_link(order=order, actor=request.actor)
    except NotFound as refusal:
        return _redirect_with_error(request, order, refusal)
    messages.success(
        request,
        _(
            "Link created. It works for %(days)d days. The previous link no longer"
            " works."
        )
        % {"days": LINK_TTL.days},
    )
    return HttpResponseRedirect(page_url(request, "labs:order", order_id=order.pk))


def _render_label_dialog(
    request: TenantRequest, order: Order, form: LabelsForm, status: int = 200
) -> HttpResponse:
    return render_form(
        request,
        "labs/_order_labels.html",
        title=_("Print labels"),
        back=page_url(request, "labs:order", order_id=order.pk),
        back_words=_("Order"),
        status=status,
        form=form,
        section="orders",
    )


def _redirect_with_error(
    request: TenantRequest, order: Order, refusal: NotFound
) -> HttpResponse:
    """Redirect to the order's page with the error."""
    messages.error(request, refusal.message)
    return HttpResponseRedirect(page_url(request, "labs:order", order_id=order.pk))


def _record_read(request: TenantRequest, order: Order, subject: str) -> None:
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject=subject,
        subject_id=order.pk,
        user_uuid=order.user.uuid,
    )


def _format_time_left(ends_at: datetime) -> str:
    """Format the time until a moment in days and hours; empty if passed."""
    left = ends_at - timezone.now()
    if left <= timedelta():
        return ""
    days, rest = divmod(left, _DAY)
    hours = rest // _HOUR
    if days:
        return _("%(days)d d %(hours)d h") % {"days": days, "hours": hours}
    if hours:
        return _("%(hours)d h") % {"hours": hours}
    return _("less than an hour")
