"""Comments of reviewers on a review or one of its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _

from portal.lib.errors import NotFound
from reports.models import ReviewComment, ReviewRow
from reports.operations.review.reviews import (
    lock_claimed_review,
    record_review_change_in_audit_log,
    validate_review_reason,
)

if TYPE_CHECKING:
    from uuid import UUID

    from accounts.models import Tenant
    from portal.lib.actor import Actor


@transaction.atomic
def add_review_comment(
    *,
    tenant: Tenant,
    actor: Actor,
    review_id: UUID,
    text: str,
    position: int | None = None,
) -> ReviewComment:
    """Add a comment to a row, or to the whole review if no position is given.

    It stays as written, and the other reader of a report does not see it before both
    have signed. Raises: review_not_found, row_not_found (404); claim_needed, claim_lost
    (409); review_ended, reason_missing, reason_too_long. Source: Ours (workflow D1).
    """
    comment_text = validate_review_reason(text)
    review = lock_claimed_review(tenant=tenant, actor=actor, review_id=review_id)
    rows = ReviewRow.objects.for_tenant(tenant).filter(review=review)
    if position is not None and not rows.filter(position=position).exists():
        raise NotFound("row_not_found", _("Row not found."), "position")
    comment = ReviewComment(
        tenant=tenant,
        review=review,
        position=position,
        text=comment_text,
        actor_key=actor.key,
        actor_label=actor.label,
    )
    comment.save(force_insert=True)
    review.save(update_fields=["claimed_until"])
    positions = [] if position is None else [position]
    record_review_change_in_audit_log(
        review, actor, verb="comment_review", positions=positions
    )
    return comment
