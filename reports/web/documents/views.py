"""Pages of documents that match no order: the queue, one document, decisions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.columns import read_list_columns
from accounts.web.rights import require_right
from portal.lib.database.sorting import SORTED_UP_TO
from portal.lib.errors import DomainError, NotAllowed, NotFound, Unavailable
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import (
    Pager,
    allow_larger_request_body,
    page_url,
    parse_list_offset,
    redirect_browser,
    render_page,
)
from reports.models.mail import WHY_MAX_LENGTH
from reports.operations.documents.matching import list_candidate_orders
from reports.operations.documents.pictures import render_document_page
from reports.operations.documents.receiving import receive_document
from reports.operations.documents.review import (
    match_document,
    reject_document,
    restore_document,
)
from reports.operations.jobs.submission import MAX_BYTES
from reports.queries.mail import (
    get_unmatched_document,
    list_documents,
)
from reports.states import DocumentReason, DocumentStatus
from reports.web.columns import DOCUMENTS
from reports.web.jobs.forms import FilesForm
from reports.web.jobs.overview import count_attention

if TYPE_CHECKING:
    from accounts.web.requests import TenantRequest
    from reports.models import UnmatchedDocument
    from reports.operations.documents.matching import DocumentCandidate

PAGE_SIZE = 25
RETRY_AFTER_S = 3
MATCH_IDS, REJECT_IDS = "match_%s", "reject_%s"
_TABS = {
    DocumentStatus.UNMATCHED: gettext_lazy("Unmatched"),
    DocumentStatus.READING: gettext_lazy("Processing"),
    DocumentStatus.MATCHED: gettext_lazy("Matched"),
    DocumentStatus.REJECTED: gettext_lazy("Rejected"),
}


class MatchForm(forms.Form):
    """The order that a document belongs to, and why."""

    order = forms.UUIDField(
        label=gettext_lazy("Order ID"),
        error_messages={
            "required": gettext_lazy("Enter the order's ID."),
            "invalid": gettext_lazy("Enter the order's full ID."),
        },
    )
    why = forms.CharField(
        max_length=WHY_MAX_LENGTH,
        label=gettext_lazy("Reason"),
        error_messages={"required": gettext_lazy("Enter a reason.")},
    )


class RejectForm(forms.Form):
    """Why a document belongs to no order."""

    why = forms.CharField(
        max_length=WHY_MAX_LENGTH,
        label=gettext_lazy("Reason"),
        error_messages={"required": gettext_lazy("Enter a reason.")},
    )


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document as the queue shows it, without names."""

    document: UnmatchedDocument
    reason: str


@require_GET
@require_right(Area.ORDERS)
@require_right(Area.REPORTS)
def list_unmatched_documents(request: TenantRequest) -> HttpResponse:
    """Show documents in a status, newest first."""
    return _list(request, FilesForm())


@allow_larger_request_body(
    2 * MAX_BYTES
)  # what is a little too large still gets its sentence
@require_POST
@require_right(Area.ORDERS)
@require_right(Area.REPORTS, write=True)
def upload_document(request: TenantRequest) -> HttpResponse:
    """Receive a document of which the order is not known."""
    form = FilesForm(request.POST, request.FILES)
    if form.is_valid():
        parts = form.parts()
        if len(parts) > 1:
            form.add_error("file", _("Choose one file."))
        else:
            try:
                document = receive_document(
                    tenant=request.tenant, actor=request.actor, part=parts[0]
                )
            except NotAllowed:
                raise
            except DomainError as refusal:
                form.add_error(
                    "file",
                    _("%(problem)s Nothing was stored.") % {"problem": refusal.message},
                )
            else:
                return _redirect(request, document)
    return _list(request, form, status=422)


@require_GET
@require_right(Area.ORDERS)
@require_right(Area.REPORTS)
def show_document(request: TenantRequest, document_id: UUID) -> HttpResponse:
    """Show a document beside the orders that it may belong to."""
    document = _get(request, document_id)
    chosen = {"order": request.GET.get("order", "")}
    return _page(
        request,
        document,
        MatchForm(initial=chosen, auto_id=MATCH_IDS),
        RejectForm(auto_id=REJECT_IDS),
    )


@require_GET
@require_right(Area.ORDERS)
@require_right(Area.REPORTS)
def show_document_page_image(
    request: TenantRequest, document_id: UUID, page: int
) -> HttpResponse:
    """Return a page as an image; never cached. 503 while others are drawn."""
    document = _get(request, document_id)
    try:
        picture = render_document_page(document=document, page=page)
    except Unavailable:
        return HttpResponse(status=503, headers={"Retry-After": str(RETRY_AFTER_S)})
    _record_read(request, document, f"{document.pk} {page}")
    return HttpResponse(picture, content_type="image/jpeg")


