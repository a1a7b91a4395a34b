"""What an upload holds, part by part, and how it is read off the wire within bounds."""

from __future__ import annotations

from datetime import datetime
from io import BytesIO
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.core.exceptions import SuspiciousOperation
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler
from rest_framework import serializers
from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.parsers import DataAndFiles, MultiPartParser

from portal.lib.api.errors import RequestInvalid, list_validation_errors
from portal.lib.api.fields import Inputs, OpenEnum, QueryInt, Uuid
from portal.lib.api.pagination import (
    CursorInputs,
    build_invalid_cursor_error,
    decode_page_cursor,
    encode_page_cursor,
)
from reports.operations.jobs.submission import (
    MAX_BYTES,
    ReportPart,
    ReportRequest,
    build_upload_too_large_error,
)
from reports.states import DocumentStatus, RejectionReason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reports.models import UnmatchedDocument


DOCUMENTS_MAX = 100  # a page
# What the other parts, headers and boundaries may add to the files.
OVERHEAD_BYTES = 64 * 1024


class BoundedUpload(FileUploadHandler):
    """Keeps files in memory and refuses the request once they pass MAX_BYTES.

    Raises: file_too_large (413), by the stated length before a byte is read.
    """

    def __init__(self) -> None:
        super().__init__()
        self.received = 0
        self.file = BytesIO()

    def handle_raw_input(
        self, _input: Any, _meta: Any, content_length: int, *_more: Any
    ) -> None:
        if content_length > MAX_BYTES + OVERHEAD_BYTES:
            raise build_upload_too_large_error()

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        self.file = BytesIO()

    def receive_data_chunk(self, raw_data: bytes, _start: int) -> None:
        self.received += len(raw_data)
        if self.received > MAX_BYTES:
            raise build_upload_too_large_error()
        self.file.write(raw_data)

    def file_complete(self, file_size: int) -> UploadedFile[bytes]:
        self.file.seek(0)
        return UploadedFile(
            file=self.file,
            name=self.file_name,
            content_type=self.content_type or "",
            size=file_size,
        )


class ReportUploadParser(MultiPartParser):
    """multipart/form-data whose files pass through BoundedUpload."""

    def parse(
        self,
        stream: Any,
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> DataAndFiles[Any, Any]:
        context = dict(parser_context or {})
        context["request"]._request.upload_handlers = [BoundedUpload()]
        try:
            return super().parse(stream, media_type, context)
        except SuspiciousOperation:  # too many or too long other parts
            raise ParseError from None


class _Flag(serializers.BooleanField):
    """`true` or `false` as text; absent is false."""

    def to_internal_value(self, data: Any) -> bool:
        match str(data).lower():
            case "true":
                return True
            case "false":
                return False
        raise ValidationError('Must be "true" or "false".', code="bool_parsing")


class ParsingJobInputs(Inputs):
    """A report to parse: one PDF, or images of its pages (contract 7.1)."""

    file = serializers.ListField(
        child=serializers.FileField(allow_empty_file=True),
        help_text="One PDF, JPEG or PNG file, or up to 8 JPEG or PNG images, one page"
        " each, in order. At most 10 MB in total.",
    )
    user_id = Uuid()
    needs_human_review = _Flag(required=False, default=False)
    order_id = Uuid(
        required=False,
        help_text="The order whose results the report holds. Its lab account must"
        " report by document. A clinician always reviews the report.",
    )


class ReleaseInputs(Inputs):
    """Why a held report may be used after all."""

    reason = serializers.CharField(max_length=1000)


class RejectInputs(Inputs):
    """Why a held report has no usable values."""

    reason = serializers.ChoiceField(choices=RejectionReason.choices)
    note = serializers.CharField(
        max_length=1000, required=False, default="", allow_blank=True
    )


class MoveInputs(Inputs):
    """The order that a report belongs to, if any, and why."""

    order_id = Uuid(
        required=False,
        help_text="An order of the same user, whose lab account reports by document."
        " Null detaches the report from its order.",
    )
    reason = serializers.CharField(max_length=1000)


class DocumentInputs(Inputs):
    """A document of which the order is not known."""

    file = serializers.ListField(
        child=serializers.FileField(allow_empty_file=True),
        min_length=1,
        max_length=1,
        help_text="One PDF, JPEG or PNG file of at most 10 MB.",
    )


class DocumentQuery(CursorInputs):
    """Filters of a list of documents without an order."""

    limit = QueryInt(default=50, min_value=1, max_value=DOCUMENTS_MAX)
    status = OpenEnum(DocumentStatus, required=False)


class MatchInputs(Inputs):
    """The order that a document belongs to, and why."""

    order_id = Uuid()
    reason = serializers.CharField(max_length=1000)


class ParsingJobQuery(Inputs):
    """`include=provenance` adds the position of each result (contract 10)."""

    include = serializers.ListField(
        child=serializers.CharField(allow_blank=True), required=False
    )


def validate_document_upload(form: Any) -> ReportPart:
    """Validate the part of an upload. Raises: 422 below `body`."""
    inputs = DocumentInputs(data=form)
    if not inputs.is_valid():
        raise RequestInvalid(list(list_validation_errors(inputs.errors, ("body",))))
    (file,) = inputs.validated_data["file"]
    return ReportPart(content=file.read(), content_type=file.content_type)


def encode_document_cursor(document: UnmatchedDocument) -> str:
    """Return the cursor that continues a list after a document."""
    return encode_page_cursor([document.received_at.isoformat(), str(document.pk)])


def decode_document_cursor(query: Mapping[str, Any]) -> tuple[datetime, UUID] | None:
    """Return where a page starts; None at the first. Raises: 422 at next_cursor."""
    if "next_cursor" not in query:
        return None
    at, key = decode_page_cursor(query["next_cursor"], length=2)
    try:
        moment, found = datetime.fromisoformat(at), UUID(key)
    except ValueError:
        raise build_invalid_cursor_error() from None
    if moment.tzinfo is None:
        raise build_invalid_cursor_error()
    return moment, found


def validate_report_upload(form: Any) -> ReportRequest:
    """Validate the parts of an upload. Raises: 422 below `body`."""
    inputs = ParsingJobInputs(data=form)
    if not inputs.is_valid():
        raise RequestInvalid(list(list_validation_errors(inputs.errors, ("body",))))
    read = inputs.validated_data
    return ReportRequest(
        user_id=read["user_id"],
        parts=tuple(
            ReportPart(content=file.read(), content_type=file.content_type)
            for file in read["file"]
        ),
        needs_human_review=read["needs_human_review"],
        order_id=read.get("order_id"),
    )
