"""Answers of unmatched results (contract 10)."""

from __future__ import annotations

from datetime import UTC, datetime, time
from typing import TYPE_CHECKING, Annotated, Any, TypedDict
from uuid import UUID

from labs.payloads.match_reviews import (
    MatchLabAnswer,
    build_match_review,
    get_match_review_status,
)
from labs.queries.orders.history import has_order_ended
from labs.states.inbound import Agreement, UnmatchedReason
from labs.states.match_reviews import (
    LAB_ACCOUNT_MISMATCH,
    MatchAction,
    MatchDecision,
    MatchReviewStatus,
)
from labs.states.orders import Interpretation, split_order_status
from labs.states.results import ResultStatus
from portal.ui.pills import format_wire_value_as_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labs.gateways.hl7.reports import Patient
    from labs.models import InboundReport
    from labs.operations.inbound.matching import Candidate
    from labs.operations.inbound.report_summaries import ReportSummary

_GENDERS = {"F": "female", "M": "male"}
_COMPLETED = {"completed", "corrected"}


class MatchPatientAnswer(TypedDict):
    """The patient as the lab wrote it; `dob` is the start of the day, UTC."""

    first_name: str | None
    last_name: str | None
    dob: datetime | None
    gender: str | None


class MatchMarkerAnswer(TypedDict):
    """A test of a result."""

    provider_id: str
    name: str


class MatchCandidateAnswer(TypedDict):
    """An order that a result may belong to."""

    candidate_type: str
    order_id: UUID
    order_transaction_id: UUID
    last_status: str
    confidence_level: str
    confidence_score: float | None
    reasons: list[str]
    marker_overlap: dict[str, Any] | None
    status_context: dict[str, Any] | None


class MatchCandidateGroupAnswer(TypedDict):
    """The orders of one user that a result may belong to."""

    user_id: UUID
    candidates: list[MatchCandidateAnswer]


class UnmatchedResultAnswer(TypedDict):
    """An unmatched result; `candidate_groups` are null in a list."""

    id: UUID
    status: Annotated[str, MatchReviewStatus]
    decision_code: Annotated[str, MatchDecision]
    sub_reason_codes: list[str]
    reason: str
    patient: MatchPatientAnswer
    lab: MatchLabAnswer
    markers: list[MatchMarkerAnswer]
    interpretation: Annotated[str, Interpretation] | None
    result_status: Annotated[str, ResultStatus]
    note: str | None
    is_stale: bool | None
    resolution_action: Annotated[str, MatchAction] | None
    resolved_user_id: UUID | None
    resolved_order_id: UUID | None
    allowed_actions: list[str]
    candidate_groups: list[MatchCandidateGroupAnswer] | None
    created_at: datetime
    updated_at: datetime
    reviewed_at: datetime | None


class UnmatchedResultList(TypedDict):
    """A page of unmatched results."""

    data: list[UnmatchedResultAnswer]
    next_cursor: str | None
    total: int


def build_unmatched_result(
    report: InboundReport,
    summary: ReportSummary,
    *,
    can_reject: bool,
    candidates: Sequence[Candidate] | None = None,
) -> UnmatchedResultAnswer:
    """Build an unmatched result; candidates: None where they are not asked for."""
    review = build_match_review(report)
    known = UnmatchedReason.known(report.reason)
    moments = (report.received_at, report.escalated_at, report.resolved_at)
    return {
        "id": report.pk,
        "status": review["status"],
        "decision_code": review["decision_code"],
        "sub_reason_codes": review["sub_reason_codes"],
        "reason": str(known.label)
        if known
        else format_wire_value_as_words(report.reason),
        "patient": _build_patient(summary.patient),
        "lab": review["lab"],
        "markers": [
            {"provider_id": code, "name": name} for code, name in summary.tests
        ],
        "interpretation": summary.interpretation,
        "result_status": summary.status,
        "note": report.why or None,
        "is_stale": None,
        "resolution_action": review["resolution_action"],
        "resolved_user_id": review["resolved_user_id"],
        "resolved_order_id": review["resolved_order_id"],
        "allowed_actions": _list_allowed_actions(report, can_reject=can_reject),
        "candidate_groups": None
        if candidates is None
        else _build_candidate_groups(candidates),
        "created_at": report.received_at,
        "updated_at": max(moment for moment in moments if moment),
        "reviewed_at": report.resolved_at,
    }


def _build_patient(patient: Patient) -> MatchPatientAnswer:
    born = patient.birth_date
    return {
        "first_name": patient.given or None,
        "last_name": patient.family or None,
        "dob": datetime.combine(born, time.min, UTC) if born else None,
        "gender": _GENDERS.get(patient.sex),
    }


def _list_allowed_actions(report: InboundReport, *, can_reject: bool) -> list[str]:
    status = get_match_review_status(report)
    if status == MatchReviewStatus.RESOLVED:
        return []
    actions = [MatchAction.ACCEPT]
    if can_reject:
        actions.append(MatchAction.REJECT)
    if status == MatchReviewStatus.PENDING:
        actions.append(MatchAction.UNSURE)
    return [str(action) for action in actions]


def _build_candidate_groups(
    candidates: Sequence[Candidate],
) -> list[MatchCandidateGroupAnswer]:
    """Group candidates by user, likeliest first."""
    groups: dict[UUID, list[MatchCandidateAnswer]] = {}
    for one in candidates:
        groups.setdefault(one.order.user.uuid, []).append(_build_candidate(one))
    return [{"user_id": user, "candidates": theirs} for user, theirs in groups.items()]


def _build_candidate(candidate: Candidate) -> MatchCandidateAnswer:
    order, evidence = candidate.order, candidate.evidence
    is_named = evidence.number is Agreement.AGREES
    return {
        "candidate_type": "provenance_order" if is_named else "order_option",
        "order_id": order.pk,
        "order_transaction_id": order.transaction_id,
        "last_status": split_order_status(order.status).low,
        "confidence_level": _get_confidence(candidate),
        "confidence_score": None,
        "reasons": _list_reasons(candidate),
        "marker_overlap": None,
        "status_context": None,
    }


def _get_confidence(candidate: Candidate) -> str:
    """Return how likely it is: by number and person, by one of them, or by neither."""
    evidence = candidate.evidence
    points = (evidence.number is Agreement.AGREES) + evidence.is_same_person
    return ("low", "medium", "high")[points]


def _list_reasons(candidate: Candidate) -> list[str]:
    order, evidence = candidate.order, candidate.evidence
    person = (evidence.name, evidence.birth_date, evidence.sex)
    low = split_order_status(order.status).low
    reasons = (
        ("sample_id_match", evidence.number is Agreement.AGREES),
        ("demographic_match", evidence.is_same_person),
        ("demographic_mismatch", Agreement.DIFFERS in person),
        (LAB_ACCOUNT_MISMATCH, evidence.account is Agreement.DIFFERS),
        ("same_lab", True),
        ("marker_overlap_partial", evidence.tests is Agreement.AGREES),
        ("marker_overlap_none", evidence.tests is not Agreement.AGREES),
        ("matched_completed_order", low in _COMPLETED),
        ("matched_cancelled_order", low == "cancelled"),
        (
            "invalid_collection_state",
            low not in {*_COMPLETED, "cancelled"} and has_order_ended(order),
        ),
    )
    return [code for code, is_so in reasons if is_so]
