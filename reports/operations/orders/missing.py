"""Say of a report's order what its lab does not report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _

from portal.lib.errors import DomainError
from reports.operations.orders.comparing import compare_report_with_order
from reports.operations.review.reviews import (
    claim_review,
    record_review_change_in_audit_log,
)

if TYPE_CHECKING:
    from uuid import UUID

    from accounts.models import Tenant
    from portal.lib.actor import Actor
    from reports.models import Review


@transaction.atomic
def mark_ordered_result_missing(
    *, tenant: Tenant, actor: Actor, review_id: UUID, key: str, is_performed: bool
) -> Review:
    """Say whether the lab still reports what a report lacks, or did not perform it.

    The review is the member's afterwards, as with every change. `key` is that of an
    OrderedResult. Without it the order waits for the result. Raises: as claim_review;
    ordered_result_not_missing. Source: Ours: only a person knows what a lab left out.
    """
    review = claim_review(tenant=tenant, actor=actor, review_id=review_id)
    comparison = compare_report_with_order(review.job)
    waiting = {
        line.ordered.key
        for line in (comparison.lines if comparison else ())
        if line.ordered and not line.row
    }
    if key not in waiting:
        raise DomainError(
            "ordered_result_not_missing", _("The report has this result."), "key"
        )
    others = [one for one in review.not_performed if one != key]
    review.not_performed = others if is_performed else [*others, key]
    review.save(update_fields=["not_performed"])
    record_review_change_in_audit_log(
        review, actor, verb="mark_missing_result", result=key, awaited=is_performed
    )
    return review
