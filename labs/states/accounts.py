"""Open sets of lab accounts, the moves of an account, and who pays.

Must not be here: which account an order gets (labs.operations.accounts).
"""

from __future__ import annotations

from portal.lib.choices import OpenChoices
from portal.lib.transitions import Transitions


class LabAccountStatus(OpenChoices):
    """How far an account at a lab is (contract 6.4; the specification says PENDING)."""

    PENDING = "pending", "Being set up"
    READY_TO_LAUNCH = "ready_to_launch", "Ready to launch"
    ACTIVE = "active", "Active"
    SUSPENDED = "suspended", "Suspended"

    @property
    def takes_orders(self) -> bool:
        """Whether new orders may be placed on it."""
        return self is LabAccountStatus.ACTIVE

    @property
    def takes_imports(self) -> bool:
        """Whether orders may be imported on it (specification 3)."""
        return self is not LabAccountStatus.SUSPENDED


# Ours; the specification names no moves (contract 6.4).
LAB_ACCOUNT_MOVES: Transitions[LabAccountStatus] = Transitions(
    {
        LabAccountStatus.PENDING: {
            LabAccountStatus.READY_TO_LAUNCH,
            LabAccountStatus.ACTIVE,
            LabAccountStatus.SUSPENDED,
        },
        LabAccountStatus.READY_TO_LAUNCH: {
            LabAccountStatus.ACTIVE,
            LabAccountStatus.SUSPENDED,
        },
        LabAccountStatus.ACTIVE: {LabAccountStatus.SUSPENDED},
        LabAccountStatus.SUSPENDED: {LabAccountStatus.ACTIVE},
    }
)


class DelegatedFlow(OpenChoices):
    """Whose physicians order, and whose follow up (contract 6.4)."""

    NOT_DELEGATED = "not_delegated", "The platform's physicians"
    ORDER_DELEGATED = "order_delegated", "The team's physicians order"
    RESULT_DELEGATED = "result_delegated", "The team follows critical results up"
    FULLY_DELEGATED = "fully_delegated", "The team's physicians order and follow up"

    @property
    def needs_physician(self) -> bool:
        """Whether an order must name its physician."""
        return self in {DelegatedFlow.ORDER_DELEGATED, DelegatedFlow.FULLY_DELEGATED}


class Billing(OpenChoices):
    """Who pays for an order (contract 6.6)."""

    CLIENT_BILL = "client_bill", "The team"
    COMMERCIAL_INSURANCE = "commercial_insurance", "Insurance"
    PATIENT_BILL_PASSTHROUGH = "patient_bill_passthrough", "The patient, passed through"
    PATIENT_BILL = "patient_bill", "The patient"
    UPFRONT_PAYMENT = "upfront_payment", "Paid upfront"


class AccountReason(OpenChoices):
    """Why an order has its lab account, or none: stored on the order and shown.

    Source: Ours; the rules are contract 6.4, the reasons tell which of them held.
    """

    GIVEN = "given", "Chosen on the order"
    ONLY_ACTIVE = "only_active", "The only active account of this lab"
    ONLY_OPENING = "only_opening", "The only account of this lab being set up"
    OTHER_ACTIVE = "other_active", "The only other active account of this lab"
    PLATFORM = "platform", "No account of this lab is linked: the platform's own"
    PLATFORM_INSTEAD = (
        "platform_instead",
        "No other account of this lab is linked: the platform's own",
    )
    CARRIED_OVER = "carried_over", "Carried over from the order before"


_STATES = (
    "AL AK AZ AR CA CO CT DE DC FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT"
    " NE NV NH NJ NM NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY"
)
_TERRITORIES = "AS GU MP PR VI"
US_STATES = frozenset(f"{_STATES} {_TERRITORIES}".split())  # USPS codes
