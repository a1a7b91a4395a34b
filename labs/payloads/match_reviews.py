"""Wire shapes of reviews of unmatched results (contract 8.2, 10)."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, TypedDict
from uuid import UUID

from labs.states.inbound import MatchStatus, UnmatchedReason
from labs.states.match_reviews import (
    LAB_ACCOUNT_MISMATCH,
    MatchAction,
    MatchDecision,
    MatchReviewStatus,
    get_match_decision,
)

if TYPE_CHECKING:
    from labs.models import InboundReport, Lab

_UUID = {"type": "string", "format": "uuid"}
_UUID_OR_NULL = {"type": ["string", "null"], "format": "uuid"}


class MatchLabAnswer(TypedDict):
    """The lab that sent a result."""

    id: int
    name: str
    slug: str


class MatchReviewAnswer(TypedDict):
    """An unmatched result without patient details."""

    id: UUID
    status: Annotated[str, MatchReviewStatus]
    decision_code: Annotated[str, MatchDecision]
    sub_reason_codes: list[str]
    resolution_action: Annotated[str, MatchAction] | None
    resolved_user_id: UUID | None
    resolved_order_id: UUID | None
    received_at: datetime
    lab: MatchLabAnswer
    order_id: UUID | None


# Data of labtest.match_review.created and .updated (contract 8.2).
MATCH_REVIEW_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": sorted(MatchReviewAnswer.__required_keys__),
    "properties": {
        "id": _UUID,
        "status": {
            "type": "string",
            "enum": [value for value, _label in MatchReviewStatus.offered()],
        },
        "decision_code": {
            "type": "string",
            "enum": [value for value, _label in MatchDecision.offered()],
        },
        "sub_reason_codes": {
            "type": "array",
            "items": {"type": "string", "enum": [LAB_ACCOUNT_MISMATCH]},
        },
        "resolution_action": {"type": ["string", "null"]},
        "resolved_user_id": _UUID_OR_NULL,
        "resolved_order_id": _UUID_OR_NULL,
        "received_at": {"type": "string", "format": "date-time"},
        "lab": {
            "type": "object",
            "required": ["id", "name", "slug"],
            "properties": {
                "id": {"type": "integer"},
                "name": {"type": "string"},
                "slug": {"type": "string"},
            },
        },
        "order_id": _UUID_OR_NULL,
    },
}


def build_match_review(report: InboundReport) -> MatchReviewAnswer:
    """Build a review of a report whose lab, and user if matched, are loaded."""
    order = report.order
    return {
        "id": report.pk,
        "status": get_match_review_status(report),
        "decision_code": get_match_decision(report.reason),
        "sub_reason_codes": [LAB_ACCOUNT_MISMATCH]
        if report.reason == UnmatchedReason.OTHER_ACCOUNT
        else [],
        "resolution_action": _resolution_action(report),
        "resolved_user_id": order.user.uuid if order else None,
        "resolved_order_id": order.pk if order else None,
        "received_at": report.received_at,
        "lab": build_match_lab(report.message.lab),
        "order_id": order.pk if order else None,
    }


def build_match_lab(lab: Lab) -> MatchLabAnswer:
    """Build the lab of a review."""
    return {"id": lab.pk, "name": lab.name, "slug": lab.slug}


def get_match_review_status(report: InboundReport) -> MatchReviewStatus:
    """Return the wire's status of a report that was not matched by itself."""
    if report.status != MatchStatus.UNMATCHED:
        return MatchReviewStatus.RESOLVED
    if report.escalated_at is not None:
        return MatchReviewStatus.ESCALATED
    return MatchReviewStatus.PENDING


def _resolution_action(report: InboundReport) -> MatchAction | None:
    match report.status:
        case MatchStatus.MATCHED:
            return MatchAction.ACCEPT
        case MatchStatus.REJECTED:
            return MatchAction.REJECT
        case _:
            return MatchAction.UNSURE if report.escalated_at is not None else None
