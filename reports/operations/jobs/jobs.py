"""Parsing jobs: submit and parse a report; the only writer of a job's status."""

from __future__ import annotations

import dataclasses
import hashlib
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import Tenant
from accounts.operations.audit.entries import record_change
from accounts.webhooks.operations import UserRef, emit_event
from portal.lib.actor import Actor
from portal.lib.database.transitions import move_status
from portal.lib.errors import DomainError, NotAllowed, NotFound, TooLarge
from portal.lib.jobs.jobs import enqueue_job
from portal.lib.network.scanning import require_malware_free_upload
from portal.lib.slots import NoSlot, Work, hold_work_slot
from portal.lib.translation import gettext_lazy
from reports.models import ParsingJob, ParsingJobTransition, ReportFile, ReportResult
from reports.operations.loinc_codes import decide_loinc_codes_of_report
from reports.operations.reading.extraction import (
    OutOfTime,
    check_upload_files,
    check_upload_files_during_request,
    parse_stored_report_files,
)
from reports.operations.reading.files import (
    NewFile,
    delete_stored_report_files,
    open_local_copies_of_files,
    store_files_on_success,
)
from reports.operations.reading.page_images import DRAW_JOB
from reports.operations.reading.parsed_rows import (
    build_unsaved_result_rows,
    serialize_check_notes,
)
from reports.operations.review.reviews import (
    build_initial_review_rows,
    open_report_review,
)
from reports.parser.checks import check_dates_not_after
from reports.parser.intake import (
    FileKind,
    RefusalCode,
    RefusedFile,
    detect_file_type_without_opening,
)
from reports.parser.report import FailureReason, UnreadableReport
from reports.payloads import build_parsing_job_payload
from reports.queries import list_report_files
from reports.states import JOB_MOVES, ParsingJobStatus
from users.queries import find_user

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from reports.parser.report import ParsedReport

MAX_BYTES = 10_485_760  # Contract D11; of all parts together
MAX_PARTS = 8  # Contract 7.1
INSPECT_JOB = "reports.inspect"
PARSE_JOB = "reports.parse"
PARSER = Actor.system(PARSE_JOB)
EMITTED = frozenset(
    {
        ParsingJobStatus.COMPLETED,
        ParsingJobStatus.FAILED,
        ParsingJobStatus.PENDING_REVIEW,
    }
)  # Contract 7.5


