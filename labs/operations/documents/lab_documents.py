"""Documents that labs send: store, check, open, and remove what has no row.

A document is held with its row until a job has scanned and opened it. Its file is
stored before the row names it, so a crash leaves at most a file without a row, which
the sweep removes.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from datetime import timedelta
from io import BytesIO
from typing import TYPE_CHECKING
from uuid import uuid4

import filetype
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.declarations.hooks import list_app_hooks
from labs.documents.pdf_check import PdfOutcome, check_pdf_opens
from labs.documents.sheet import Document
from labs.gateways.hl7.documents import DocumentUndecodable, decode_hl7_document
from labs.models import LabDocument
from labs.models.lab_document import POINTER_MAX_LENGTH
from labs.operations.documents.order_documents import render_results_report
from labs.operations.order_status.status import audit_order_change, lock_order
from labs.queries.results.documents import (
    find_current_results_number,
    find_lab_document_of_results,
    get_lab_document_by_number,
    get_newest_lab_document,
    list_lab_documents,
)
from labs.queries.results.results import get_results_of_order
from labs.states.lab_documents import (
    LAB_DOCUMENT_MOVES,
    DocumentFault,
    LabDocumentStatus,
    ResultPdfSource,
)
from portal.lib import storage
from portal.lib.database.transitions import move_status
from portal.lib.errors import DomainError, NotFound
from portal.lib.jobs.jobs import enqueue_job
from portal.lib.network.scanning import INFECTED, require_malware_free_upload

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any
    from uuid import UUID

    from accounts.models import Tenant
    from labs.gateways.hl7.documents import AttachedDocument
    from labs.gateways.hl7.reports import Report
    from labs.models import Order
    from portal.lib.actor import Actor

CHECK_JOB = "labs.check_lab_document"
FOLDER = "lab_documents"
MAX_BYTES = 10 * 1024 * 1024  # that of a message
ORPHAN_AGE = timedelta(days=1)
_NAME_MAX_LENGTH = 200
_PDF = "application/pdf"
_SIGNATURE_BYTES = 8192
_FAULTS = {
    PdfOutcome.ENCRYPTED: DocumentFault.ENCRYPTED,
    PdfOutcome.UNREADABLE: DocumentFault.UNREADABLE,
}


def store_documents_of_report(
    *, order: Order, actor: Actor, report: Report, holds_results: bool = False
) -> list[LabDocument]:
    """Store a report's documents as further ones of its order; return the new ones.

    `holds_results`: their values are to be read, as nothing else came with them. In the
    caller's transaction, after the report's results. Files are held until the job has
    checked them; what can't be a PDF is refused at once, and listed so. The same
    document again makes no version. Source: Ours: a corrected document takes the place
    of another by the lab's codes, of the test, the observation and its sub ID.
    """
    documents = _list_documents_with_series(report)
    if not documents:
        return []
    named = [
        (
            series,
            document.name,
            {**_build_fields(document), "holds_results": holds_results},
        )
        for series, document in documents
    ]
    return _store_documents(order, actor, named)


def store_signed_report_as_lab_document(
    *, order: Order, actor: Actor, report_id: UUID, name: str, content: bytes
) -> None:
    """Store the PDF of a signed report as a document of its order's lab.

    In the caller's transaction, after the results. A document that the lab sent itself
    is not stored again; it came with these results. Source: Ours: each report is a
    document of its own, as a later one may hold less.
    """
    digest = hashlib.sha256(content).hexdigest()
    number = find_current_results_number(order=order)
    for known in list_lab_documents(order=order):
        if known.sha256 == digest:
            if known.results_version is None or known.holds_results:
                known.results_version = number
                known.save(update_fields=["results_version"])
            return
    fields = {
        "status": LabDocumentStatus.HELD,
        "content": content,
        "size": len(content),
        "sha256": digest,
    }
    series = hashlib.sha256(f"report {report_id}".encode()).hexdigest()
    _store_documents(order, actor, [(series, name, fields)])


def _store_documents(
    order: Order, actor: Actor, documents: Iterable[tuple[str, str, dict[str, Any]]]
) -> list[LabDocument]:
    """Store the new ones of documents, each with its series, name and columns."""
    order = lock_order(order)
    before = list_lab_documents(order=order)
    latest = {one.series: one for one in before}
    number = before[-1].number if before else 0
    stored = []
    for series, name, fields in documents:
        known = latest.get(series)
        if known is not None and _is_same(known, fields):
            continue
        number += 1
        row = LabDocument(
            tenant=order.tenant,
            order=order,
            number=number,
            series=series,
            results_version=find_current_results_number(order=order),
            name=name[:_NAME_MAX_LENGTH],
            **fields,
        )
        row.save(force_insert=True)
        latest[series] = row
        stored.append(row)
        if row.status == LabDocumentStatus.HELD:
            enqueue_job(CHECK_JOB, tenant=order.tenant, document_id=str(row.pk))
        audit_order_change(
            order, actor, "store_lab_document", {"lab_document": [None, number]}
        )
    return stored


def check_lab_document(*, tenant: Tenant, document_id: UUID) -> None:
    """Scan and open a held document; make it available, or refuse it.

    Raises: scanner_unavailable, storage_unavailable (503), PdfCheckFailed; it is held
    until then. Source: Ours: a document that nobody could check is shown to nobody.
    """
    row = _find_held_document(tenant, document_id)
    if row is None:
        return
    content = bytes(row.content)
    fault = _find_fault(content)
    if fault is not None:
        _finish(row, LabDocumentStatus.REFUSED, fault=fault)
        return
    word = uuid4().hex
    name = f"{FOLDER}/{word[:2]}/{word}"
    with storage.write_stored_file(name) as opened:
        opened.write(content)
    try:
        _finish(row, LabDocumentStatus.AVAILABLE, stored_as=name)
    except DomainError:  # another run was first, or its order was erased
        storage.delete_stored_files([name])


def refuse_unreadable_lab_document(*, tenant: Tenant, document_id: UUID) -> None:
    """Refuse a held document that no run could open."""
    row = _find_held_document(tenant, document_id)
    if row is not None:
        _finish(row, LabDocumentStatus.REFUSED, fault=DocumentFault.UNREADABLE)


def get_order_result_pdf(
    *,
    order: Order,
    source: ResultPdfSource | None = None,
    number: int | None = None,
) -> Document:
    """Return the PDF of an order's results: the lab's where it holds them, else ours.

    source: one of both. number: of the lab's document, unless ours is asked for. The
    lab's is given by itself as find_lab_document_of_results says. Raises:
    lab_document_not_found (404), where the lab's is asked for; results_not_found (404).
    Source: Contract 6.16; Ours: the choice.
    """
    if source == ResultPdfSource.ASSAY:
        found = None
    elif number is not None:
        found = get_lab_document_by_number(order=order, number=number)
    elif source == ResultPdfSource.LAB:
        found = get_newest_lab_document(order=order)
    else:
        found = find_lab_document_of_results(order=order)
    if found is not None:
        return read_lab_document(found)
    return render_results_report(
        found=get_results_of_order(order=order), tenant=order.tenant
    )


def read_lab_document(document: LabDocument) -> Document:
    """Return an available document's file. Raises: lab_document_not_found (404)."""
    try:
        with storage.open_stored_file(document.stored_as) as file:
            body: bytes = file.read()
    except FileNotFoundError:
        raise NotFound("lab_document_not_found", _("Lab document not found.")) from None
    order = str(document.order_id)[:8]
    return Document(f"lab-document-{order}-{document.number}.pdf", body)


