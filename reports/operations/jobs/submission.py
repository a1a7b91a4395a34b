"""Submission of reports: check an upload, store its files and create its parsing job.

What can be refused within the bounds of a request is refused here and leaves nothing
behind; the rest is left to the worker.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_change
from labs.operations.results.deliveries import require_order_accepts_results
from labs.queries.orders.orders import get_order_with_details
from portal.lib.errors import DomainError, NotAllowed, NotFound, TooLarge
from portal.lib.jobs.jobs import enqueue_job
from portal.lib.network.scanning import require_malware_free_upload
from portal.lib.slots import NoSlot, Work, hold_work_slot
from portal.lib.translation import gettext_lazy
from reports.models import ParsingJob, ReportFile
from reports.operations.jobs.parsing import INSPECT_JOB, enqueue_parsing
from reports.operations.jobs.status import send_parsing_job_event
from reports.operations.reading.child_process import OutOfTime
from reports.operations.reading.extraction import check_upload_files_during_request
from reports.operations.reading.files import (
    NewFile,
    delete_stored_report_files,
    store_files_on_success,
)
from reports.parser.intake import (
    FileKind,
    RefusalCode,
    RefusedFile,
    detect_file_type_without_opening,
)
from users.queries import find_user

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from accounts.models import Tenant
    from labs.models import Order
    from portal.lib.actor import Actor


MAX_BYTES = 10_485_760  # Contract D11; of all parts together
MAX_PARTS = 8  # Contract 7.1


@dataclass(frozen=True, slots=True)
class ReportPart:
    """One uploaded file: its bytes and its stated media type."""

    content: bytes
    content_type: str


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """A report to parse: one PDF, or images of its pages in order.

    `order_id` is the order whose results it holds, at a lab that reports by document.
    """

    user_id: UUID
    parts: tuple[ReportPart, ...]
    needs_human_review: bool = False
    order_id: UUID | None = None


def require_report_parsing_enabled(tenant: Tenant) -> None:
    """Refuse if parsing is disabled for the tenant. Raises: parsing_not_enabled (403).

    Source: Contract 7.1; the specification enables it per account.
    """
    if not tenant.lab_report_parsing_enabled:
        raise NotAllowed(
            "parsing_not_enabled", _("Lab report parsing is not enabled for this team.")
        )


def submit_report(
    *, tenant: Tenant, actor: Actor, request: ReportRequest
) -> ParsingJob:
    """Store an upload and enqueue its parsing; the job is answered `upload_pending`.

    What the files are is decided here where a look of a few seconds can, else by the
    worker, by which the job fails with `invalid_input`. Raises: parsing_not_enabled
    (403); user_not_found (404); file_too_large (413); human_review_unavailable,
    file_missing, too_many_files, mixed_files, empty_file, unsupported_file_type,
    file_type_mismatch, encrypted_file, unreadable_file, too_many_pixels, file_infected
    (400); scanner_unavailable, storage_unavailable (503). With an order also
    order_not_found (404); order_of_other_user, order_not_by_document,
    results_not_expected (400); its report is always reviewed. Source: Contract 7.1,
    7.5; Ours: a hostile file must not hold the thread of a request.
    """
    require_report_parsing_enabled(tenant)
    found = find_user(tenant=tenant, user_id=request.user_id)
    if found is None:
        raise NotFound("user_not_found", _("User not found."), "user_id")
    user = found.user
    order = _get_order(tenant, request, found.user.uuid) if request.order_id else None
    needs_review = request.needs_human_review or order is not None
    if needs_review and not tenant.lab_report_human_review_enabled:
        raise DomainError(
            "human_review_unavailable",
            _("Clinician review is not enabled for this team."),
            "needs_human_review",
        )
    _check_sizes(request.parts)
    for part in request.parts:
        require_malware_free_upload(BytesIO(part.content))
    with store_files_on_success([part.content for part in request.parts]) as stored:
        files = _detect_file_kinds(stored, request.parts)
        is_inspected = _inspect_now(stored, files, tenant)
    is_written = False
    try:
        with transaction.atomic():
            job = ParsingJob(
                tenant=tenant,
                user_id=user.id,
                sha256=_digest(files),
                needs_human_review=needs_review,
                order=order,
                source_key=f"{actor.kind} {actor.key}",
                source_label=actor.label,
            )
            job.save(force_insert=True)
            for file in files:
                file.tenant, file.job = tenant, job
            ReportFile.objects.for_tenant(tenant).bulk_create(files)
            record_change(
                tenant=tenant,
                actor=actor,
                verb="submit_report",
                subject="parsing_job",
                subject_id=job.id,
                user_uuid=user.uuid,
            )
            send_parsing_job_event(job, "created")
            if is_inspected:
                enqueue_parsing(job)
            else:
                enqueue_job(
                    INSPECT_JOB,
                    tenant=tenant,
                    # One at a time: however many there are, workers stay for others.
                    lock=f"inspect:{tenant.pk}",
                    job_id=str(job.id),
                )
            is_written = True
    except BaseException:
        # A commit that fails may have been made, and its row needs the file: if it was
        # not, the sweep removes it.
        if not is_written:
            delete_stored_report_files([file.stored_as for file in files])
        raise
    return job


def _get_order(tenant: Tenant, request: ReportRequest, user_uuid: UUID) -> Order:
    """Return the order of a report. Raises: as submit_report."""
    assert request.order_id is not None  # noqa: S101 - for the type checker
    order = get_order_with_details(tenant=tenant, order_id=request.order_id)
    if order.user.uuid != user_uuid:
        raise DomainError(
            "order_of_other_user", _("This order is another user's."), "order_id"
        )
    if order.lab_account is None or not order.lab_account.reports_by_document:
        raise DomainError(
            "order_not_by_document",
            _("The lab account of this order does not report by document."),
            "order_id",
        )
    require_order_accepts_results(order)
    return order


def _check_sizes(parts: Sequence[ReportPart]) -> None:
    """What can be refused without opening a file."""
    if not parts:
        raise DomainError("file_missing", _("Choose a file."), "file")
    if len(parts) > MAX_PARTS:
        raise DomainError(
            "too_many_files",
            _("A report can have at most %(n)d images.") % {"n": MAX_PARTS},
            "file",
        )
    if sum(len(part.content) for part in parts) > MAX_BYTES:
        raise build_upload_too_large_error()
    if not all(part.content for part in parts):
        raise _refused(RefusalCode.EMPTY)


def build_upload_too_large_error() -> TooLarge:
    """Return the refusal of an upload over MAX_BYTES."""
    return TooLarge(
        RefusalCode.TOO_LARGE, _("An upload can have at most 10 MB."), "file"
    )


def _detect_file_kinds(
    stored: Sequence[NewFile], parts: Sequence[ReportPart]
) -> list[ReportFile]:
    """Detect each part's kind by its bytes; return the file rows to save."""
    try:
        files = [
            ReportFile(
                position=position,
                stored_as=new.name,
                content_type=detect_file_type_without_opening(
                    new.path, declared=part.content_type
                ),
                size=len(part.content),
                sha256=hashlib.sha256(part.content).hexdigest(),
            )
            for position, (new, part) in enumerate(zip(stored, parts, strict=True))
        ]
    except RefusedFile as refusal:
        raise _refused(refusal.code) from None
    if len(files) > 1 and any(file.content_type == FileKind.PDF for file in files):
        raise DomainError(
            "mixed_files",
            _("To upload several files, use JPEG or PNG images of pages."),
            "file",
        )
    return files


