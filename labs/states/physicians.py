"""Choices of order approvals, and the check of a physician's NPI."""

from __future__ import annotations

from portal.lib.choices import OpenChoices
from portal.lib.database.transitions import Transitions
from portal.lib.translation import gettext_lazy

# The card issuer prefix 80840 of United States health applications, summed as the
# check counts it (CMS, "Requirements for NPI and NPI Check Digit").
_PREFIX_SUM = 24
_NPI_DIGITS = 10


class ApprovalStatus(OpenChoices):
    """Whether a physician approved an order. Source: Ours."""

    WAITING = "waiting", gettext_lazy("Waiting for approval")
    APPROVED = "approved", gettext_lazy("Approved")
    REFUSED = "refused", gettext_lazy("Refused")


APPROVAL_MOVES: Transitions[ApprovalStatus] = Transitions(
    {
        ApprovalStatus.WAITING: {ApprovalStatus.APPROVED, ApprovalStatus.REFUSED},
        ApprovalStatus.APPROVED: set(),
        ApprovalStatus.REFUSED: set(),
    }
)


def is_npi(text: str) -> bool:
    """Return whether a text is a National Provider Identifier.

    Ten digits, the first 1 or 2, the last the Luhn check digit of the number with the
    prefix 80840. Source: CMS, "Requirements for National Provider Identifier (NPI) and
    NPI Check Digit" (45 CFR 162.406(a)).
    """
    if not (text.isascii() and text.isdigit() and len(text) == _NPI_DIGITS):
        return False
    if text[0] not in "12":
        return False
    total = _PREFIX_SUM
    for place, digit in enumerate(reversed(text)):
        doubled = int(digit) * (2 if place % 2 else 1)
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0
