"""The protocol of a lab gateway.

Calls can take seconds and fail: make them outside any transaction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from accounts.models import Tenant
    from labs.models import LabAccount, Order


class LabUnavailable(Exception):
    """The lab did not answer, or not as expected; the call may be repeated."""


@dataclass(frozen=True, slots=True)
class Requisition:
    """A lab's answer to an order: the id its sample and results will have.

    `queue` queues the order's messages where the lab gets them later. Call it in the
    transaction that stores the id: a lab may answer with results at once.
    """

    sample_id: str
    queue: Callable[[], object] | None = None


class LabGateway(Protocol):
    """A gateway to one laboratory or one network of them."""

    def request_requisition(self, order: Order) -> Requisition:
        """Send an order to the lab; repeated calls return the same answer.

        Raises: LabUnavailable.
        """
        ...

    def cancel_requisition(self, order: Order) -> None:
        """Cancel a sent order at the lab; repeated calls do no harm.

        Raises: LabUnavailable.
        """
        ...

    def check_connection(self, *, tenant: Tenant, account: LabAccount) -> None:
        """Try whether orders on an account would reach the lab; send it nothing.

        The account's lab is loaded. Raises: LabUnavailable.
        """
        ...