@dataclass(frozen=True, slots=True)
class ReportPart:
    """One uploaded file: its bytes and its stated media type."""

    content: bytes
    content_type: str


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """A report to parse: one PDF, or images of its pages in order."""

    user_id: UUID
    parts: tuple[ReportPart, ...]
    needs_human_review: bool = False


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
    (400); scanner_unavailable, storage_unavailable (503). Source: Contract 7.1, 7.5;
    Ours: a hostile file must not hold the thread of a request.
    """
    require_report_parsing_enabled(tenant)
    found = find_user(tenant=tenant, user_id=request.user_id)
    if found is None:
        raise NotFound("user_not_found", _("User not found."), "user_id")
    user = found.user
    if request.needs_human_review and not tenant.lab_report_human_review_enabled:
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
                needs_human_review=request.needs_human_review,
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
                _enqueue_parsing(job)
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


def inspect_submitted_report(*, tenant_pk: int, job_id: UUID) -> None:
    """Inspect an upload that the request could not, then enqueue its parsing.

    What is refused fails with `invalid_input`, which the job's history explains by the
    refusal's code. Safe to repeat. Source: Contract 7.1, 7.3.
    """
    job = _find_job(tenant_pk, job_id)
    if job is None or job.status != ParsingJobStatus.UPLOAD_PENDING:
        return
    try:
        _inspect_stored(job)
    except RefusedFile as refused:
        reason, why = FailureReason.INVALID_INPUT, refused.code.value
    except UnreadableReport as unreadable:
        reason, why = unreadable.reason, ""
    else:
        _enqueue_parsing(job)
        return
    with transaction.atomic():
        if _lock(job).status == ParsingJobStatus.UPLOAD_PENDING:
            mark_parsing_job_failed(job=job, actor=PARSER, reason=reason, why=why)


def parse_submitted_report(*, tenant_pk: int, job_id: UUID) -> None:
    """Parse a job's file and store the outcome (run by the worker).

    Safe to repeat and to run twice at once: a job whose reading was cut short is read
    again, one that has ended is left alone. Source: Contract 7.3; Ours: jobs run at
    least once.
    """
    job = _find_job(tenant_pk, job_id)
    if job is None or not _is_open(job):
        return
    if job.status == ParsingJobStatus.UPLOAD_PENDING:
        mark_parsing_job_started(job=job, actor=PARSER)
    try:
        report = parse_uploaded_files(job)
    except UnreadableReport as refusal:
        outcome: ParsedReport | FailureReason = refusal.reason
    else:
        outcome = report if report.results else FailureReason.INVALID_INPUT
    with transaction.atomic():
        if not _is_open(_lock(job)):  # another run was quicker
            return
        if isinstance(outcome, FailureReason):
            mark_parsing_job_failed(job=job, actor=PARSER, reason=outcome)
        else:
            store_parsing_results(job=job, actor=PARSER, report=outcome)


@transaction.atomic
def fail_parsing_after_retries(*, tenant_pk: int, job_id: UUID) -> None:
    """Fail a job after all its runs failed, so that it does not stay open."""
    job = _find_job(tenant_pk, job_id)
    if job is not None and _is_open(_lock(job)):
        mark_parsing_job_failed(
            job=job, actor=PARSER, reason=FailureReason.PROCESSING_ERROR
        )


@transaction.atomic
def mark_parsing_job_started(*, job: ParsingJob, actor: Actor) -> ParsingJob:
    """Mark a job as started. Raises: transition_not_allowed."""
    return _change_status_for(
        job, ParsingJobStatus.STARTED, actor, verb="start_parsing"
    )


@transaction.atomic
def store_parsing_results(
    *, job: ParsingJob, actor: Actor, report: ParsedReport
) -> ParsingJob:
    """Store the results, and complete the job or send it to review.

    A reviewer gets what the upload asked for, and a report with a row below the team's
    bound of confidence; the wire's `needs_human_review` stays as submitted. Raises:
    transition_not_allowed. Source: Contract 7.2, 7.3; the bound is Ours.
    """
    today = timezone.now().date()
    late = check_dates_not_after(report.metadata, today=today)
    report = dataclasses.replace(report, notes=(*report.notes, *late))
    rows = build_unsaved_result_rows(report)
    for row in rows:
        row.tenant, row.job = job.tenant, job
    ReportResult.objects.for_tenant(job.tenant).bulk_create(rows)
    notes = serialize_check_notes(report)
    wants_review = job.needs_human_review or _is_below_confidence_threshold(
        job.tenant, report
    )
    if wants_review:
        open_report_review(job=job, rows=build_initial_review_rows(rows), notes=notes)
        enqueue_job(DRAW_JOB, tenant=job.tenant, job_id=str(job.id))
    return _change_status_for(
        job,
        ParsingJobStatus.PENDING_REVIEW if wants_review else ParsingJobStatus.COMPLETED,
        actor,
        verb="finish_parsing",
        metadata=dataclasses.asdict(report.metadata),
        notes=notes,
        unread=[dataclasses.asdict(place) for place in report.unread],
        page_sizes=[dataclasses.asdict(size) for size in report.page_sizes],
        pages=report.pages,
        finished_at=timezone.now(),
    )


@transaction.atomic
def mark_parsing_job_failed(
    *, job: ParsingJob, actor: Actor, reason: FailureReason, why: str = ""
) -> ParsingJob:
    """Fail a job and delete the values that were pending review. `why` may be empty.

    Raises: transition_not_allowed. Source: Contract 7.2, 7.3.
    """
    ReportResult.objects.for_tenant(job.tenant).filter(job=job).delete()
    return _change_status_for(
        job,
        ParsingJobStatus.FAILED,
        actor,
        verb="fail_parsing",
        why=why or reason,
        failure_reason=reason,
        metadata=None,
        notes=None,
        unread=None,
        finished_at=timezone.now(),
    )


@transaction.atomic
def change_parsing_job_status(
    *,
    job: ParsingJob,
    to: ParsingJobStatus,
    actor: Actor,
    why: str = "",
    **changes: object,
) -> ParsingJob:
    """Change a job's status and columns, record the transition and send the event.

    The one writer of status. Raises: transition_not_allowed. Source: Contract 7.3, 7.5.
    """
    old = job.status
    move_status(job, moves=JOB_MOVES, to=to, **changes)
    ParsingJobTransition(
        tenant=job.tenant,
        job=job,
        old=old,
        new=to,
        actor_kind=actor.kind,
        actor_key=actor.key,
        actor_label=actor.label,
        why=why,
    ).save(force_insert=True)
    if to in EMITTED:
        send_parsing_job_event(job, "updated")
    return job


def _change_status_for(
    job: ParsingJob,
    to: ParsingJobStatus,
    actor: Actor,
    *,
    verb: str,
    why: str = "",
    **changes: object,
) -> ParsingJob:
    """Change the status for an operation, and audit it under the operation's name."""
    old = job.status
    change_parsing_job_status(job=job, to=to, actor=actor, why=why, **changes)
    record_change(
        tenant=job.tenant,
        actor=actor,
        verb=verb,
        subject="parsing_job",
        subject_id=job.id,
        user_uuid=job.user.uuid,
        changes={"status": [old, to]},
    )
    return job


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


