"""Bulk export over HTTP: kick-off, status, files, cancellation.

Source: Bulk Data Access 2.0.
"""

from __future__ import annotations

from email.utils import format_datetime
from typing import TYPE_CHECKING, ClassVar

from django.core import signing
from django.http import FileResponse, HttpResponse

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from exchange.api.r4.bulk_inputs import read_export_request
from exchange.api.r4.views import FhirAPIView, fhir_response
from exchange.models import BulkExportFile
from exchange.models.bulk_export import BULK_EXPORT_RETENTION
from exchange.operations.bulk_exports import (
    cancel_bulk_export,
    find_bulk_export,
    request_bulk_export,
)
from exchange.resources.base import parse_uuid
from exchange.resources.datatypes import build_own_url
from exchange.resources.registry import RESOURCE_TYPES
from portal.lib import storage
from portal.lib.api.operation_outcome import build_operation_outcome
from portal.lib.errors import DomainError, NotFound

if TYPE_CHECKING:
    from uuid import UUID

    from django.http.response import HttpResponseBase
    from rest_framework.request import Request

    from exchange.models import BulkExport

NDJSON = "application/fhir+ndjson"
# How long the address of a file works; the manifest gives a new one each time.
FILE_URL_TTL_SECONDS = 60 * 60
RETRY_AFTER_SECONDS = 5
# The one group there is: everyone.
GROUP_OF_ALL = "all"
_SALT = "exchange.bulk-file"


class _BulkAPIView(FhirAPIView):
    """A view of exports; what may be read is decided by type."""

    resource = RESOURCE_TYPES["Patient"]
    fhir_type = "*"
    area = Area.USERS
    or_areas = (Area.ORDERS, Area.REPORTS, Area.BOOKINGS)

    def get_export(self, bulk_export_id: str) -> BulkExport:
        """Return an export of this caller. Raises: not_found."""
        return find_bulk_export(
            tenant=self.tenant, actor=self.actor, export_id=_read_id(bulk_export_id)
        )


class SystemExportView(_BulkAPIView):
    """GET and POST /fhir/R4/$export."""

    # Types that are about no patient, where patients are what is asked for.
    without: ClassVar[frozenset[str]] = frozenset()
    reading = ("POST",)

    def get(self, request: Request) -> HttpResponse:
        preferred = request.headers.get("Prefer", "").replace(" ", "").lower()
        if "respond-async" not in preferred.replace(";", ",").split(","):
            raise DomainError(
                "not_asynchronous", "Send the header Prefer: respond-async.", "Prefer"
            )
        export = request_bulk_export(
            tenant=self.tenant,
            actor=self.actor,
            areas=self.find_readable_areas(request),
            types=self.find_readable_types(request),
            request=read_export_request(
                given=[
                    (name, text)
                    for name, texts in request.query_params.lists()
                    for text in texts
                ],
                url=build_own_url(request.get_full_path().removeprefix("/fhir/")),
                without=self.without,
                lenient="handling=lenient" in preferred,
            ),
        )
        answer = HttpResponse(status=202)
        answer["Content-Location"] = build_own_url(f"R4/bulk/{export.pk}")
        return answer

    def post(self, request: Request) -> HttpResponse:
        return self.get(request)


class PatientExportView(SystemExportView):
    """GET and POST /fhir/R4/Patient/$export and /fhir/R4/Group/all/$export."""

    without = frozenset({"Organization"})


class ExportStatusView(_BulkAPIView):
    """GET and DELETE /fhir/R4/bulk/{id}."""

    reading = ("DELETE",)

    def get(self, request: Request, bulk_export_id: str) -> HttpResponse:
        export = self.get_export(bulk_export_id)
        if export.failed_at is not None:
            body = {"code": "export_failed", "detail": "The export failed. Try again."}
            return fhir_response(build_operation_outcome(500, body), 500)
        if export.finished_at is None:
            answer = HttpResponse(status=202)
            answer["X-Progress"] = f"{export.written} resources written"
            answer["Retry-After"] = str(RETRY_AFTER_SECONDS)
            return answer
        files = BulkExportFile.objects.for_tenant(self.tenant).filter(export=export)
        at = export.transaction_time
        manifest = {
            "transactionTime": at.isoformat() if at else None,
            "request": export.request_url,
            "requiresAccessToken": True,
            "output": [
                {
                    "type": file.type,
                    "url": _build_file_url(file),
                    "count": file.count,
                }
                for file in files.order_by("type", "number")
            ],
            "error": [],
        }
        answer = fhir_response(manifest)
        answer["Content-Type"] = "application/json"
        ends_at = export.requested_at + BULK_EXPORT_RETENTION
        answer["Expires"] = format_datetime(ends_at, usegmt=True)
        return answer

    def delete(self, request: Request, bulk_export_id: str) -> HttpResponse:
        cancel_bulk_export(
            tenant=self.tenant, actor=self.actor, export_id=_read_id(bulk_export_id)
        )
        return HttpResponse(status=202)


class ExportFileView(_BulkAPIView):
    """GET /fhir/R4/bulk/{id}/{file}: NDJSON, a resource a line."""

    def require_json(self, request: Request) -> None:
        """Accept whatever the caller takes: a file is NDJSON."""

    def get(
        self, request: Request, bulk_export_id: str, bulk_file_id: str
    ) -> HttpResponseBase:
        export = self.get_export(bulk_export_id)
        rows = BulkExportFile.objects.for_tenant(self.tenant)
        file = rows.filter(export=export, pk=_read_id(bulk_file_id)).first()
        if file is None or not _is_signed(file, request.query_params.get("s", "")):
            raise NotFound("not_found", "File not found, or its address has expired.")
        try:
            opened = storage.open_stored_file(file.stored_as)
        except FileNotFoundError:
            raise NotFound("not_found", "File not found.") from None
        self.record_export_read(export.pk)
        return FileResponse(
            opened, content_type=NDJSON, headers={"Content-Length": str(file.size)}
        )

    def record_export_read(self, export_id: UUID) -> None:
        """Record that a file of an export was fetched."""
        record_read(
            tenant=self.tenant,
            actor=self.actor,
            subject="bulk_export",
            subject_id=export_id,
        )


def _build_file_url(file: BulkExportFile) -> str:
    signature = signing.TimestampSigner(salt=_SALT).sign(str(file.pk))
    proof = signature.partition(":")[2]
    return build_own_url(f"R4/bulk/{file.export_id}/{file.pk}?s={proof}")


def _is_signed(file: BulkExportFile, proof: str) -> bool:
    signer = signing.TimestampSigner(salt=_SALT)
    try:
        signer.unsign(f"{file.pk}:{proof}", max_age=FILE_URL_TTL_SECONDS)
    except signing.BadSignature:
        return False
    return True


def _read_id(text: str) -> UUID:
    found = parse_uuid(text)
    if found is None:
        raise NotFound("not_found", "Export not found.")
    return found
