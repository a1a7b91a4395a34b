"""What a review settles beside its rows: pages shown, person, duplicates, alarms.

Must not be here: whether all of it is settled (review_signing).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction

from portal.lib.errors import Conflict, DomainError, NotFound
from reports.models import ReviewRow
from reports.operations.reviews import read_reason, record_review, working_review

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from accounts.models import Tenant
    from portal.lib.actor import Actor
    from reports.models import Review
    from reports.operations.review_saving import RowRef


@dataclass(frozen=True, slots=True)
class Notice:
    """Who was told of a critical value, when (with an offset), and by what way."""

    told: str
    at: datetime
    way: str


@transaction.atomic
def show_page(*, tenant: Tenant, actor: Actor, review_id: UUID, page: int) -> Review:
    """Note that a page, counted from 1, was displayed to the reviewer.

    Raises: review_not_found (404); claim_needed, claim_lost (409); review_ended,
    page_unknown. Source: Ours (workflow D1): nobody signs what they did not see.
    """
    review = working_review(tenant=tenant, actor=actor, review_id=review_id)
    if not 1 <= page <= (review.job.pages or 0):
        raise DomainError("page_unknown", "The report has no such page.", "page")
    if page not in review.pages_shown:
        review.pages_shown = sorted([*review.pages_shown, page])
        review.save(update_fields=["pages_shown", "claimed_until"])
        record_review(review, actor, verb="show_page", page=page)
    return review


@transaction.atomic
def decide_identity(
    *, tenant: Tenant, actor: Actor, review_id: UUID, reason: str
) -> Review:
    """Say that a report is this user's although something does not agree, and why.

    Of another person's report see reject_report. Raises: as show_page but for
    page_unknown; reason_missing, reason_too_long. Source: Ours (workflow D1).
    """
    why = read_reason(reason)
    review = working_review(tenant=tenant, actor=actor, review_id=review_id)
    review.identity_decided = why
    review.save(update_fields=["identity_decided", "claimed_until"])
    record_review(review, actor, verb="decide_identity")
    return review


@transaction.atomic
def keep_duplicate(
    *, tenant: Tenant, actor: Actor, review_id: UUID, reason: str
) -> Review:
    """Say that a report counts beside others of the same file or specimen, and why.

    Raises: as decide_identity. Source: Ours (workflow D1).
    """
    why = read_reason(reason)
    review = working_review(tenant=tenant, actor=actor, review_id=review_id)
    review.duplicate_decided = why
    review.save(update_fields=["duplicate_decided", "claimed_until"])
    record_review(review, actor, verb="keep_duplicate")
    return review


@transaction.atomic
def acknowledge_critical(
    *, tenant: Tenant, actor: Actor, ref: RowRef, notice: Notice
) -> ReviewRow:
    """Say who was told of a row's critical value, when and how.

    Raises: review_not_found, row_not_found (404); claim_needed, claim_lost, row_changed
    (409); review_ended, not_critical, reason_missing, reason_too_long. Source: Ours
    (workflow D1), as ISO 15189 asks of who reports an alarming value.
    """
    told, way = read_reason(notice.told), read_reason(notice.way)
    review = working_review(tenant=tenant, actor=actor, review_id=ref.review_id)
    rows = ReviewRow.objects.for_tenant(tenant).filter(review=review)
    row: ReviewRow | None = rows.filter(position=ref.position).first()
    if row is None:
        raise NotFound("row_not_found", "Row not found.", "position")
    if row.version != ref.version:
        raise Conflict("row_changed", "This row was changed meanwhile.")
    if not row.is_critical:
        raise DomainError("not_critical", "This value is not critical.")
    row.acknowledged = {"told": told, "at": notice.at.isoformat(), "way": way}
    row.save(update_fields=["acknowledged"])
    review.save(update_fields=["claimed_until"])
    record_review(review, actor, verb="acknowledge_critical", positions=[row.position])
    return row