def delete_orphan_lab_documents() -> int:
    """Delete files older than ORPHAN_AGE without a row; return how many.

    Over all tenants. Source: Ours: what a crash left behind is health data.
    """
    before = timezone.now() - ORPHAN_AGE
    removed = 0
    for file in storage.list_stored_files(FOLDER):
        known = LabDocument.unscoped.filter(stored_as=file.name)
        if file.modified_at < before and not known.exists():
            storage.delete_stored_files([file.name])
            removed += 1
    storage.delete_unfinished_uploads(FOLDER)
    return removed


def _list_documents_with_series(report: Report) -> list[tuple[str, AttachedDocument]]:
    """List a report's documents, each with the digest of what it is a version of."""
    seen: Counter[tuple[str, ...]] = Counter()
    found = []
    for test in report.tests:
        for document in test.documents:
            if document.is_awaited:
                continue
            key = (test.code, document.code, document.sub_id)
            seen[key] += 1
            digest = hashlib.sha256(repr((*key, seen[key])).encode())
            found.append((digest.hexdigest(), document))
    return found


def _build_fields(document: AttachedDocument) -> dict[str, Any]:
    """Return the columns that say what a document is."""
    if document.is_withdrawn:
        return {"status": LabDocumentStatus.WITHDRAWN}
    if not document.data:
        return _refused(DocumentFault.EMPTY)
    if document.is_pointer:
        return {
            "status": LabDocumentStatus.REFERENCE,
            "pointer": document.data[:POINTER_MAX_LENGTH],
        }
    try:
        content = decode_hl7_document(document)
    except DocumentUndecodable:
        return _refused(DocumentFault.UNDECODABLE, document.data.encode())
    kind = filetype.guess(content[:_SIGNATURE_BYTES])
    if kind is None or kind.mime != _PDF:
        return _refused(DocumentFault.NOT_PDF, content)
    if document.is_declared_as_other_type:
        return _refused(DocumentFault.TYPE_MISMATCH, content)
    if len(content) > MAX_BYTES:
        return _refused(DocumentFault.TOO_LARGE, content)
    return {
        "status": LabDocumentStatus.HELD,
        "content": content,
        "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _refused(fault: DocumentFault, content: bytes = b"") -> dict[str, Any]:
    return {
        "status": LabDocumentStatus.REFUSED,
        "fault": fault,
        "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _is_same(known: LabDocument, fields: dict[str, Any]) -> bool:
    """Return whether a document says what the latest of its series says."""
    if LabDocumentStatus.WITHDRAWN in {known.status, fields["status"]}:
        return bool(known.status == fields["status"])
    said = (fields.get("sha256", ""), fields.get("pointer", ""))
    return (known.sha256, known.pointer) == said


def _find_held_document(tenant: Tenant, document_id: UUID) -> LabDocument | None:
    rows: Sequence[LabDocument] = LabDocument.objects.for_tenant(tenant).filter(
        pk=document_id, status=LabDocumentStatus.HELD
    )[:1]
    return next(iter(rows), None)


def _find_fault(content: bytes) -> DocumentFault | None:
    """Return why a PDF can't be shown, None if it can."""
    try:
        require_malware_free_upload(BytesIO(content))
    except DomainError as refusal:
        if refusal.code != INFECTED:
            raise
        return DocumentFault.INFECTED
    return _FAULTS.get(check_pdf_opens(content))


@transaction.atomic
def _finish(row: LabDocument, status: LabDocumentStatus, **changes: str) -> None:
    """Move a held document on; its row no longer holds the file.

    One that holds results goes to those who read them, in the same transaction. Raises:
    transition_not_allowed.
    """
    move_status(
        row,
        moves=LAB_DOCUMENT_MOVES,
        to=status,
        content=b"",
        checked_at=timezone.now(),
        **changes,
    )
    if status == LabDocumentStatus.AVAILABLE and row.holds_results:
        for hooks in list_app_hooks():
            for enqueue_reading in hooks.lab_document_readers:
                enqueue_reading(row.tenant, row.pk)
