"""API views of documents that match no order: send, list, read, match, reject."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework.response import Response

from accounts.api.views import TenantAPIView
from accounts.operations.audit.entries import record_read
from accounts.states import Area
from portal.lib.api.fields import (
    parse_path_uuid,
    validate_post_body,
    validate_query_string,
)
from portal.lib.api.schema import describe_api_operation
from reports.api.v1.inputs import (
    DocumentInputs,
    DocumentQuery,
    MatchInputs,
    ReleaseInputs,
    ReportUploadParser,
    decode_document_cursor,
    encode_document_cursor,
    validate_document_upload,
)
from reports.api.v1.outputs import (
    DocumentDetailsAnswer,
    DocumentListAnswer,
    build_document_details,
)
from reports.operations.documents.matching import list_candidate_orders
from reports.operations.documents.receiving import receive_document
from reports.operations.documents.review import match_document, reject_document
from reports.operations.jobs.submission import require_report_parsing_enabled
from reports.parser.intake import MAX_BYTES
from reports.payloads import DocumentAnswer, build_document_event
from reports.queries.mail import get_unmatched_document, list_documents
from reports.states import DocumentStatus

if TYPE_CHECKING:
    from rest_framework.request import Request

    from reports.models import UnmatchedDocument


class DocumentAPIView(TenantAPIView):
    """Base of views about documents."""

    area = Area.REPORTS

    def get_document(self, document_id: str) -> UnmatchedDocument:
        """Return the path's document. Raises: 422; document_not_found (404)."""
        return get_unmatched_document(
            tenant=self.tenant, document_id=parse_path_uuid(document_id, "document_id")
        )

    def record_read_of(
        self, subject_id: object, document: UnmatchedDocument | None = None
    ) -> None:
        order = document.order if document else None
        record_read(
            tenant=self.tenant,
            actor=self.actor,
            subject="unmatched_document",
            subject_id=subject_id,
            user_uuid=order.user.uuid if order else None,
        )


class DocumentsView(DocumentAPIView):
    """Send documents without an order, and list them."""

    parser_classes = [ReportUploadParser]
    body_max_bytes = 2 * MAX_BYTES  # what is a little too large still gets its sentence

    @describe_api_operation(
        "create_unmatched_document",
        "Send a lab report without its order",
        answer=DocumentAnswer,
        body={"multipart/form-data": DocumentInputs},
        refuses=(400, 403, 413, 415, 503),
    )
    def post(self, request: Request) -> Response:
        """The order is found by what the document prints, or by a member.

        The same file again is the document that was sent first.
        """
        require_report_parsing_enabled(self.tenant)  # before ten megabytes are read
        part = validate_document_upload(request.data)
        document = receive_document(tenant=self.tenant, actor=self.actor, part=part)
        return Response(build_document_event(document))

    @describe_api_operation(
        "list_unmatched_documents",
        "List lab reports without an order",
        answer=DocumentListAnswer,
        query=DocumentQuery,
    )
    def get(self, request: Request) -> Response:
        """Newest first, including decided ones."""
        query = validate_query_string(request, DocumentQuery)
        status, limit = query.get("status"), query["limit"]
        found, total = list_documents(
            tenant=self.tenant,
            statuses=(status,) if status else (),
            after=decode_document_cursor(query),
            limit=limit + 1,
        )
        page = found[:limit]
        self.record_read_of(status or "all")
        has_more = len(found) > limit
        return Response(
            {
                "data": [build_document_event(one) for one in page],
                "next_cursor": encode_document_cursor(page[-1]) if has_more else None,
                "total": total,
            }
        )


class DocumentView(DocumentAPIView):
    """Get one document."""

    @describe_api_operation(
        "get_unmatched_document",
        "Get a lab report without an order",
        answer=DocumentDetailsAnswer,
        refuses=(404,),
    )
    def get(self, request: Request, document_id: str) -> Response:
        """While it waits, with the orders that it may belong to, likeliest first."""
        document = self.get_document(document_id)
        is_open = document.status == DocumentStatus.UNMATCHED
        candidates = (
            list_candidate_orders(
                tenant=self.tenant,
                metadata=document.metadata,
                rows=document.rows or [],
            )
            if is_open and document.metadata is not None
            else []
        )
        self.record_read_of(document.pk, document)
        return Response(build_document_details(document, candidates))


class MatchDocumentView(DocumentAPIView):
    """Match a document to an order."""

    @describe_api_operation(
        "match_unmatched_document",
        "Match a lab report to an order",
        answer=DocumentAnswer,
        body=MatchInputs,
        refuses=(400, 403, 404, 503),
    )
    def post(self, request: Request, document_id: str) -> Response:
        """It becomes a report of the order; `job_id` is its parsing job.

        Repeated with the same order it changes nothing.
        """
        document = self.get_document(document_id)
        given = validate_post_body(request, MatchInputs)
        matched = match_document(
            document=document,
            actor=self.actor,
            order_id=given["order_id"],
            why=given["reason"],
        )
        return Response(build_document_event(matched))


class RejectDocumentView(DocumentAPIView):
    """Reject a document."""

    @describe_api_operation(
        "reject_unmatched_document",
        "Reject a lab report that belongs to no order",
        answer=DocumentAnswer,
        body=ReleaseInputs,
        refuses=(400, 404),
    )
    def post(self, request: Request, document_id: str) -> Response:
        """A member can restore it on its page."""
        document = self.get_document(document_id)
        given = validate_post_body(request, ReleaseInputs)
        rejected = reject_document(
            document=document, actor=self.actor, why=given["reason"]
        )
        return Response(build_document_event(rejected))
