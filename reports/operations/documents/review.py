"""Decide about documents without an order: match, reject, restore.

Each decision is audited with its reason.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_change
from labs.queries.orders.orders import get_order_with_details
from portal.lib import storage
from portal.lib.database.transitions import move_status
from portal.lib.errors import DomainError, NotFound
from reports.models import UnmatchedDocument
from reports.operations.documents.events import emit_document_event
from reports.operations.jobs.submission import (
    ReportPart,
    ReportRequest,
    submit_report,
)
from reports.operations.reading.files import delete_stored_report_files
from reports.operations.review.reviews import validate_review_reason
from reports.states import DOCUMENT_MOVES, DocumentStatus

if TYPE_CHECKING:
    from uuid import UUID

    from labs.models import Order
    from portal.lib.actor import Actor


@transaction.atomic
def match_document(
    *, document: UnmatchedDocument, actor: Actor, order_id: UUID, why: str
) -> UnmatchedDocument:
    """Match an unmatched document to an order; it becomes a report of it.

    The report is checked as every other, and a clinician reviews it. Matched to this
    order before: nothing changes. Raises: reason_missing, reason_too_long;
    order_not_found (404); document_not_read; transition_not_allowed; as
    submit_report.
    """
    reason = validate_review_reason(why)
    row = lock_document(document)
    order = get_order_with_details(tenant=row.tenant, order_id=order_id)
    if row.status == DocumentStatus.MATCHED and row.order_id == order.pk:
        return row
    if row.status == DocumentStatus.READING:
        raise DomainError(
            "document_not_read", _("The document is still being read. Try again later.")
        )
    return submit_document_as_report(
        document=row, actor=actor, order=order, why=reason, by=actor.label
    )


def submit_document_as_report(
    *,
    document: UnmatchedDocument,
    actor: Actor,
    order: Order,
    why: str = "",
    by: str = "",
) -> UnmatchedDocument:
    """Submit a locked document as a report of an order; its file goes with it.

    In the caller's transaction. Who sent the document is who sent the report. Raises:
    transition_not_allowed; as submit_report.
    """
    name = document.stored_as
    move_status(
        document,
        moves=DOCUMENT_MOVES,
        to=DocumentStatus.MATCHED,
        order=order,
        stored_as="",
        metadata=None,
        rows=None,
        resolved_at=timezone.now(),
        resolved_by=by,
        why=why,
    )
    document.job = submit_report(
        tenant=document.tenant,
        actor=actor,
        request=ReportRequest(
            user_id=order.user.uuid,
            parts=(ReportPart(_read(name), document.content_type),),
            order_id=order.pk,
        ),
    )
    document.save(update_fields=["job"])
    transaction.on_commit(partial(delete_stored_report_files, [name]))
    _record(document, actor, "match_document", order=[None, str(order.pk)], why=why)
    return document


@transaction.atomic
def reject_document(
    *, document: UnmatchedDocument, actor: Actor, why: str
) -> UnmatchedDocument:
    """Reject a document that belongs to no order; it can be restored.

    Raises: reason_missing, reason_too_long; transition_not_allowed.
    """
    reason = validate_review_reason(why)
    row = lock_document(document)
    move_status(
        row,
        moves=DOCUMENT_MOVES,
        to=DocumentStatus.REJECTED,
        resolved_at=timezone.now(),
        resolved_by=actor.label,
        why=reason,
    )
    _record(row, actor, "reject_document", why=reason)
    return row


@transaction.atomic
def restore_document(*, document: UnmatchedDocument, actor: Actor) -> UnmatchedDocument:
    """Restore a rejected document to unmatched. Raises: transition_not_allowed."""
    row = lock_document(document)
    move_status(
        row,
        moves=DOCUMENT_MOVES,
        to=DocumentStatus.UNMATCHED,
        resolved_at=None,
        resolved_by="",
        why="",
    )
    _record(row, actor, "restore_document")
    return row


def lock_document(document: UnmatchedDocument) -> UnmatchedDocument:
    """Return the document as it is now, locked until the transaction ends."""
    rows = UnmatchedDocument.objects.for_tenant(document.tenant)
    found: UnmatchedDocument = rows.select_for_update(of=("self",)).get(pk=document.pk)
    found.tenant = document.tenant
    return found


def _read(name: str) -> bytes:
    try:
        with storage.open_stored_file(name) as file:
            content: bytes = file.read()
    except FileNotFoundError:
        raise NotFound("document_not_found", _("The file is gone.")) from None
    return content


def _record(
    document: UnmatchedDocument, actor: Actor, verb: str, **changes: object
) -> None:
    record_change(
        tenant=document.tenant,
        actor=actor,
        verb=verb,
        subject="unmatched_document",
        subject_id=document.pk,
        user_uuid=document.order.user.uuid if document.order else None,
        changes=changes,
    )
    emit_document_event(document, "updated")
