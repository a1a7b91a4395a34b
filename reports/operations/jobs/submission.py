"""Submission of reports: check an upload, store its files and create its parsing job.

What can be refused within the bounds of a request is refused here and leaves nothing
behind; the rest is left to the worker.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_change
from labs.operations.order_status.status import lock_order
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
from reports.states import ParsingJobStatus
from users.queries import find_user

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from accounts.models import Tenant
    from labs.models import Order
    from portal.lib.actor import Actor
    from reports.models import ParsingJobQuerySet


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


def require_clinician_review_enabled(tenant: Tenant) -> None:
    """Refuse if reports can't be reviewed. Raises: human_review_unavailable."""
    if not tenant.lab_report_human_review_enabled:
        raise DomainError(
            "human_review_unavailable",
            _("Clinician review is not enabled for this team."),
            "needs_human_review",
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
    results_not_expected (400); its report is always reviewed, and the same file again
    is the report that the order has. Source: Contract 7.1, 7.5; Ours: a hostile file
    must not hold the thread of a request.
    """
    require_report_parsing_enabled(tenant)
    found = find_user(tenant=tenant, user_id=request.user_id)
    if found is None:
        raise NotFound("user_not_found", _("User not found."), "user_id")
    user = found.user
    order = (
        get_order_for_report(
            tenant=tenant, order_id=request.order_id, user_uuid=user.uuid
        )
        if request.order_id
        else None
    )
    needs_review = request.needs_human_review or order is not None
    if needs_review:
        require_clinician_review_enabled(tenant)
    files, is_inspected = check_and_store_files(tenant=tenant, parts=request.parts)
    is_written = False
    try:
        with transaction.atomic():
            known = _find_same_report_of_order(order, files) if order else None
            if known is not None:
                transaction.on_commit(partial(_delete_files, files))
                return known
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
            _delete_files(files)
        raise
    return job


def check_and_store_files(
    *, tenant: Tenant, parts: Sequence[ReportPart]
) -> tuple[list[ReportFile], bool]:
    """Check and store the files of one report; return their rows, which are not saved.

    And whether they could be opened, which a worker finds out otherwise. Raises: as
    submit_report of files; nothing is stored then.
    """
    _check_sizes(parts)
    for part in parts:
        require_malware_free_upload(BytesIO(part.content))
    with store_files_on_success([part.content for part in parts]) as stored:
        files = _detect_file_kinds(stored, parts)
        is_inspected = _inspect_now(stored, files, tenant)
    return files, is_inspected


def _delete_files(files: Sequence[ReportFile]) -> None:
    delete_stored_report_files([file.stored_as for file in files])


def _find_same_report_of_order(
    order: Order, files: Sequence[ReportFile]
) -> ParsingJob | None:
    """Return the order's report of the same file, unless that failed.

    Locks the order: of two uploads at once, by hand and by mail, one is the report.
    """
    lock_order(order)
    jobs: ParsingJobQuerySet = ParsingJob.objects.for_tenant(order.tenant).live()
    found: ParsingJob | None = (
        jobs.filter(order=order, sha256=_digest(files))
        .exclude(status=ParsingJobStatus.FAILED)
        .select_related("user")
        .first()
    )
    if found is not None:
        found.tenant = order.tenant
    return found


def get_order_for_report(*, tenant: Tenant, order_id: UUID, user_uuid: UUID) -> Order:
    """Return an order that takes reports of a user.

    Raises: order_not_found (404); order_of_other_user, order_not_by_document,
    results_not_expected.
    """
    order = get_order_with_details(tenant=tenant, order_id=order_id)
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
