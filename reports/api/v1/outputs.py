"""Answers of documents that match no order."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from reports.payloads import (
    DocumentAnswer,
    ReportMetadataAnswer,
    build_document_event,
    build_report_metadata,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reports.models import UnmatchedDocument
    from reports.operations.documents.matching import DocumentCandidate


class DocumentCandidateAnswer(TypedDict):
    """An order that a document may belong to; null: not comparable."""

    order_id: str
    user_id: str
    sample_id: bool
    name: bool | None
    birth_date: bool | None
    sex: bool | None
    ordered_results: int
    accepts_results: bool


class DocumentDetailsAnswer(DocumentAnswer):
    """A document with what it prints, and orders that it may belong to."""

    note: str | None
    metadata: ReportMetadataAnswer | None
    candidates: list[DocumentCandidateAnswer]


class DocumentListAnswer(TypedDict):
    """A page of documents without an order."""

    data: list[DocumentAnswer]
    next_cursor: str | None
    total: int


def build_document_details(
    document: UnmatchedDocument, candidates: Iterable[DocumentCandidate]
) -> DocumentDetailsAnswer:
    """Return a document with what it prints; null once it is matched."""
    return {
        **build_document_event(document),
        "note": document.why or None,
        "metadata": None
        if document.metadata is None
        else build_report_metadata(document.metadata),
        "candidates": [
            {
                "order_id": str(one.order.pk),
                "user_id": str(one.order.user.uuid),
                "sample_id": one.has_number,
                "name": one.name,
                "birth_date": one.birth_date,
                "sex": one.sex,
                "ordered_results": one.ordered,
                "accepts_results": one.accepts_results,
            }
            for one in candidates
        ],
    }
