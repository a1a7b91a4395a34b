"""Statuses of lab messages and reports, and their transitions."""

from __future__ import annotations

from portal.lib.choices import OpenChoices
from portal.lib.database.transitions import Transitions
from portal.lib.translation import gettext_lazy


class MessageStatus(OpenChoices):
    """The status of a message."""

    TAKEN = "taken", gettext_lazy("Processed")
    MALFORMED = "malformed", gettext_lazy("Malformed")
    REFUSED = "refused", gettext_lazy("Rejected by the lab")
    DISMISSED = "dismissed", gettext_lazy("Dismissed")


# Ours: what needs a person's eye leaves the queue by their word alone.
MESSAGE_MOVES: Transitions[MessageStatus] = Transitions(
    {
        MessageStatus.TAKEN: set(),
        # Taken after all, where this version reads what another did not.
        MessageStatus.MALFORMED: {MessageStatus.TAKEN, MessageStatus.DISMISSED},
        MessageStatus.REFUSED: {MessageStatus.DISMISSED},
        MessageStatus.DISMISSED: set(),
    }
)


class MatchStatus(OpenChoices):
    """The status of a lab's report."""

    UNMATCHED = "unmatched", gettext_lazy("Unmatched")
    MATCHED = "matched", gettext_lazy("Matched")
    REJECTED = "rejected", gettext_lazy("Rejected")


# Ours: results that were given to an order are corrected by the lab, never taken away;
# a rejection that was wrong can be put back.
MATCH_MOVES: Transitions[MatchStatus] = Transitions(
    {
        MatchStatus.UNMATCHED: {MatchStatus.MATCHED, MatchStatus.REJECTED},
        MatchStatus.MATCHED: set(),
        MatchStatus.REJECTED: {MatchStatus.UNMATCHED},
    }
)


class UnmatchedReason(OpenChoices):
    """Why a report was not matched to an order."""

    NO_ORDER = "no_order", gettext_lazy("No matching order")
    SEVERAL_ORDERS = "several_orders", gettext_lazy("Several orders match")
    PERSON_DIFFERS = "person_differs", gettext_lazy("Patient differs from the order")
    NO_PERSON = "no_person", gettext_lazy("No patient registered to the order")
    OTHER_ACCOUNT = (
        "other_account",
        gettext_lazy("Order belongs to another lab account"),
    )
    HELD_LINES = "held_lines", gettext_lazy("Lines in doubt")
    NOT_EXPECTED = (
        "not_expected",
        gettext_lazy("Order does not accept results in its current status"),
    )


class Agreement(OpenChoices):
    """How one point of a report compares with an order."""

    AGREES = "agrees", gettext_lazy("Matches")
    DIFFERS = "differs", gettext_lazy("Differs")
    UNTOLD = "untold", gettext_lazy("Not reported")
