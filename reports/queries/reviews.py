"""Reads of reviews: their rows, readings, comments and open questions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

from portal.lib.errors import NotFound
from reports.models import (
    LoincAlias,
    ParsingJob,
    Rereading,
    Review,
    ReviewComment,
    ReviewRow,
    ReviewRowVersion,
)
from reports.states import ReviewKind, RowDecision

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from accounts.models import Tenant

# Decisions of rows that a report does not have: as parsed, and as reviewed.
_ABSENT_BEFORE = {RowDecision.EXCLUDED, RowDecision.ADDED}
_ABSENT_AFTER = {RowDecision.EXCLUDED}


@dataclass(frozen=True, slots=True)
class RowDiff:
    """A row that a review changed: values before and after, None if absent.

    fields: the names of the values that differ.
    """

    position: int
    decision: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    fields: tuple[str, ...]


def get_review(*, tenant: Tenant, review_id: UUID) -> Review:
    """Return one review with its job and user. Raises: review_not_found."""
    rows = Review.objects.for_tenant(tenant).live()
    found: Review | None = (
        rows.filter(id=review_id).select_related("job__user", "signature").first()
    )
    if found is None:
        raise NotFound("review_not_found", _("Review not found."))
    found.job.tenant = tenant
    return found


def list_reviews_of_job(*, job: ParsingJob) -> list[Review]:
    """Return a job's reviews with their signatures, oldest first; one query."""
    rows = Review.objects.for_tenant(job.tenant).filter(job=job)
    return list(rows.select_related("signature").order_by("number"))


def list_review_rows(*, tenant: Tenant, review: Review) -> list[ReviewRow]:
    """Return a review's current rows in reading order; one query."""
    rows = ReviewRow.objects.for_tenant(tenant).filter(review=review)
    return sorted(rows, key=get_row_reading_order_key)


def list_previous_readings(review: Review) -> list[Review]:
    """Return the signed readings before a second read or a dispute, in order.

    Empty for a first review; one query, with signatures. Source: Ours: readings of one
    report follow each other by number.
    """
    behind = {ReviewKind.SECOND: 1, ReviewKind.DISPUTE: 2}
    count = behind.get(ReviewKind.known(review.kind) or ReviewKind.FIRST, 0)
    if not count:
        return []
    rows = Review.objects.for_tenant(review.tenant).filter(
        job_id=review.job_id,
        number__range=(review.number - count, review.number - 1),
    )
    return list(rows.select_related("signature").order_by("number"))


def list_previous_reader_keys(review: Review) -> set[str]:
    """Return the keys of the members who signed the readings before this one."""
    return {one.signature.member_key for one in list_previous_readings(review)}


def get_row_reading_order_key(row: ReviewRow) -> tuple[int, int]:
    """Return the sort key of reading order; an added row follows the one above."""
    return (row.position if row.after is None else row.after, row.position)


def sort_rows_by_review_urgency(rows: Iterable[ReviewRow]) -> list[ReviewRow]:
    """Sort rows: contradictions first, then doubts, the decided last."""
    return sorted(rows, key=lambda row: (_need(row), row.position))


def list_review_row_versions(
    *, tenant: Tenant, review: Review, position: int | None = None
) -> list[ReviewRowVersion]:
    """Return every version of a review's rows, or of one row, oldest first."""
    rows = ReviewRowVersion.objects.for_tenant(tenant).filter(row__review=review)
    if position is not None:
        rows = rows.filter(row__position=position)
    return list(rows.select_related("row").order_by("row__position", "version"))


def list_loinc_aliases(*, tenant: Tenant) -> list[LoincAlias]:
    """Return a team's LOINC mappings in this environment, newest first."""
    return list(LoincAlias.objects.for_tenant(tenant).order_by("-id"))


def list_review_comments(*, review: Review) -> list[ReviewComment]:
    """Return the comments on a review and its rows, oldest first."""
    rows = ReviewComment.objects.for_tenant(review.tenant).filter(review=review)
    return list(rows.order_by("id"))


def list_report_rereadings(job: ParsingJob) -> list[Rereading]:
    """Return the new readings of a report, newest first, without their rows."""
    rows = Rereading.objects.for_tenant(job.tenant).filter(job=job)
    return list(rows.defer("rows", "notes").order_by("-id"))


def list_rows_changed_by_review(*, tenant: Tenant, review: Review) -> list[RowDiff]:
    """Return the rows that a review changed since it was opened. Two queries."""
    firsts = {
        version.row_id: version
        for version in ReviewRowVersion.objects.for_tenant(tenant).filter(
            row__review=review, version=1
        )
    }
    found = []
    for row in list_review_rows(tenant=tenant, review=review):
        first = firsts[row.pk]
        before = None if first.decision in _ABSENT_BEFORE else first.values
        after = None if row.decision in _ABSENT_AFTER else row.values
        fields = tuple(
            name
            for name in sorted({**(before or {}), **(after or {})})
            if (before or {}).get(name) != (after or {}).get(name)
        )
        if fields:
            found.append(RowDiff(row.position, row.decision, before, after, fields))
    return found


def _need(row: ReviewRow) -> int:
    if row.is_decided:
        return 4
    if row.state == "contradiction" or row.is_critical:
        return 0
    if row.state == "look":
        return 1
    return 2 if row.is_flagged else 3
