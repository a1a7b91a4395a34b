"""Unmatched results on the wire: statuses, decisions, actions (contract 8.2, 10)."""

from __future__ import annotations

from labs.states.inbound import UnmatchedReason
from portal.lib.choices import OpenChoices
from portal.lib.translation import gettext_lazy


class MatchReviewStatus(OpenChoices):
    """Who has to decide about an unmatched result."""

    PENDING = "pending_customer_review", gettext_lazy("Unmatched")
    ESCALATED = "pending_ops_review", gettext_lazy("Escalated")
    RESOLVED = "resolved", gettext_lazy("Resolved")


class MatchDecision(OpenChoices):
    """Why a result was not matched."""

    SAMPLE_ID = "match_sample_id", gettext_lazy("Sample ID matches")
    COMPLETED = "match_completed", gettext_lazy("Matches a completed order")
    CANCELLED = "match_cancelled", gettext_lazy("Matches a cancelled order")
    WRONG_COLLECTION = "wrong_collection", gettext_lazy("Order accepts no results")
    WRONG_LAB = "wrong_lab", gettext_lazy("Order of another lab")
    SEVERAL = "multiple_demo_match", gettext_lazy("Several orders match")
    OTHER_PERSON = "match_sample_id_mismatch_demo", gettext_lazy("Patient differs")
    PERSON = "match_demo", gettext_lazy("Patient matches")
    NO_MATCH = "no_match", gettext_lazy("No matching order")


class MatchAction(OpenChoices):
    """What was decided about a result."""

    ACCEPT = "accept", gettext_lazy("Match to an order")
    REJECT = "reject", gettext_lazy("Reject")
    UNSURE = "unsure", gettext_lazy("Escalate")


class MatchResolution(OpenChoices):
    """What can be decided about a result without an order."""

    REJECT = "reject", gettext_lazy("Reject")
    UNSURE = "unsure", gettext_lazy("Escalate")


LAB_ACCOUNT_MISMATCH = "lab_account_mismatch"

# Ours; of what is not here, NO_MATCH.
_DECISIONS = {
    UnmatchedReason.SEVERAL_ORDERS: MatchDecision.SEVERAL,
    UnmatchedReason.PERSON_DIFFERS: MatchDecision.OTHER_PERSON,
    UnmatchedReason.NO_PERSON: MatchDecision.SAMPLE_ID,
    UnmatchedReason.HELD_LINES: MatchDecision.SAMPLE_ID,
    UnmatchedReason.OTHER_ACCOUNT: MatchDecision.SAMPLE_ID,
    UnmatchedReason.NOT_EXPECTED: MatchDecision.WRONG_COLLECTION,
}


def get_match_decision(reason: str) -> MatchDecision:
    """Return the wire's code of why a report was not matched."""
    known = UnmatchedReason.known(reason)
    return (
        _DECISIONS.get(known, MatchDecision.NO_MATCH)
        if known
        else (MatchDecision.NO_MATCH)
    )


def list_reasons_by_match_decision(decision: str) -> tuple[set[str], bool]:
    """Return the reasons that a wire code stands for, and whether all but these."""
    if decision == MatchDecision.NO_MATCH:
        return {str(reason) for reason in _DECISIONS}, True
    return {str(one) for one, code in _DECISIONS.items() if code == decision}, False