@require_http_methods(["POST"])
@require_right(Area.ORDERS)
@require_right(Area.REPORTS, write=True)
def decide_document(request: TenantRequest, document_id: UUID) -> HttpResponse:
    """Match a document to an order, reject it, or restore it."""
    document = _get(request, document_id)
    verdict = request.POST.get("verdict", "")
    match = MatchForm(auto_id=MATCH_IDS)
    reject = RejectForm(auto_id=REJECT_IDS)
    about: dict[str, Any] = {"document": document, "actor": request.actor}
    form: forms.Form
    if verdict == "match":
        form = match = MatchForm(request.POST, auto_id=MATCH_IDS)
    elif verdict == "reject":
        form = reject = RejectForm(request.POST, auto_id=REJECT_IDS)
    else:
        form = forms.Form(request.POST)
    if form.is_valid():
        given = form.cleaned_data
        try:
            if verdict == "match":
                match_document(**about, order_id=given["order"], why=given["why"])
                messages.success(request, _("Document matched. It is read again."))
            elif verdict == "reject":
                reject_document(**about, why=given["why"])
                messages.success(request, _("Document rejected."))
            else:
                restore_document(**about)
                messages.success(request, _("Document restored."))
        except NotAllowed:
            raise
        except DomainError as refusal:
            if not form.fields:
                messages.error(request, refusal.message)
                return _redirect(request, document)
            by_field = {"order_id": "order", "reason": "why"}
            form.add_error(
                by_field.get(refusal.field or "", next(iter(form.fields))),
                refusal.message,
            )
        else:
            return _redirect(request, document)
    return _page(request, document, match, reject, status=422)


def _redirect(request: TenantRequest, document: UnmatchedDocument) -> HttpResponse:
    return redirect_browser(
        request, page_url(request, "reports:document", document_id=document.pk)
    )


def _get(request: TenantRequest, document_id: UUID) -> UnmatchedDocument:
    try:
        document = get_unmatched_document(
            tenant=request.tenant, document_id=document_id
        )
    except NotFound:
        raise Http404 from None
    if not request.rights.allow(Area.PATIENT_DETAILS):
        raise PermissionDenied
    return document


def _list(
    request: TenantRequest, form: FilesForm, *, status: int = 200
) -> HttpResponse:
    tab = request.GET.get("tab", "")
    tab = tab if tab in _TABS else str(DocumentStatus.UNMATCHED)
    offset = parse_list_offset(request)
    columns = read_list_columns(request, DOCUMENTS)
    found, total = list_documents(
        tenant=request.tenant,
        statuses=(tab,),
        offset=offset,
        limit=PAGE_SIZE,
        order_by=columns.order_asked,
    )
    waiting = count_attention(request).documents
    return render_page(
        request,
        "reports/documents/list.html",
        status=status,
        section="documents",
        tab=tab,
        tabs=[
            (
                str(name),
                words,
                waiting if name == DocumentStatus.UNMATCHED else None,
            )
            for name, words in _TABS.items()
        ],
        rows=[DocumentRow(one, _describe_reason(one)) for one in found],
        columns=columns,
        is_sort_cut=columns.is_partial and total > SORTED_UP_TO,
        pager=Pager(total=total, offset=offset, limit=PAGE_SIZE),
        form=form,
        may_open=request.rights.allow(Area.PATIENT_DETAILS),
        may_upload=request.rights.allow(Area.REPORTS, write=True),
        is_enabled=request.tenant.lab_report_parsing_enabled,
    )


def _page(
    request: TenantRequest,
    document: UnmatchedDocument,
    match: MatchForm,
    reject: RejectForm,
    *,
    status: int = 200,
) -> HttpResponse:
    candidates: list[DocumentCandidate] = []
    is_open = document.status == DocumentStatus.UNMATCHED
    if is_open and document.metadata is not None:
        candidates = list_candidate_orders(
            tenant=request.tenant,
            metadata=document.metadata,
            rows=document.rows or [],
        )
    _record_read(request, document, str(document.pk))
    return render_page(
        request,
        "reports/documents/page.html",
        status=status,
        section="documents",
        document=document,
        reason=_describe_reason(document),
        metadata=document.metadata or {},
        candidates=candidates,
        match=match,
        reject=reject,
        is_open=is_open,
        is_rejected=document.status == DocumentStatus.REJECTED,
        shown_pages=range(1, (document.pages or 0) + 1) if document.stored_as else (),
        may_decide=request.rights.allow(Area.REPORTS, write=True),
        poll_seconds=3 if document.status == DocumentStatus.READING else None,
    )


def _describe_reason(document: UnmatchedDocument) -> str:
    known = DocumentReason.known(document.reason)
    return str(known.label) if known else document.reason


def _record_read(
    request: TenantRequest, document: UnmatchedDocument, subject_id: str
) -> None:
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="unmatched_document",
        subject_id=subject_id,
        user_uuid=document.order.user.uuid if document.order else None,
    )
