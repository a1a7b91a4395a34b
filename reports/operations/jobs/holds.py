"""Checks on every report before it counts, and how a held report is released.

What is checked and what a failed check does is the team's setting.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import date, timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import Tenant
from accounts.operations.audit.entries import record_change
from accounts.states import CheckMode
from portal.lib.errors import DomainError, NotFound
from reports.models import ParsingJob, Review
from reports.operations.jobs.critical import settle_alert_of_rejected_report
from reports.operations.jobs.status import (
    change_parsing_job_status,
    mark_parsing_job_failed,
    send_parsing_job_event,
)
from reports.operations.review.reviews import end_review, validate_review_reason
from reports.parser.report import FailureReason, NoteCode
from reports.queries import find_duplicate_reports
from reports.queries.intake import (
    get_check_mode,
    list_order_findings,
    list_patient_findings,
)
from reports.states import (
    REJECTED_AS,
    HoldReason,
    ParsingJobStatus,
    RejectionReason,
    ReviewStatus,
)

if TYPE_CHECKING:
    from uuid import UUID

    from portal.lib.actor import Actor
    from reports.models import ParsingJobQuerySet
    from reports.parser.report import Metadata, ParsedReport

_OF_NOTES = {
    NoteCode.SECOND_PERSON: HoldReason.SEVERAL_PATIENTS,
    NoteCode.HIDDEN_TEXT: HoldReason.HIDDEN_TEXT,
}
# It may be tomorrow where the report was printed.
_TOMORROW = timedelta(days=1)


def find_hold_findings(
    *, job: ParsingJob, report: ParsedReport, today: date, has_ordered_row: bool = False
) -> list[HoldReason]:
    """Return what the checks find against a report that is about to be stored.

    `has_ordered_row`: a row is of the job's order. In the caller's transaction: of two
    uploads of one report processed at once, the second finds the first. Checks that the
    team has turned off find nothing. Source: Ours (contract D14).
    """
    Tenant.objects.select_for_update(no_key=True).get(pk=job.tenant_id)
    metadata = asdict(report.metadata)
    others = [
        other
        for other in find_duplicate_reports(job=job, metadata=metadata)
        if other.has_data
    ]
    found = set(list_patient_findings(job=job, metadata=metadata))
    found |= set(
        list_order_findings(job=job, metadata=metadata, has_ordered_row=has_ordered_row)
    )
    found |= {_OF_NOTES[note.code] for note in report.notes if note.code in _OF_NOTES}
    found |= {
        HoldReason.DUPLICATE_REPORT
        if other.sha256 == job.sha256
        else HoldReason.DUPLICATE_SPECIMEN
        for other in others
    }
    found |= _find_date_findings(job.tenant, report.metadata, today)
    return [
        reason
        for reason in HoldReason
        if reason in found and get_check_mode(job.tenant, reason) != CheckMode.OFF
    ]


@transaction.atomic
def release_held_report(
    *, tenant: Tenant, actor: Actor, job_id: UUID, reason: str
) -> ParsingJob:
    """Release a held report, with a reason.

    It is completed, unreviewed; where a review was asked for, it stays pending review
    and what held it counts as decided there. Raises: not_found (404); report_not_held,
    reason_missing, reason_too_long. Source: Contract D14; the reason is Ours.
    """
    why = validate_review_reason(reason)
    job, review = _lock_held_job(tenant=tenant, job_id=job_id)
    held = job.hold_reasons
    job.hold_reasons = []
    job.save(update_fields=["hold_reasons"])
    if review is None:
        change_parsing_job_status(
            job=job, to=ParsingJobStatus.COMPLETED, actor=actor, why="released"
        )
    else:
        review.identity_decided = review.identity_decided or why
        review.duplicate_decided = review.duplicate_decided or why
        review.save(update_fields=["identity_decided", "duplicate_decided"])
        send_parsing_job_event(job, "updated")
    _record(job, actor, "release_report", hold_reasons=[held, []], why=why)
    return job


@transaction.atomic
def reject_held_report(
    *,
    tenant: Tenant,
    actor: Actor,
    job_id: UUID,
    reason: RejectionReason,
    why: str = "",
) -> ParsingJob:
    """Reject a held report: delete its values and fail its job.

    why: more on the reason, may be empty. A review that is open ends with it. Raises:
    not_found (404); report_not_held, reason_too_long. Source: Contract 7.2, D14.
    """
    explanation = validate_review_reason(why) if why.strip() else ""
    job, review = _lock_held_job(tenant=tenant, job_id=job_id)
    if review is not None:
        end_review(
            review, ReviewStatus.REJECTED, rejection=reason.value, why=explanation
        )
    settle_alert_of_rejected_report(job=job, actor=actor, reason=reason)
    mark_parsing_job_failed(
        job=job,
        actor=actor,
        reason=FailureReason(REJECTED_AS[reason].value),
        why=reason.value,
    )
    _record(job, actor, "reject_report", reason=reason.value, why=explanation)
    return job


def _find_date_findings(
    tenant: Tenant, metadata: Metadata, today: date
) -> set[HoldReason]:
    found = set()
    days = (metadata.date_collected, metadata.date_reported, metadata.dob)
    latest = (today + _TOMORROW).isoformat()
    if any(day and day > latest for day in days):
        found.add(HoldReason.DATE_IN_FUTURE)
    seen = metadata.date_collected or metadata.date_reported
    oldest = today - timedelta(days=tenant.lab_report_max_age_days)
    if seen and seen < oldest.isoformat():
        found.add(HoldReason.REPORT_TOO_OLD)
    return found


def _lock_held_job(*, tenant: Tenant, job_id: UUID) -> tuple[ParsingJob, Review | None]:
    job, review = lock_job_and_open_review(tenant=tenant, job_id=job_id)
    if job.status != ParsingJobStatus.PENDING_REVIEW or not job.hold_reasons:
        raise DomainError("report_not_held", _("This report is not held."))
    return job, review


def lock_job_and_open_review(
    *, tenant: Tenant, job_id: UUID
) -> tuple[ParsingJob, Review | None]:
    """Lock a job and its open review, in the order of the review's changes.

    Raises: not_found (404).
    """
    review: Review | None = (
        Review.objects.for_tenant(tenant)
        .select_for_update(of=("self",))
        .filter(job=job_id, status=ReviewStatus.OPEN)
        .first()
    )
    jobs: ParsingJobQuerySet = ParsingJob.objects.for_tenant(tenant).live()
    job: ParsingJob | None = (
        jobs.select_for_update(of=("self",))
        .select_related("user")
        .filter(id=job_id)
        .first()
    )
    if job is None:
        raise NotFound("not_found", _("Parsing job not found."))
    job.tenant = tenant
    if review is not None:
        review.job, review.tenant = job, tenant
    return job, review


def _record(job: ParsingJob, actor: Actor, verb: str, **changes: object) -> None:
    record_change(
        tenant=job.tenant,
        actor=actor,
        verb=verb,
        subject="parsing_job",
        subject_id=job.id,
        user_uuid=job.user.uuid,
        changes=changes,
    )
