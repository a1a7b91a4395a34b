"""Choices of lab accounts, their transitions, and billing types."""

from __future__ import annotations

from portal.lib.choices import OpenChoices
from portal.lib.database.transitions import Transitions
from portal.lib.translation import gettext_lazy


class LabAccountStatus(OpenChoices):
    """The status of a lab account (contract 6.4; the specification says PENDING)."""

    PENDING = "pending", gettext_lazy("Pending")
    READY_TO_LAUNCH = "ready_to_launch", gettext_lazy("Ready to launch")
    ACTIVE = "active", gettext_lazy("Active")
    SUSPENDED = "suspended", gettext_lazy("Suspended")

    @property
    def takes_orders(self) -> bool:
        """Return whether new orders may be placed on it."""
        return self is LabAccountStatus.ACTIVE

    @property
    def takes_imports(self) -> bool:
        """Return whether orders may be imported on it (specification 3)."""
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
    """Who orders and who follows up results (contract 6.4)."""

    NOT_DELEGATED = "not_delegated", gettext_lazy("Platform physicians")
    ORDER_DELEGATED = "order_delegated", gettext_lazy("Team physicians order")
    RESULT_DELEGATED = (
        "result_delegated",
        gettext_lazy("Team follows up critical results"),
    )
    FULLY_DELEGATED = (
        "fully_delegated",
        gettext_lazy("Team physicians order and follow up"),
    )

    @property
    def needs_physician(self) -> bool:
        """Return whether an order must name its physician."""
        return self in {DelegatedFlow.ORDER_DELEGATED, DelegatedFlow.FULLY_DELEGATED}


class AccountGateway(OpenChoices):
    """How an account's orders and results are exchanged with its lab (Ours)."""

    INSTALLATION = "installation", gettext_lazy("Electronically")
    REPORTS = (
        "reports",
        gettext_lazy("By document: printed requisitions, results as reports"),
    )


class HeldLinesAnswer(OpenChoices):
    """How a message is answered of which lines are held (MSA-1)."""

    ACCEPTED = "AA", gettext_lazy("Accept it (AA) and list the held lines")
    IN_ERROR = "AE", gettext_lazy("Report an error (AE) and list the held lines")


class Billing(OpenChoices):
    """The billing type of an order (contract 6.6)."""

    CLIENT_BILL = "client_bill", gettext_lazy("Client bill")
    COMMERCIAL_INSURANCE = "commercial_insurance", gettext_lazy("Commercial insurance")
    PATIENT_BILL_PASSTHROUGH = (
        "patient_bill_passthrough",
        gettext_lazy("Patient bill (pass-through)"),
    )
    PATIENT_BILL = "patient_bill", gettext_lazy("Patient bill")
    UPFRONT_PAYMENT = "upfront_payment", gettext_lazy("Upfront payment")


class AccountReason(OpenChoices):
    """Why an order has its lab account, or none: stored on the order and shown.

    Source: Ours; the rules are contract 6.4, the reasons tell which of them held.
    """

    GIVEN = "given", gettext_lazy("Chosen on the order")
    ONLY_ACTIVE = "only_active", gettext_lazy("Only active account for this lab")
    ONLY_OPENING = "only_opening", gettext_lazy("Only account for this lab in setup")
    OTHER_ACTIVE = (
        "other_active",
        gettext_lazy("Only other active account for this lab"),
    )
    PLATFORM = "platform", gettext_lazy("Uses the platform's account")
    MOVED = "moved", gettext_lazy("Placed on another platform")
    PLATFORM_INSTEAD = (
        "platform_instead",
        gettext_lazy("Uses the platform's account: no other account for this lab"),
    )
    CARRIED_OVER = "carried_over", gettext_lazy("Carried over from the previous order")


_STATES = (
    "AL AK AZ AR CA CO CT DE DC FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT"
    " NE NV NH NJ NM NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY"
)
_TERRITORIES = "AS GU MP PR VI"
US_STATES = frozenset(f"{_STATES} {_TERRITORIES}".split())  # USPS codes
