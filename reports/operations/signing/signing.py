"""Ends a review: signs or rejects it, and publishes the signed results.

What is signed becomes a version of the job's results beside the machine's own. Must not
be here: how a row is changed (review_rows), or signed again (review_amending).
"""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from portal.lib.errors import DomainError
from reports.models import ParsingJob, ReportResult, Review, Signature
from reports.operations.jobs.critical import (
    open_or_close_alert_of_critical_values,
    settle_alert_of_rejected_report,
)
from reports.operations.jobs.status import (
    change_parsing_job_status,
    mark_parsing_job_failed,
    send_parsing_job_event,
)
from reports.operations.orders.publishing import publish_results_of_order
from reports.operations.reading.parsed_rows import build_unsaved_result_rows
from reports.operations.review.checks import convert_stored_row_to_parsed_result
from reports.operations.review.reviews import (
    end_review,
    lock_claimed_review,
    lock_open_review,
    record_review_change_in_audit_log,
    validate_review_reason,
)
from reports.operations.review.second_reads import (
    have_readers_different_results,
    open_second_read_review,
    open_third_reader_review,
)
from reports.parser.loinc.decision import confirm_loinc_code
from reports.parser.report import (
    FailureReason,
    Metadata,
    ParsedReport,
    RowState,
)
from reports.queries import (
    find_duplicate_reports,
    list_previous_readings,
    list_review_rows,
)
from reports.queries.intake import is_identity_undecided
from reports.states import (
    REJECTED_AS,
    ParsingJobStatus,
    RejectionReason,
    ReviewKind,
    ReviewStatus,
    SignatureMeaning,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from accounts.models import Tenant
    from portal.lib.actor import Actor
    from reports.models import ReviewRow

SIGN_WITHIN = timedelta(minutes=15)  # Ours (workflow D1); of the last authentication


@dataclass(frozen=True, slots=True)
class Gap:
    """An unmet rule of signing; `at` are positions of rows, or pages."""

    code: str
    at: tuple[int, ...] = ()


class NotReady(DomainError):
    """The review can't be signed yet; `gaps` are the unmet rules."""

    def __init__(self, gaps: Sequence[Gap]) -> None:
        super().__init__("review_not_ready", _("The review is not complete."))
        self.gaps = tuple(gaps)

    @property
    def details(self) -> dict[str, object]:
        return {"gaps": [{"code": gap.code, "at": list(gap.at)} for gap in self.gaps]}


@dataclass(frozen=True, slots=True)
class SigningIntent:
    """The meaning of a signature, and when the member last confirmed their identity.

    name: the signer's as people know it; without one they are named by email address.
    """

    meaning: SignatureMeaning
    authenticated_at: datetime
    name: str = ""


def find_unmet_signing_rules(*, review: Review, rows: Sequence[ReviewRow]) -> list[Gap]:
    """Return the unmet rules of signing a review; empty if it can be signed.

    flagged_row_undecided and row_unconfirmed (at: rows), page_not_shown (at: pages),
    critical_unacknowledged (at: rows), identity_undecided, duplicate_undecided,
    no_rows_left. Two queries at most. Source: Ours (workflow D1).
    """
    open_rows = [row for row in rows if not row.is_decided]
    pages = range(1, (review.job.pages or 0) + 1)
    found = {
        "flagged_row_undecided": [r.position for r in open_rows if r.is_flagged],
        "row_unconfirmed": [r.position for r in open_rows if not r.is_flagged],
        "page_not_shown": [page for page in pages if page not in review.pages_shown],
        "critical_unacknowledged": [
            r.position for r in rows if r.is_critical and not r.acknowledged
        ],
    }
    gaps = [Gap(code, tuple(at)) for code, at in found.items() if at]
    if is_identity_undecided(review=review):
        gaps.append(Gap("identity_undecided"))
    if not review.duplicate_decided and find_duplicate_reports(job=review.job):
        gaps.append(Gap("duplicate_undecided"))
    if not any(row.is_included for row in rows):
        gaps.append(Gap("no_rows_left"))
    return gaps


@transaction.atomic
def sign_and_approve_report(
    *, tenant: Tenant, actor: Actor, review_id: UUID, intent: SigningIntent
) -> Signature:
    """Sign a review: its rows become the job's results, and the job is completed.

    An amendment replaces the results and keeps the status; each way the job is sent. A
    report that is read twice waits: for the second reader, and if they disagree for a
    third person; what agrees is kept as it was signed first. Raises: review_not_found
    (404); claim_needed, claim_lost (409); review_ended; reauthentication_needed;
    review_not_ready with the `gaps` of find_unmet_signing_rules; results_not_expected,
    of an order that has ended since. Source: Contract 7.3, 7.5; Ours (workflow D1).
    """
    review = lock_claimed_review(tenant=tenant, actor=actor, review_id=review_id)
    now = timezone.now()
    if not now - SIGN_WITHIN <= intent.authenticated_at <= now:
        raise DomainError(
            "reauthentication_needed", _("Confirm your identity to sign.")
        )
    rows = list_review_rows(tenant=tenant, review=review)
    if gaps := find_unmet_signing_rules(review=review, rows=rows):
        raise NotReady(gaps)
    signature = Signature(
        tenant=tenant,
        review=review,
        member_key=actor.key,
        member_label=intent.name or actor.label,
        meaning=intent.meaning,
        signed_at=now,
    )
    review.signed_order_id = review.job.order_id
    signature.document = build_signed_json(
        review=review, rows=rows, signature=signature
    )
    signature.sha256 = _digest(signature.document)
    signature.save(force_insert=True)
    end_review(review, ReviewStatus.SIGNED, signed_order_id=review.signed_order_id)
    record_review_change_in_audit_log(
        review,
        actor,
        verb="approve_report",
        meaning=signature.meaning,
        sha256=signature.sha256,
    )
    if review.kind == ReviewKind.SECOND:
        (first,) = _attach_job(list_previous_readings(review), review.job)
        if have_readers_different_results(first=first, second=review):
            open_third_reader_review(first=first, second=review)
        else:
            _publish_results(first, actor)
    elif review.kind == ReviewKind.FIRST and _is_read_twice(review):
        open_second_read_review(first=review)
    else:
        _publish_results(review, actor)
    return signature


@transaction.atomic
def reject_report(
    *,
    tenant: Tenant,
    actor: Actor,
    review_id: UUID,
    reason: RejectionReason,
    why: str = "",
) -> Review:
    """Reject a report: delete its values and fail its job with the wire's reason.

    why: more on the reason, may be empty. Raises: review_not_found (404); claim_needed,
    claim_lost (409); review_ended, reason_too_long; transition_not_allowed where the
    review amends a completed job. Source: Contract 7.2; Ours (workflow D1).
    """
    explanation = validate_review_reason(why) if why.strip() else ""
    review = lock_claimed_review(tenant=tenant, actor=actor, review_id=review_id)
    end_review(review, ReviewStatus.REJECTED, rejection=reason, why=explanation)
    settle_alert_of_rejected_report(job=review.job, actor=actor, reason=reason)
    mark_parsing_job_failed(
        job=review.job,
        actor=actor,
        reason=FailureReason(REJECTED_AS[reason].value),
        why=reason.value,
    )
    record_review_change_in_audit_log(
        review, actor, verb="reject_report", reason=reason.value
    )
    return review


@transaction.atomic
def waive_second_read(
    *, tenant: Tenant, actor: Actor, review_id: UUID, why: str
) -> Review:
    """Publish a report as its first reader signed it, without the second read.

    Any member who may sign may do so: a team whose only other reader is away must not
    hold up a patient. Raises: review_not_found (404); review_ended; not_a_second_read,
    reason_missing, reason_too_long. Source: Ours.
    """
    explanation = validate_review_reason(why)
    review = lock_open_review(tenant=tenant, review_id=review_id)
    if review.kind != ReviewKind.SECOND:
        raise DomainError("not_a_second_read", _("This review is not a second read."))
    end_review(review, ReviewStatus.WITHDRAWN, why=explanation)
    record_review_change_in_audit_log(
        review, actor, verb="waive_second_read", why=explanation
    )
    (first,) = _attach_job(list_previous_readings(review), review.job)
    _publish_results(first, actor)
    return first


def is_review_unchanged_since_signing(*, tenant: Tenant, review: Review) -> bool:
    """Return whether a signed review still has exactly what was signed.

    Source: Ours: what stands in the tables now, put into words again, has the digest.
    """
    rows = list_review_rows(tenant=tenant, review=review)
    text = build_signed_json(review=review, rows=rows, signature=review.signature)
    return _digest(text) == review.signature.sha256


def build_signed_json(
    *, review: Review, rows: Sequence[ReviewRow], signature: Signature
) -> str:
    """Return the canonical JSON of a signature: sorted keys, no blanks, UTF-8.

    It holds who signed, when and with which meaning, the digest of the file, the
    header, every row with its decision, and what was settled beside them.
    """
    job = review.job
    signed = {
        "job": str(job.id),
        "user": str(job.user.uuid),
        "file": job.sha256,
        "version": review.number,
        "why": review.why,
        "metadata": job.metadata,
        "pages_shown": review.pages_shown,
        "identity": review.identity_decided,
        "duplicate": review.duplicate_decided,
        "rows": [
            {
                "position": row.position,
                "version": row.version,
                "decision": str(row.decision),
                "reason": row.reason,
                "acknowledged": row.acknowledged,
                "values": row.values,
            }
            for row in rows
        ],
        "member": [signature.member_key, signature.member_label],
        "meaning": str(signature.meaning),
        "signed_at": signature.signed_at.isoformat(),
    }
    if review.signed_order_id is not None:
        signed |= {
            "order": str(review.signed_order_id),
            "not_performed": review.not_performed,
        }
    return json.dumps(signed, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _publish_results(review: Review, actor: Actor) -> None:
    """Make a signed review's rows the job's results, and send the job."""
    rows = list_review_rows(tenant=review.tenant, review=review)
    notes = _store_results(review, actor, [row for row in rows if row.is_included])
    if review.replaces is not None:
        review.replaces.replaced_by = review.job
        review.replaces.save(update_fields=["replaced_by"])
    job = review.job
    known = {"is_reviewed": True, "version": review.number, "notes": notes}
    if job.status == ParsingJobStatus.PENDING_REVIEW:
        change_parsing_job_status(
            job=job,
            to=ParsingJobStatus.COMPLETED,
            actor=actor,
            why="signed",
            finished_at=timezone.now(),
            **known,
        )
    else:
        for name, value in known.items():
            setattr(job, name, value)
        job.save(update_fields=sorted(known))
        send_parsing_job_event(job, "updated")


def _is_read_twice(review: Review) -> bool:
    """Return whether a second read was requested, or drawn for the team's sample."""
    percent = review.tenant.lab_report_second_read_percent
    return review.wants_second_read or secrets.randbelow(100) < percent


def _attach_job(reviews: Sequence[Review], job: ParsingJob) -> Sequence[Review]:
    """Return the reviews with the job and tenant that are in memory."""
    for review in reviews:
        review.job, review.tenant = job, job.tenant
    return reviews


def _store_results(
    review: Review, actor: Actor, included: Sequence[ReviewRow]
) -> list[dict[str, Any]]:
    """Store the included rows as results; return the notes on them."""
    places = {row.position: place for place, row in enumerate(included)}
    # Each was decided by itself, with its first candidate before the eyes.
    results = tuple(
        confirm_loinc_code(convert_stored_row_to_parsed_result(row)) for row in included
    )
    report = ParsedReport(metadata=Metadata(), results=results, pages=0)
    rows = build_unsaved_result_rows(report)
    for stored in rows:
        stored.tenant, stored.job = review.tenant, review.job
        stored.version, stored.state = review.number, RowState.AUTO
    ReportResult.objects.for_tenant(review.tenant).bulk_create(rows)
    if review.job.order_id is None:
        open_or_close_alert_of_critical_values(job=review.job, actor=actor, rows=rows)
    else:
        publish_results_of_order(review=review, actor=actor, rows=rows)
    return [
        {**note, "rows": [places[at] for at in note["rows"] if at in places]}
        for note in review.notes
        if not note["rows"] or any(at in places for at in note["rows"])
    ]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