def _inspect_now(
    stored: Sequence[NewFile], files: Sequence[ReportFile], tenant: Tenant
) -> bool:
    """Inspect the files if a slot is free; return whether that decided."""
    opened = [
        (new.path, file.content_type) for new, file in zip(stored, files, strict=True)
    ]
    try:
        with hold_work_slot(Work.UPLOAD, tenant=tenant):
            check_upload_files_during_request(opened)
    except RefusedFile as refusal:
        raise _refused(refusal.code) from None
    except (NoSlot, OutOfTime):
        return False
    return True


_REFUSALS = {
    RefusalCode.EMPTY: gettext_lazy("The file is empty."),
    RefusalCode.UNSUPPORTED: gettext_lazy("Upload a PDF, JPEG or PNG file."),
    RefusalCode.MISMATCH: gettext_lazy("The file's content does not match its type."),
    RefusalCode.ENCRYPTED: gettext_lazy(
        "The PDF is encrypted. Save it without a password first."
    ),
    RefusalCode.UNREADABLE: gettext_lazy("The file is damaged or incomplete."),
    RefusalCode.TOO_MANY_PIXELS: gettext_lazy(
        "The image is larger than 60 megapixels."
    ),
}


def _refused(code: RefusalCode) -> DomainError:
    if code == RefusalCode.TOO_LARGE:
        return build_upload_too_large_error()
    return DomainError(code, str(_REFUSALS[code]), "file")


def _digest(files: Sequence[ReportFile]) -> str:
    if len(files) == 1:
        return files[0].sha256
    joined = "".join(file.sha256 for file in files)
    return hashlib.sha256(joined.encode()).hexdigest()
