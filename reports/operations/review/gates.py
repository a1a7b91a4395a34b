"""Review steps besides rows: pages viewed, identity, duplicates, critical values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _

from labs.operations.results.critical_reports import move_critical_alert_to_user
from portal.lib.errors import Conflict, DomainError, NotFound
from reports.models import ReviewRow
from reports.operations.review.reviews import (
    lock_claimed_review,
    record_review_change_in_audit_log,
    validate_review_reason,
)
from reports.queries import find_duplicate_reports
from reports.queries.intake import list_patient_findings, select_hold_reasons
from reports.states import (
    DUPLICATE_REASONS,
    ORDER_REASONS,
    PATIENT_REASONS,
    HoldReason,
    ParsingJobStatus,
    ReviewKind,
)
from users.queries import find_user

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from accounts.models import Tenant
    from portal.lib.actor import Actor
    from reports.models import ParsingJob, Review
    from reports.operations.review.saving import RowRef


@dataclass(frozen=True, slots=True)
class CriticalNotification:
    """Who was notified of a critical value, when (with offset), and how."""

    told: str
    at: datetime
    way: str


@transaction.atomic
def record_page_shown_to_reviewer(
    *, tenant: Tenant, actor: Actor, review_id: UUID, page: int
) -> Review:
    """Record that a page, counted from 1, was shown to the reviewer.

    Raises: review_not_found (404); claim_needed, claim_lost (409); review_ended,
    page_unknown. Source: Ours (workflow D1): nobody signs what they did not see.
    """
    review = lock_claimed_review(tenant=tenant, actor=actor, review_id=review_id)
    if not 1 <= page <= (review.job.pages or 0):
        raise DomainError("page_unknown", _("The report has no such page."), "page")
    if page not in review.pages_shown:
        review.pages_shown = sorted([*review.pages_shown, page])
        review.save(update_fields=["pages_shown", "claimed_until"])
        record_review_change_in_audit_log(review, actor, verb="show_page", page=page)
    return review


@transaction.atomic
def confirm_mismatched_patient_identity(
    *, tenant: Tenant, actor: Actor, review_id: UUID, reason: str
) -> Review:
    """Confirm that a report belongs to its user despite a mismatch, with a reason.

    Settles all that holds it but duplicates. Of another person's report see
    reject_report. Raises: as record_page_shown_to_reviewer but for page_unknown;
    reason_missing, reason_too_long. Source: Ours (workflow D1).
    """
    why = validate_review_reason(reason)
    review = lock_claimed_review(tenant=tenant, actor=actor, review_id=review_id)
    review.identity_decided = why
    review.save(update_fields=["identity_decided", "claimed_until"])
    _settle_hold_reasons(review.job, set(HoldReason) - DUPLICATE_REASONS)
    record_review_change_in_audit_log(review, actor, verb="decide_identity")
    return review


@transaction.atomic
def keep_duplicate_report(
    *, tenant: Tenant, actor: Actor, review_id: UUID, reason: str
) -> Review:
    """Keep a report besides others of the same file or specimen, with a reason.

    Raises: as confirm_mismatched_patient_identity. Source: Ours (workflow D1).
    """
    why = validate_review_reason(reason)
    review = lock_claimed_review(tenant=tenant, actor=actor, review_id=review_id)
    review.duplicate_decided = why
    review.save(update_fields=["duplicate_decided", "claimed_until"])
    _settle_hold_reasons(review.job, DUPLICATE_REASONS)
    record_review_change_in_audit_log(review, actor, verb="keep_duplicate")
    return review


@transaction.atomic
def replace_duplicate_report(
    *, tenant: Tenant, actor: Actor, review_id: UUID, job_id: UUID, reason: str
) -> Review:
    """Let a report replace an older one of the same file or specimen.

    Once it is signed the older one counts no more in trends; it stays readable, and the
    wire's status of it stays too. Raises: as confirm_mismatched_patient_identity;
    duplicate_not_found (404); duplicate_not_completed. Source: Ours (workflow D1);
    contract 7.3 ends a completed job for good.
    """
    why = validate_review_reason(reason)
    review = lock_claimed_review(tenant=tenant, actor=actor, review_id=review_id)
    older = next(
        (j for j in find_duplicate_reports(job=review.job) if j.id == job_id), None
    )
    if older is None:
        raise NotFound("duplicate_not_found", _("Duplicate not found."), "job_id")
    if older.status != ParsingJobStatus.COMPLETED:
        raise DomainError(
            "duplicate_not_completed", _("Only a completed report can be replaced.")
        )
    review.duplicate_decided, review.replaces = why, older
    review.save(update_fields=["duplicate_decided", "replaces", "claimed_until"])
    _settle_hold_reasons(review.job, DUPLICATE_REASONS)
    record_review_change_in_audit_log(
        review, actor, verb="replace_duplicate", replaces=str(older.id)
    )
    return review


@transaction.atomic
def move_report_to_other_user(
    *, tenant: Tenant, actor: Actor, review_id: UUID, user_id: UUID, reason: str
) -> Review:
    """Move a report with its values, and their critical alert, to another user.

    The identity is checked again. Raises: as confirm_mismatched_patient_identity;
    user_not_found (404); same_user; report_completed (its values have been told as
    another's: reject or amend it). Source: Ours (workflow D1).
    """
    why = validate_review_reason(reason)
    review = lock_claimed_review(tenant=tenant, actor=actor, review_id=review_id)
    job = review.job
    found = find_user(tenant=tenant, user_id=user_id)
    if found is None:
        raise NotFound("user_not_found", _("User not found."), "user_id")
    if found.user.id == job.user_id:
        raise DomainError(
            "same_user", _("The report already belongs to this user."), "user_id"
        )
    if job.status != ParsingJobStatus.PENDING_REVIEW:
        raise DomainError(
            "report_completed",
            _("A completed report can't be moved. Amend or reject it instead."),
        )
    # Of whom it was, the audit says too: they may ask where their report went.
    record_review_change_in_audit_log(review, actor, verb="move_report", why=why)
    job.user_id = found.user.id
    job.order = None  # it is the other person's
    job.save(update_fields=["user", "order"])
    job.refresh_from_db(fields=["user"])
    move_critical_alert_to_user(tenant=tenant, report_id=job.id, user_id=job.user_id)
    _compare_with_new_user(job)
    review.identity_decided = review.duplicate_decided = ""
    review.replaces, review.not_performed = None, []
    review.save(
        update_fields=[
            "not_performed",
            "identity_decided",
            "duplicate_decided",
            "replaces",
            "claimed_until",
        ]
    )
    record_review_change_in_audit_log(review, actor, verb="move_report", why=why)
    return review


def _settle_hold_reasons(job: ParsingJob, settled: set[HoldReason]) -> None:
    """Remove what a reviewer decided about from what holds the report."""
    job.hold_reasons = [one for one in job.hold_reasons if one not in settled]
    job.save(update_fields=["hold_reasons"])


def _compare_with_new_user(job: ParsingJob) -> None:
    """Replace what the checks found against the user before, once the user is new."""
    findings = list_patient_findings(job=job)
    old = {*PATIENT_REASONS.values(), *ORDER_REASONS}
    kept = [one for one in job.findings if one not in old]
    job.findings = [*findings, *kept]
    holds = [one for one in job.hold_reasons if one not in old]
    job.hold_reasons = [*select_hold_reasons(job.tenant, findings), *holds]
    job.save(update_fields=["findings", "hold_reasons"])


@transaction.atomic
def request_second_read(*, tenant: Tenant, actor: Actor, review_id: UUID) -> Review:
    """Request a second read before the results are sent.

    Raises: as record_page_shown_to_reviewer but for page_unknown; not_a_first_read.
    Source: Ours (workflow D1).
    """
    review = _lock_first_review(tenant, actor, review_id)
    return _store_second_read_request(review, actor, is_wanted=True)


@transaction.atomic
def cancel_second_read(*, tenant: Tenant, actor: Actor, review_id: UUID) -> Review:
    """Cancel the request of a second read. Raises: as request_second_read."""
    review = _lock_first_review(tenant, actor, review_id)
    return _store_second_read_request(review, actor, is_wanted=False)


def _lock_first_review(tenant: Tenant, actor: Actor, review_id: UUID) -> Review:
    review = lock_claimed_review(tenant=tenant, actor=actor, review_id=review_id)
    if review.kind != ReviewKind.FIRST:
        raise DomainError(
            "not_a_first_read",
            _("A second read can only be requested for a first review."),
        )
    return review


def _store_second_read_request(
    review: Review, actor: Actor, *, is_wanted: bool
) -> Review:
    review.wants_second_read = is_wanted
    review.save(update_fields=["wants_second_read", "claimed_until"])
    record_review_change_in_audit_log(
        review, actor, verb="request_second_read", wanted=is_wanted
    )
    return review


@transaction.atomic
def record_critical_value_notification(
    *, tenant: Tenant, actor: Actor, ref: RowRef, notice: CriticalNotification
) -> ReviewRow:
    """Record the person notified of a critical value, the time and the method.

    Raises: review_not_found, row_not_found (404); claim_needed, claim_lost, row_changed
    (409); review_ended, not_critical, reason_missing, reason_too_long. Source: Ours
    (workflow D1), as ISO 15189 asks of who reports an alarming value.
    """
    notified_person, way = (
        validate_review_reason(notice.told),
        validate_review_reason(notice.way),
    )
    review = lock_claimed_review(tenant=tenant, actor=actor, review_id=ref.review_id)
    rows = ReviewRow.objects.for_tenant(tenant).filter(review=review)
    row: ReviewRow | None = rows.filter(position=ref.position).first()
    if row is None:
        raise NotFound("row_not_found", _("Row not found."), "position")
    if row.version != ref.version:
        raise Conflict(
            "row_changed", _("Someone changed this row while you were editing.")
        )
    if not row.is_critical:
        raise DomainError("not_critical", _("This value is not critical."))
    row.acknowledged = {
        "told": notified_person,
        "at": notice.at.isoformat(),
        "way": way,
    }
    row.save(update_fields=["acknowledged"])
    review.save(update_fields=["claimed_until"])
    record_review_change_in_audit_log(
        review, actor, verb="acknowledge_critical", positions=[row.position]
    )
    return row