def _enqueue_parsing(job: ParsingJob) -> None:
    enqueue_job(
        PARSE_JOB,
        tenant=job.tenant,
        lock=f"parsing_job:{job.id}",
        job_id=str(job.id),
    )


def _inspect_stored(job: ParsingJob) -> None:
    """Inspect a job's stored files. Raises: RefusedFile; UnreadableReport."""
    files = list_report_files(job)
    with open_local_copies_of_files(files) as paths:
        check_upload_files(
            [(path, file.content_type) for path, file in zip(paths, files, strict=True)]
        )


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


def parse_uploaded_files(job: ParsingJob) -> ParsedReport:
    """Parse a job's upload. Raises: UnreadableReport; storage_unavailable (503)."""
    with open_local_copies_of_files(list_report_files(job)) as paths:
        report = parse_stored_report_files(*paths)
    return decide_loinc_codes_of_report(tenant=job.tenant, report=report)


def _find_job(tenant_pk: int, job_id: UUID) -> ParsingJob | None:
    """Return the job, even of a deleted user, whose deletion may be undone."""
    tenant = Tenant.objects.select_related("team").filter(pk=tenant_pk).first()
    if tenant is None:
        return None
    rows = ParsingJob.objects.for_tenant(tenant).select_related("user")
    job: ParsingJob | None = rows.filter(id=job_id).first()
    if job is not None:
        job.tenant = tenant
    return job


def _lock(job: ParsingJob) -> ParsingJob:
    """The job's row as it is now, locked until the transaction ends."""
    rows = ParsingJob.objects.for_tenant(job.tenant).select_for_update(of=("self",))
    locked: ParsingJob = rows.get(id=job.id)
    return locked


def _is_open(job: ParsingJob) -> bool:
    return job.status in {ParsingJobStatus.UPLOAD_PENDING, ParsingJobStatus.STARTED}


def send_parsing_job_event(job: ParsingJob, change: str) -> None:
    """Send the job's event. Source: Contract 7.5."""
    emit_event(
        tenant=job.tenant,
        user=UserRef(user_uuid=job.user.uuid, client_user_id=job.user.client_user_id),
        event_type=f"lab_report.parsing_job.{change}",
        data=build_parsing_job_payload(job),
    )


def _is_below_confidence_threshold(tenant: Tenant, report: ParsedReport) -> bool:
    """Return whether a row's confidence is below the team's threshold."""
    bound = tenant.lab_report_review_below
    if bound is None or not tenant.lab_report_human_review_enabled:
        return False
    sure = [result.confidence.overall for result in report.results]
    return any(share is not None and share * 100 < bound for share in sure)
