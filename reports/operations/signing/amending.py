"""Amends a signed report: puts its results up for review again.

What is signed stays as it is until the next version is signed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils.translation import gettext as _

from portal.lib.errors import Conflict, DomainError, NotAllowed, NotFound
from reports.models import ParsingJob, Review
from reports.operations.jobs.rereading import get_rereading, list_rereading_differences
from reports.operations.review.reviews import (
    InitialRow,
    build_initial_review_rows,
    end_review,
    lock_claimed_review,
    open_report_review,
    record_review_change_in_audit_log,
    validate_review_reason,
)
from reports.operations.review.second_reads import recheck_initial_review_rows
from reports.queries import (
    get_parsing_job,
    list_report_results,
    list_review_rows,
    list_reviews_of_job,
)
from reports.states import ParsingJobStatus, ReviewKind, ReviewStatus, RowDecision

if TYPE_CHECKING:
    from uuid import UUID

    from accounts.models import Tenant
    from portal.lib.actor import Actor


@dataclass(frozen=True, slots=True)
class ReadingChoice:
    """Rows of a new reading to amend with, by position in list_rereading_differences.

    version: of the results that the diff was shown beside.
    """

    rereading_id: int
    version: int
    positions: frozenset[int]


@transaction.atomic
def open_amendment_review(
    *,
    tenant: Tenant,
    actor: Actor,
    job_id: UUID,
    why: str,
    chosen: ReadingChoice | None = None,
) -> Review:
    """Open a review of a completed report as the next version of its results.

    It begins with what was signed, decisions and all; what was never reviewed begins
    with the machine's reading. A chosen row begins as it is read now, undecided. Until
    it is signed the results stay. Raises: not_found, rereading_not_found, row_not_found
    (404); human_review_unavailable (403); report_changed (409); report_not_completed,
    amendment_open, reason_missing, reason_too_long. Source: Contract 7.3; Ours
    (workflow D1).
    """
    if not tenant.lab_report_human_review_enabled:
        raise NotAllowed(
            "human_review_unavailable",
            _("Clinician review is not enabled for this team."),
        )
    reason = validate_review_reason(why)
    # Of two amendments at once the second waits here and finds the first.
    ParsingJob.objects.for_tenant(tenant).select_for_update().filter(id=job_id).first()
    job = get_parsing_job(tenant=tenant, job_id=job_id)
    if job.status != ParsingJobStatus.COMPLETED:
        raise DomainError("report_not_completed", _("The report is not completed."))
    past = list_reviews_of_job(job=job)
    if any(review.status == ReviewStatus.OPEN for review in past):
        raise DomainError("amendment_open", _("This report is already being amended."))
    signed = next((r for r in reversed(past) if r.number == job.version), None)
    rows, notes = _first_rows(job, signed, _read_now(job, chosen) if chosen else {})
    review = open_report_review(
        job=job,
        number=max((review.number for review in past), default=0) + 1,
        rows=rows,
        notes=notes,
        actor_label=actor.label,
        why=reason,
        pages_shown=signed.pages_shown if signed else [],
        identity_decided=signed.identity_decided if signed else "",
        duplicate_decided=signed.duplicate_decided if signed else "",
        not_performed=signed.not_performed if signed else [],
    )
    record_review_change_in_audit_log(review, actor, verb="amend_report")
    return review


@transaction.atomic
def withdraw_report_amendment(
    *, tenant: Tenant, actor: Actor, review_id: UUID
) -> Review:
    """Withdraw an amendment; the results stay as they were.

    Raises: review_not_found (404); claim_needed, claim_lost (409); review_ended;
    not_an_amendment. Source: Ours.
    """
    review = lock_claimed_review(tenant=tenant, actor=actor, review_id=review_id)
    if (
        review.job.status != ParsingJobStatus.COMPLETED
        or review.kind != ReviewKind.FIRST
    ):
        raise DomainError(
            "not_an_amendment",
            _("A first review can't be withdrawn. Sign or reject it."),
        )
    end_review(review, ReviewStatus.WITHDRAWN)
    record_review_change_in_audit_log(review, actor, verb="withdraw_amendment")
    return review


def _read_now(job: ParsingJob, chosen: ReadingChoice) -> dict[int, dict[str, Any]]:
    """What the chosen rows say in their reading, by position in its diff."""
    found = get_rereading(
        tenant=job.tenant, job_id=job.id, rereading_id=chosen.rereading_id
    )
    if job.version != chosen.version:
        raise Conflict(
            "report_changed",
            _("The results changed. Reload the page and choose again."),
        )
    read = {
        diff.position: diff.after
        for diff in list_rereading_differences(rereading=found)
        if diff.after is not None
    }
    if not chosen.positions <= read.keys():
        raise NotFound("row_not_found", _("Row not found."))
    return {position: read[position] for position in sorted(chosen.positions)}


def _first_rows(
    job: ParsingJob, signed: Review | None, read_now: dict[int, dict[str, Any]]
) -> tuple[list[InitialRow], list[dict[str, Any]]]:
    """The rows that an amendment begins with, in reading order, and what is said of
    them.
    """
    notes = job.notes or []
    if signed is None:
        rows = build_initial_review_rows(list_report_results(job))
        if not read_now:
            return rows, notes
    else:
        notes = signed.notes
        rows = [
            InitialRow(
                values=row.values,
                state=row.state,
                decision=row.decision,
                reason=row.reason,
                acknowledged=row.acknowledged,
            )
            for row in list_review_rows(tenant=job.tenant, review=signed)
        ]
    # A diff counts the rows that stand, then those that only the machine has.
    standing = [
        place for place, row in enumerate(rows) if row.decision != RowDecision.EXCLUDED
    ]
    for position, values in read_now.items():
        row = InitialRow(values=values, state="")
        if position < len(standing):
            rows[standing[position]] = row
        else:
            rows.append(row)
    return recheck_initial_review_rows(rows, notes=notes)
