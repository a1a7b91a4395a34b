"""How a review ends: signed, rejected, withdrawn; and how a signed one is amended.

What is signed becomes a version of the job's results beside the machine's own. Must not
be here: how a row is changed (review_rows).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from portal.lib.errors import DomainError, NotAllowed
from portal.lib.transitions import move_status
from reports.models import ParsingJob, ReportResult, Review, SignOff
from reports.operations.parsed_rows import result_rows
from reports.operations.reports import (
    advance,
    emit_job,
    fail_parsing,
)
from reports.operations.review_checks import result_of
from reports.operations.reviews import (
    FirstRow,
    machine_rows,
    open_review,
    read_reason,
    record_review,
    working_review,
)
from reports.parser.report import (
    FailureReason,
    LoincMatchStatus,
    Metadata,
    ParsedReport,
    RowState,
)
from reports.queries import (
    duplicates_of,
    identity_lines,
    parsing_job,
    report_results,
    review_rows,
    reviews_of_job,
)
from reports.states import (
    REJECTED_AS,
    REVIEW_MOVES,
    ParsingJobStatus,
    RejectionReason,
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
    """A rule that a review does not meet yet; at: positions of rows, or pages."""

    code: str
    at: tuple[int, ...] = ()


class NotReady(DomainError):
    """A review can't be signed yet; `gaps` are all the rules it does not meet."""

    def __init__(self, gaps: Sequence[Gap]) -> None:
        super().__init__("review_not_ready", "The review is not complete.")
        self.gaps = tuple(gaps)

    @property
    def details(self) -> dict[str, object]:
        return {"gaps": [{"code": gap.code, "at": list(gap.at)} for gap in self.gaps]}


@dataclass(frozen=True, slots=True)
class Signature:
    """What a member signs with: its meaning, and when they last proved who they are."""

    meaning: SignatureMeaning
    authenticated_at: datetime


