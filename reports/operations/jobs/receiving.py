"""Take documents that a lab sent in its messages as reports of their orders."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from labs.operations.documents.lab_documents import read_lab_document
from labs.queries.results.documents import find_lab_document_with_results
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import DomainError, Unavailable
from portal.lib.jobs.jobs import enqueue_job
from reports.models import ParsingJob
from reports.operations.jobs.submission import (
    ReportPart,
    ReportRequest,
    submit_report,
)
from reports.parser.intake import FileKind

if TYPE_CHECKING:
    from uuid import UUID

    from accounts.models import Tenant

RECEIVE_JOB = "reports.receive_lab_document"
_log = logging.getLogger(__name__)


def enqueue_lab_document_reading(tenant: Tenant, document_id: UUID) -> None:
    """Enqueue taking a lab's document as a report, in the caller's transaction."""
    enqueue_job(
        RECEIVE_JOB,
        tenant=tenant,
        lock=f"lab_document:{document_id}",
        document_id=str(document_id),
    )


def receive_lab_document(*, tenant: Tenant, document_id: UUID) -> ParsingJob | None:
    """Submit a lab's document as a report of its order; None if it can't be one.

    Safe to repeat: a document is submitted once. What can't be submitted, as its order
    has ended or the team does not read reports, stays a document of its order. Raises:
    storage_unavailable, scanner_unavailable (503); the job runs again. Source: Ours: a
    document in a message is as good as one by hand.
    """
    document = find_lab_document_with_results(tenant=tenant, document_id=document_id)
    if document is None:
        return None
    actor = Actor(
        ActorKind.SYSTEM, f"lab_document {document.pk}", document.order.lab.name
    )
    source = f"{actor.kind} {actor.key}"
    jobs = ParsingJob.objects.for_tenant(tenant).filter(order=document.order_id)
    if jobs.filter(source_key=source).exists():
        return None
    content = read_lab_document(document).body
    try:
        return submit_report(
            tenant=tenant,
            actor=actor,
            request=ReportRequest(
                user_id=document.order.user.uuid,
                parts=(ReportPart(content, FileKind.PDF.value),),
                order_id=document.order_id,
            ),
        )
    except Unavailable:
        raise
    except DomainError as refusal:
        _log.warning("lab document %s was not read: %s", document.pk, refusal.code)
        return None
