"""Parsing of submitted reports, as the worker runs it.

An upload is inspected where its request could not, then parsed, and its results are
stored with the status that follows. Each step is safe to repeat, as jobs run at least
once.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from accounts.models import Tenant
from portal.lib.actor import Actor
from portal.lib.jobs.jobs import enqueue_job
from reports.models import ParsingJob, ReportResult
from reports.operations.jobs.critical import (
    mark_critical_results,
    open_or_close_alert_of_critical_values,
)
from reports.operations.jobs.holds import find_hold_findings
from reports.operations.jobs.status import (
    change_status_and_audit,
    mark_parsing_job_failed,
    mark_parsing_job_started,
)
from reports.operations.loinc_codes import decide_loinc_codes_of_report
from reports.operations.orders.comparing import has_ordered_row
from reports.operations.reading.extraction import (
    check_upload_files,
    parse_stored_report_files,
)
from reports.operations.reading.files import open_local_copies_of_files
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
from reports.parser.intake import RefusedFile
from reports.parser.report import FailureReason, UnreadableReport
from reports.queries import list_report_files
from reports.queries.intake import select_hold_reasons
from reports.states import ParsingJobStatus

if TYPE_CHECKING:
    from uuid import UUID

    from reports.parser.report import ParsedReport


INSPECT_JOB = "reports.inspect"
PARSE_JOB = "reports.parse"
PARSER = Actor.system(PARSE_JOB)


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
        enqueue_parsing(job)
        return
    with transaction.atomic():
        if _lock(job).status == ParsingJobStatus.UPLOAD_PENDING:
            mark_parsing_job_failed(job=job, actor=PARSER, reason=reason, why=why)


def parse_submitted_report(*, tenant_pk: int, job_id: UUID) -> None:
    """Parse a job's file and store the outcome (run by the worker).

    Where a script can't be read, the job and its history name it.
    Safe to repeat and to run twice at once: a job whose reading was cut short is read
    again, one that has ended is left alone. Source: Contract 7.3; Ours: jobs run at
    least once.
    """
    job = _find_job(tenant_pk, job_id)
    if job is None or not _is_open(job):
        return
    if job.status == ParsingJobStatus.UPLOAD_PENDING:
        mark_parsing_job_started(job=job, actor=PARSER)
    script = None
    try:
        report = parse_uploaded_files(job)
    except UnreadableReport as refusal:
        outcome: ParsedReport | FailureReason = refusal.reason
        script = refusal.script
    else:
        outcome = report if report.results else FailureReason.INVALID_INPUT
    with transaction.atomic():
        if not _is_open(_lock(job)):  # another run was quicker
            return
        if isinstance(outcome, FailureReason):
            mark_parsing_job_failed(
                job=job, actor=PARSER, reason=outcome, script=script
            )
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
def store_parsing_results(
    *, job: ParsingJob, actor: Actor, report: ParsedReport
) -> ParsingJob:
    """Store the results, and complete the job, hold it or send it to review.

    A reviewer gets what the upload asked for, and a report with a row below the team's
    bound of confidence; the wire's `needs_human_review` stays as submitted. Raises:
    transition_not_allowed. Source: Contract 7.2, 7.3, D14; the bound is Ours.
    """
    today = timezone.now().date()
    late = check_dates_not_after(report.metadata, today=today)
    report = dataclasses.replace(report, notes=(*report.notes, *late))
    report = mark_critical_results(job=job, report=report)
    rows = build_unsaved_result_rows(report)
    for row in rows:
        row.tenant, row.job = job.tenant, job
    ReportResult.objects.for_tenant(job.tenant).bulk_create(rows)
    open_or_close_alert_of_critical_values(job=job, actor=actor, rows=rows)
    notes = serialize_check_notes(report)
    findings = find_hold_findings(
        job=job,
        report=report,
        today=today,
        has_ordered_row=has_ordered_row(job, rows),
    )
    hold_reasons = select_hold_reasons(job.tenant, findings)
    wants_review = job.needs_human_review or _is_below_confidence_threshold(
        job.tenant, report
    )
    if wants_review:
        open_report_review(job=job, rows=build_initial_review_rows(rows), notes=notes)
    if wants_review or hold_reasons:
        enqueue_job(DRAW_JOB, tenant=job.tenant, job_id=str(job.id))
    return change_status_and_audit(
        job,
        ParsingJobStatus.PENDING_REVIEW
        if wants_review or hold_reasons
        else ParsingJobStatus.COMPLETED,
        actor,
        verb="finish_parsing",
        metadata=dataclasses.asdict(report.metadata),
        notes=notes,
        unread=[dataclasses.asdict(place) for place in report.unread],
        page_sizes=[dataclasses.asdict(size) for size in report.page_sizes],
        pages=report.pages,
        findings=findings,
        hold_reasons=hold_reasons,
        finished_at=timezone.now(),
    )


def enqueue_parsing(job: ParsingJob) -> None:
    """Enqueue the parsing of a job."""
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
    rows = ParsingJob.objects.for_tenant(tenant).select_related("user", "order")
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


def _is_below_confidence_threshold(tenant: Tenant, report: ParsedReport) -> bool:
    """Return whether a row's confidence is below the team's threshold."""
    bound = tenant.lab_report_review_below
    if bound is None or not tenant.lab_report_human_review_enabled:
        return False
    sure = [result.confidence.overall for result in report.results]
    return any(share is not None and share * 100 < bound for share in sure)
