"""Events of documents without an order, in the caller's transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from accounts.webhooks.operations import UserRef, emit_event
from reports.payloads import build_document_event

if TYPE_CHECKING:
    from reports.models import UnmatchedDocument

# An envelope always names a user (contract 8.1), and here nobody is known yet.
NOBODY = UserRef(UUID(int=0), "")


def emit_document_event(document: UnmatchedDocument, what: str) -> None:
    """Emit that a document waits for its order, or that a member decided.

    what: `created` or `updated`. The user is that of the matched order, else the nil
    UUID. No patient details, as of unmatched results (contract 8.2).
    """
    emit_event(
        tenant=document.tenant,
        user=document.order.user.ref if document.order else NOBODY,
        event_type=f"lab_report.unmatched_document.{what}",
        data=build_document_event(document),
    )
