"""Read a received document and match it to its order, as the worker runs it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import transaction

from accounts.models import Tenant
from portal.lib.actor import Actor
from portal.lib.database.transitions import move_status
from portal.lib.errors import DomainError, Unavailable
from reports.models import ReportFile, UnmatchedDocument
from reports.operations.documents.events import emit_document_event
from reports.operations.documents.matching import find_order_of_document
from reports.operations.documents.receiving import READ_JOB
from reports.operations.documents.review import (
    lock_document,
    submit_document_as_report,
)
from reports.operations.loinc_codes import decide_loinc_codes_of_report
from reports.operations.reading.extraction import parse_stored_report_files
from reports.operations.reading.files import open_local_copies_of_files
from reports.parser.report import NoteCode, UnreadableReport
from reports.states import DOCUMENT_MOVES, DocumentReason, DocumentStatus

if TYPE_CHECKING:
    from labs.models import Order
    from reports.parser.report import ParsedReport

READER = Actor.system(READ_JOB)


def read_document(*, tenant_pk: int, document_id: UUID) -> None:
    """Read a document and match it, or leave it to a person.

    Safe to repeat. Raises: storage_unavailable, scanner_unavailable (503); the job runs
    again.
    """
    document = _find_document(tenant_pk, document_id)
    if document is None:
        return
    tenant = document.tenant
    try:
        report = _parse(document)
    except UnreadableReport:
        _leave_to_a_person(document, DocumentReason.UNREADABLE)
        return
    metadata = dataclasses.asdict(report.metadata)
    rows = _list_rows(report)
    read = {"metadata": metadata, "rows": rows, "pages": report.pages}
    if not rows:
        _leave_to_a_person(document, DocumentReason.UNREADABLE, **read)
    elif any(note.code is NoteCode.SECOND_PERSON for note in report.notes):
        _leave_to_a_person(document, DocumentReason.SEVERAL_PATIENTS, **read)
    else:
        match = find_order_of_document(tenant=tenant, metadata=metadata, rows=rows)
        reason = match.reason
        if match.order is not None:
            reason = _submit(document, match.order)
        if reason is not None:
            _leave_to_a_person(document, reason, **read)


def leave_unreadable_document(*, tenant_pk: int, document_id: UUID) -> None:
    """Leave a document to a person after all runs of its reading failed."""
    document = _find_document(tenant_pk, document_id)
    if document is not None:
        _leave_to_a_person(document, DocumentReason.UNREADABLE)


def _submit(document: UnmatchedDocument, order: Order) -> DocumentReason | None:
    """Submit a document as a report of its order; return why it can't be."""
    try:
        with transaction.atomic():
            locked = lock_document(document)
            if locked.status == DocumentStatus.READING:
                submit_document_as_report(document=locked, actor=READER, order=order)
    except Unavailable:
        raise
    except DomainError as refusal:
        if refusal.code in {"parsing_not_enabled", "human_review_unavailable"}:
            return DocumentReason.REVIEW_DISABLED
        if refusal.code == "results_not_expected":
            return DocumentReason.NOT_EXPECTED
        return DocumentReason.UNREADABLE  # what only the worker could find out
    return None


@transaction.atomic
def _leave_to_a_person(
    document: UnmatchedDocument, reason: DocumentReason, **read: Any
) -> None:
    locked = lock_document(document)
    if locked.status != DocumentStatus.READING:
        return
    move_status(
        locked,
        moves=DOCUMENT_MOVES,
        to=DocumentStatus.UNMATCHED,
        reason=reason,
        **read,
    )
    emit_document_event(locked, "created")


def _parse(document: UnmatchedDocument) -> ParsedReport:
    file = ReportFile(stored_as=document.stored_as, content_type=document.content_type)
    with open_local_copies_of_files([file]) as paths:
        report = parse_stored_report_files(*paths)
    return decide_loinc_codes_of_report(tenant=document.tenant, report=report)


def _list_rows(report: ParsedReport) -> list[dict[str, str]]:
    return [
        {
            "name": one.test_name,
            "value": one.value,
            "unit": one.units or "",
            "loinc": one.loinc_matches[0].loinc_code if one.loinc_matches else "",
        }
        for one in report.results
    ]


def _find_document(tenant_pk: int, document_id: UUID) -> UnmatchedDocument | None:
    """Return a document that is to be read, None if it was."""
    tenant = Tenant.objects.select_related("team").filter(pk=tenant_pk).first()
    if tenant is None:
        return None
    rows = UnmatchedDocument.objects.for_tenant(tenant)
    found: UnmatchedDocument | None = rows.filter(
        pk=document_id, status=DocumentStatus.READING
    ).first()
    if found is not None:
        found.tenant = tenant
    return found
