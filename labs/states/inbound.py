"""Open sets of what labs send by themselves, and the moves of it.

Must not be here: how a message is read (labs.gateways.hl7).
"""

from __future__ import annotations

from portal.lib.choices import OpenChoices
from portal.lib.transitions import Transitions


class MessageStatus(OpenChoices):
    """What became of a message as a whole."""

    TAKEN = "taken", "Taken"
    MALFORMED = "malformed", "Malformed"
    REFUSED = "refused", "Refused by the lab"
    DISMISSED = "dismissed", "Dismissed"


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
    """Where a lab's report stands: always in exactly one of these."""

    UNMATCHED = "unmatched", "Unmatched"
    MATCHED = "matched", "Matched"
    REJECTED = "rejected", "Rejected"


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
    """Why a report found no order by itself."""

    NO_ORDER = "no_order", "No order has its numbers"
    SEVERAL_ORDERS = "several_orders", "Its numbers are those of several orders"
    PERSON_DIFFERS = "person_differs", "Its person differs from the order's"
    NO_PERSON = "no_person", "Nobody is registered to the order yet"
    OTHER_ACCOUNT = "other_account", "The order went to another account"
    NOT_EXPECTED = "not_expected", "The order takes no results as it stands"


class Agreement(OpenChoices):
    """How one thing that a report says compares with an order."""

    AGREES = "agrees", "Agrees"
    DIFFERS = "differs", "Differs"
    UNTOLD = "untold", "Not told"
