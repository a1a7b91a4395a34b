"""Reviewers in tests, and short ways to say what they do."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from django.utils import timezone

from portal.lib.actor import Actor, ActorKind
from reports.models import ReviewRow
from reports.operations.review.checks import (
    RowText,
    convert_stored_row_to_parsed_result,
)
from reports.operations.review.gates import record_page_shown_to_reviewer
from reports.operations.review.rows import confirm_review_row
from reports.operations.review.saving import RowRef
from reports.operations.signing.signing import SigningIntent, sign_and_approve_report
from reports.states import SignatureMeaning

NORA = Actor(ActorKind.MEMBER, "7", "nora@assay.example")
OTTO = Actor(ActorKind.MEMBER, "8", "otto@assay.example")
PIA = Actor(ActorKind.MEMBER, "9", "pia@assay.example")


def rows_of(review: Any) -> list[ReviewRow]:
    rows = ReviewRow.objects.for_tenant(review.tenant).filter(review=review)
    return list(rows.order_by("position"))


def ref_of(review: Any, position: int = 0) -> RowRef:
    """The row as it stands now."""
    (row,) = [row for row in rows_of(review) if row.position == position]
    return RowRef(review.id, position, row.version)


def text_of(review: Any, position: int = 0) -> RowText:
    (row,) = [row for row in rows_of(review) if row.position == position]
    result = convert_stored_row_to_parsed_result(row)
    return RowText(**{one.name: getattr(result, one.name) for one in fields(RowText)})


def tenant_and_actor(review: Any, actor: Actor = NORA) -> dict[str, Any]:
    return {"tenant": review.tenant, "actor": actor}


def signing_intent(**changes: Any) -> SigningIntent:
    fields = {"meaning": SignatureMeaning.ACCURACY, "authenticated_at": timezone.now()}
    return SigningIntent(**{**fields, **changes})


def decide_all(review: Any, actor: Actor = NORA) -> None:
    """Confirm what is undecided and see every page."""
    for row in rows_of(review):
        if not row.is_decided:
            confirm_review_row(
                **tenant_and_actor(review, actor),
                ref=ref_of(review, row.position),
                reason="Printed like this.",
            )
    for page in range(1, (review.job.pages or 0) + 1):
        record_page_shown_to_reviewer(
            **tenant_and_actor(review, actor), review_id=review.id, page=page
        )


def sign(review: Any, actor: Actor = NORA) -> Any:
    return sign_and_approve_report(
        **tenant_and_actor(review, actor), review_id=review.id, intent=signing_intent()
    )
