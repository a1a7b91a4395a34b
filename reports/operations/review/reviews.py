"""Reviews: open, claim under a lease, release and take over."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_change
from portal.lib.actor import ActorKind
from portal.lib.database.transitions import move_status
from portal.lib.errors import Conflict, DomainError, NotAllowed, NotFound
from reports.models import Review, ReviewRow, ReviewRowVersion
from reports.parser.report import Confidence, ParsedResult, Provenance
from reports.queries import list_previous_reader_keys
from reports.states import REVIEW_MOVES, ReviewStatus, RowDecision

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from uuid import UUID

    from accounts.models import Tenant
    from portal.lib.actor import Actor
    from reports.models import ParsingJob, ReportResult

LEASE = timedelta(minutes=10)  # Ours (workflow D1); each change renews it
REASON_MAX_LENGTH = 1000


@dataclass(frozen=True, slots=True)
class InitialRow:
    """A row that a review starts with: values in the shape of ParsedResult."""

    values: dict[str, Any]
    state: str
    decision: str = RowDecision.UNDECIDED
    reason: str = ""
    acknowledged: dict[str, Any] | None = None
    disputed: dict[str, Any] | None = None


def build_initial_review_rows(rows: Iterable[ReportResult]) -> list[InitialRow]:
    """Return stored results as undecided initial rows of a review."""
    return [InitialRow(values=_values(row), state=row.state) for row in rows]


@transaction.atomic
def open_report_review(
    *,
    job: ParsingJob,
    rows: Sequence[InitialRow],
    notes: list[dict[str, Any]],
    number: int = 1,
    actor_label: str = "parser",
    **given: object,
) -> Review:
    """Open a review of a report with its initial rows, each at version 1.

    given: columns of the review that an amendment takes over. Source: Ours (workflow
    D1): a person's work never touches what the machine read.
    """
    review = Review(
        tenant=job.tenant, job=job, number=number, notes=notes, first_notes=notes
    )
    for name, value in given.items():
        setattr(review, name, value)
    made = [
        ReviewRow(
            tenant=job.tenant,
            review=review,
            position=position,
            values=row.values,
            state=row.state,
            decision=row.decision,
            reason=row.reason,
            acknowledged=row.acknowledged,
            disputed=row.disputed,
        )
        for position, row in enumerate(rows)
    ]
    update_review_counts(review, made)
    sure = [row.values["confidence"].get("overall") for row in rows]
    review.lowest_confidence = min(
        (one for one in sure if one is not None), default=None
    )
    review.save(force_insert=True)
    ReviewRow.objects.for_tenant(job.tenant).bulk_create(made)
    ReviewRowVersion.objects.for_tenant(job.tenant).bulk_create(
        ReviewRowVersion(
            tenant=job.tenant,
            row=row,
            version=1,
            values=row.values,
            decision=row.decision,
            reason=row.reason,
            actor_kind=ActorKind.SYSTEM,
            actor_key="",
            actor_label=actor_label,
        )
        for row in made
    )
    return review


@transaction.atomic
def claim_review(*, tenant: Tenant, actor: Actor, review_id: UUID) -> Review:
    """Claim a review for LEASE, or renew one's own lease.

    An ended lease goes to whoever claims next; what was saved under it stays. Raises:
    review_not_found (404); member_needed, another_reader_needed (403); review_claimed
    (409); review_ended. Source: Ours (workflow D1).
    """
    _require_member(actor)
    review = lock_open_review(tenant=tenant, review_id=review_id)
    _require_other_reader(review, actor)
    if _is_claimed_by_other(review, actor):
        raise Conflict("review_claimed", _("Someone else is reviewing this report."))
    return _assign_lease(review, actor, verb="claim_review")


@transaction.atomic
def take_over_review(
    *, tenant: Tenant, actor: Actor, review_id: UUID, why: str
) -> Review:
    """Take over a review from its reviewer; their next change is refused.

    Raises: as claim_review but for review_claimed; reason_missing, reason_too_long.
    Source: Ours (workflow D1): a colleague who was called away holds up no patient.
    """
    _require_member(actor)
    reason = validate_review_reason(why)
    review = lock_open_review(tenant=tenant, review_id=review_id)
    _require_other_reader(review, actor)
    return _assign_lease(review, actor, verb="take_over_review", why=reason)


@transaction.atomic
def assign_review(
    *, tenant: Tenant, actor: Actor, review_id: UUID, reviewer: Actor
) -> Review:
    """Set a review aside for a reviewer, who has it until someone else claims it.

    It has no lease: their first change or claim starts one. Raises: as claim_review, of
    the reviewer. Source: Ours: who plans a morning deals reports out.
    """
    _require_member(actor)
    _require_member(reviewer)
    review = lock_open_review(tenant=tenant, review_id=review_id)
    _require_other_reader(review, reviewer)
    if _is_claimed_by_other(review, reviewer):
        raise Conflict("review_claimed", _("Someone else is reviewing this report."))
    before = review.claimed_by_key
    if review.is_leased and before == reviewer.key:
        return review
    review.claimed_at = None
    _set_lease(review, key=reviewer.key, label=reviewer.label, until=None)
    review.save(update_fields=_LEASE_COLUMNS)
    record_review_change_in_audit_log(
        review, actor, verb="assign_review", claimed_by=[before, reviewer.key]
    )
    return review


@transaction.atomic
def unassign_review(*, tenant: Tenant, actor: Actor, review_id: UUID) -> Review:
    """Return an assigned review, or one's own, to the queue.

    Raises: review_not_found (404); review_claimed (409) while someone else has it open;
    review_ended.
    """
    _require_member(actor)
    review = lock_open_review(tenant=tenant, review_id=review_id)
    if _is_claimed_by_other(review, actor):
        raise Conflict("review_claimed", _("Someone else is reviewing this report."))
    if review.claimed_by_key:
        before = review.claimed_by_key
        review.claimed_at = None
        _set_lease(review, key="", label="", until=None)
        review.save(update_fields=_LEASE_COLUMNS)
        record_review_change_in_audit_log(
            review, actor, verb="release_review", claimed_by=[before, ""]
        )
    return review


@transaction.atomic
def release_review(*, tenant: Tenant, actor: Actor, review_id: UUID) -> Review:
    """Return a review to the queue; saved changes are kept.

    Raises: review_not_found (404), claim_needed, claim_lost (409), review_ended.
    """
    review = lock_claimed_review(tenant=tenant, actor=actor, review_id=review_id)
    _set_lease(review, key="", label="", until=None)
    review.save(update_fields=_LEASE_COLUMNS)
    record_review_change_in_audit_log(review, actor, verb="release_review")
    return review


def lock_claimed_review(*, tenant: Tenant, actor: Actor, review_id: UUID) -> Review:
    """Lock the review for a change by its reviewer, and renew the lease.

    The caller saves it, with `claimed_until`. An ended lease that nobody took goes on.
    Raises: review_not_found (404); claim_needed, claim_lost (409); review_ended.
    """
    review = lock_open_review(tenant=tenant, review_id=review_id)
    if not review.claimed_by_key:
        raise Conflict("claim_needed", _("Claim the review before changing it."))
    if actor.kind != ActorKind.MEMBER or review.claimed_by_key != actor.key:
        raise Conflict(
            "claim_lost",
            _("Someone else took over this review. Reload the page to see who."),
        )
    review.claimed_until = timezone.now() + LEASE
    return review


def lock_open_review(*, tenant: Tenant, review_id: UUID) -> Review:
    """Lock a review that has not ended, with its job and user.

    Raises: review_not_found (404); review_ended.
    """
    rows = Review.objects.for_tenant(tenant).live().select_for_update(of=("self",))
    review: Review | None = (
        rows.filter(id=review_id).select_related("job__user").first()
    )
    if review is None:
        raise NotFound("review_not_found", _("Review not found."))
    if review.status != ReviewStatus.OPEN:
        raise DomainError("review_ended", _("This review has ended."))
    review.tenant = review.job.tenant = review.job.user.tenant = tenant
    return review


def end_review(review: Review, to: ReviewStatus, **changes: object) -> None:
    """End a review and its lease; the only writer of a review's status.

    Raises: transition_not_allowed.
    """
    move_status(
        review,
        moves=REVIEW_MOVES,
        to=to,
        ended_at=timezone.now(),
        claimed_until=None,
        **changes,
    )


def update_review_counts(review: Review, rows: Iterable[ReviewRow]) -> None:
    """Set the columns that the queue shows from the rows; the caller saves."""
    counted = list(rows)
    review.flagged = sum(row.is_flagged and not row.is_decided for row in counted)
    review.is_critical = any(row.is_critical for row in counted)


def record_review_change_in_audit_log(
    review: Review, actor: Actor, *, verb: str, **changes: object
) -> None:
    """Record a change to a review in the audit log; never pass a value."""
    record_change(
        tenant=review.tenant,
        actor=actor,
        verb=verb,
        subject="parsing_job",
        subject_id=review.job_id,
        user_uuid=review.job.user.uuid,
        changes={"review": review.number, **changes},
    )


def validate_review_reason(text: str) -> str:
    """Return the reason, stripped. Raises: reason_missing, reason_too_long."""
    reason = text.replace("\0", "").strip()  # PostgreSQL takes no text with it
    if not reason:
        raise DomainError("reason_missing", _("Enter a reason."), "reason")
    if len(reason) > REASON_MAX_LENGTH:
        raise DomainError(
            "reason_too_long", _("Enter at most 1,000 characters."), "reason"
        )
    return reason


_LEASE_COLUMNS = ["claimed_by_key", "claimed_by_label", "claimed_at", "claimed_until"]


def _require_member(actor: Actor) -> None:
    if actor.kind != ActorKind.MEMBER:
        raise NotAllowed("member_needed", _("Only a member can review a report."))


def _require_other_reader(review: Review, actor: Actor) -> None:
    """Refuse a second read to the first reader, and a dispute to either."""
    if actor.key in list_previous_reader_keys(review):
        raise NotAllowed(
            "another_reader_needed",
            _("You have already read this report. Another reviewer is needed."),
        )


def _is_claimed_by_other(review: Review, actor: Actor) -> bool:
    return review.is_leased and review.claimed_by_key != actor.key


def _assign_lease(review: Review, actor: Actor, *, verb: str, why: str = "") -> Review:
    before = review.claimed_by_key
    if before != actor.key or review.claimed_at is None:
        review.claimed_at = timezone.now()
    _set_lease(review, key=actor.key, label=actor.label, until=timezone.now() + LEASE)
    review.save(update_fields=_LEASE_COLUMNS)
    if before != actor.key:
        details = {"why": why} if why else {}
        record_review_change_in_audit_log(
            review, actor, verb=verb, claimed_by=[before, actor.key], **details
        )
    return review


def _set_lease(review: Review, *, key: str, label: str, until: Any) -> None:
    review.claimed_by_key, review.claimed_by_label = key, label
    review.claimed_until = until


def _values(row: ReportResult) -> dict[str, Any]:
    """A stored result in the shape of ParsedResult, parts it never had as None."""
    values = {part.name: getattr(row, part.name) for part in fields(ParsedResult)}
    values["loinc_matches"] = [
        {**match, "reasons": match.get("reasons", [])} for match in row.loinc_matches
    ]
    for name, kind in (("provenance", Provenance), ("confidence", Confidence)):
        values[name] = {part.name: values[name].get(part.name) for part in fields(kind)}
    return values