def approval_gaps(*, review: Review, rows: Sequence[ReviewRow]) -> list[Gap]:
    """Every rule that keeps a review from being signed; empty when it may be.

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
    if not review.identity_decided and any(
        line.agrees is False for line in identity_lines(job=review.job)
    ):
        gaps.append(Gap("identity_undecided"))
    if not review.duplicate_decided and duplicates_of(job=review.job):
        gaps.append(Gap("duplicate_undecided"))
    if not any(row.is_kept for row in rows):
        gaps.append(Gap("no_rows_left"))
    return gaps


@transaction.atomic
def approve_report(
    *, tenant: Tenant, actor: Actor, review_id: UUID, signature: Signature
) -> SignOff:
    """Sign a review: its rows become the job's results, and the job is completed.

    An amendment replaces the results and keeps the status; each way the job is sent.
    Raises: review_not_found (404); claim_needed, claim_lost (409); review_ended;
    reauthentication_needed; review_not_ready with the `gaps` of approval_gaps. Source:
    Contract 7.3, 7.5; Ours (workflow D1).
    """
    review = working_review(tenant=tenant, actor=actor, review_id=review_id)
    now = timezone.now()
    if not now - SIGN_WITHIN <= signature.authenticated_at <= now:
        raise DomainError("reauthentication_needed", "Confirm who you are to sign.")
    rows = review_rows(tenant=tenant, review=review)
    if gaps := approval_gaps(review=review, rows=rows):
        raise NotReady(gaps)
    sign_off = SignOff(
        tenant=tenant,
        review=review,
        member_key=actor.key,
        member_label=actor.label,
        meaning=signature.meaning,
        signed_at=now,
    )
    sign_off.document = signed_text(review=review, rows=rows, sign_off=sign_off)
    sign_off.sha256 = _digest(sign_off.document)
    sign_off.save(force_insert=True)
    notes = _keep_results(review, [row for row in rows if row.is_kept])
    _end(review, ReviewStatus.SIGNED)
    record_review(
        review,
        actor,
        verb="approve_report",
        meaning=signature.meaning,
        sha256=sign_off.sha256,
    )
    job = review.job
    known = {"is_reviewed": True, "version": review.number, "notes": notes}
    if job.status == ParsingJobStatus.PENDING_REVIEW:
        advance(
            job=job,
            to=ParsingJobStatus.COMPLETED,
            actor=actor,
            why="signed",
            finished_at=now,
            **known,
        )
    else:
        for name, value in known.items():
            setattr(job, name, value)
        job.save(update_fields=sorted(known))
        emit_job(job, "updated")
    return sign_off


@transaction.atomic
def reject_report(
    *,
    tenant: Tenant,
    actor: Actor,
    review_id: UUID,
    reason: RejectionReason,
    why: str = "",
) -> Review:
    """End a report without values, which go; the job fails with the wire's reason.

    why: more on the reason, may be empty. Raises: review_not_found (404); claim_needed,
    claim_lost (409); review_ended, reason_too_long; transition_not_allowed where the
    review amends a completed job. Source: Contract 7.2; Ours (workflow D1).
    """
    said = read_reason(why) if why.strip() else ""
    review = working_review(tenant=tenant, actor=actor, review_id=review_id)
    _end(review, ReviewStatus.REJECTED, rejection=reason, why=said)
    fail_parsing(
        job=review.job,
        actor=actor,
        reason=FailureReason(REJECTED_AS[reason].value),
        why=reason.value,
    )
    record_review(review, actor, verb="reject_report", reason=reason.value)
    return review


@transaction.atomic
def amend_report(*, tenant: Tenant, actor: Actor, job_id: UUID, why: str) -> Review:
    """Put a completed report back on the desk, as the next version.

    It begins with what was signed, decisions and all; what was never reviewed begins
    with the machine's reading. Until it is signed the results stay. Raises: not_found
    (404); human_review_unavailable (403); report_not_completed, amendment_open,
    reason_missing, reason_too_long. Source: Contract 7.3; Ours (workflow D1).
    """
    if not tenant.lab_report_human_review_enabled:
        raise NotAllowed(
            "human_review_unavailable", "Human review is not enabled for this team."
        )
    reason = read_reason(why)
    job = parsing_job(tenant=tenant, job_id=job_id)
    # Of two amendments at once the second waits here and finds the first.
    ParsingJob.objects.for_tenant(tenant).select_for_update().get(id=job.id)
    if job.status != ParsingJobStatus.COMPLETED:
        raise DomainError("report_not_completed", "The report is not completed.")
    past = reviews_of_job(job=job)
    if any(review.status == ReviewStatus.OPEN for review in past):
        raise DomainError("amendment_open", "This report is being amended.")
    signed = next((r for r in reversed(past) if r.number == job.version), None)
    review = open_review(
        job=job,
        number=max((review.number for review in past), default=0) + 1,
        rows=_first_rows(job, signed),
        notes=signed.notes if signed else job.notes or [],
        actor_label=actor.label,
        why=reason,
        pages_shown=signed.pages_shown if signed else [],
        identity_decided=signed.identity_decided if signed else "",
        duplicate_decided=signed.duplicate_decided if signed else "",
    )
    record_review(review, actor, verb="amend_report")
    return review


@transaction.atomic
def withdraw_amendment(*, tenant: Tenant, actor: Actor, review_id: UUID) -> Review:
    """Give up an amendment; the results stay as they were.

    Raises: review_not_found (404); claim_needed, claim_lost (409); review_ended;
    not_an_amendment. Source: Ours.
    """
    review = working_review(tenant=tenant, actor=actor, review_id=review_id)
    if review.job.status != ParsingJobStatus.COMPLETED:
        raise DomainError("not_an_amendment", "A first review is signed or rejected.")
    _end(review, ReviewStatus.WITHDRAWN)
    record_review(review, actor, verb="withdraw_amendment")
    return review


def signature_holds(*, tenant: Tenant, review: Review) -> bool:
    """Whether a signed review still says exactly what was signed.

    Source: Ours: what stands in the tables now, put into words again, has the digest.
    """
    rows = review_rows(tenant=tenant, review=review)
    text = signed_text(review=review, rows=rows, sign_off=review.sign_off)
    return _digest(text) == review.sign_off.sha256


def signed_text(*, review: Review, rows: Sequence[ReviewRow], sign_off: SignOff) -> str:
    """The canonical JSON of a signature: sorted keys, no blanks, UTF-8.

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
        "member": [sign_off.member_key, sign_off.member_label],
        "meaning": str(sign_off.meaning),
        "signed_at": sign_off.signed_at.isoformat(),
    }
    return json.dumps(signed, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _keep_results(review: Review, kept: Sequence[ReviewRow]) -> list[dict[str, Any]]:
    """Store the kept rows as results of the review's version; the notes on them."""
    places = {row.position: place for place, row in enumerate(kept)}
    results = []
    for row in kept:
        result = result_of(row)
        if result.loinc_match_status is LoincMatchStatus.NEEDS_REVIEW:
            # It was decided by itself, with its first candidate before the eyes.
            result = replace(result, loinc_match_status=LoincMatchStatus.AUTO_MATCH)
        results.append(result)
    report = ParsedReport(metadata=Metadata(), results=tuple(results), pages=0)
    rows = result_rows(report)
    for stored in rows:
        stored.tenant, stored.job = review.tenant, review.job
        stored.version, stored.state = review.number, RowState.AUTO
    ReportResult.objects.for_tenant(review.tenant).bulk_create(rows)
    return [
        {**note, "rows": [places[at] for at in note["rows"] if at in places]}
        for note in review.notes
        if not note["rows"] or any(at in places for at in note["rows"])
    ]


def _first_rows(job: ParsingJob, signed: Review | None) -> list[FirstRow]:
    if signed is None:
        return machine_rows(report_results(job))
    return [
        FirstRow(
            values=row.values,
            state=row.state,
            decision=row.decision,
            reason=row.reason,
            acknowledged=row.acknowledged,
        )
        for row in review_rows(tenant=job.tenant, review=signed)
    ]


def _end(review: Review, to: ReviewStatus, **changes: object) -> None:
    """The one writer of a review's status; its lease ends with it."""
    move_status(
        review,
        moves=REVIEW_MOVES,
        to=to,
        ended_at=timezone.now(),
        claimed_until=None,
        **changes,
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
