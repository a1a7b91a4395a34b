"""What a laboratory is asked for, whoever answers.

Calls may take seconds and fail: never inside a transaction. Must not be here: what
follows from an answer (operations).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from labs.models import Order


class LabUnavailable(Exception):
    """The lab did not answer, or not in its own terms; the call may be repeated."""


@dataclass(frozen=True, slots=True)
class Requisition:
    """A lab's answer to a requisition: the id that sample and results will carry."""

    sample_id: str


class LabGateway(Protocol):
    """One laboratory, or one network of them."""

    def request_requisition(self, order: Order) -> Requisition:
        """Announce an order; the same order gets the same answer.

        Raises: LabUnavailable.
        """
        ...

    def cancel_requisition(self, order: Order) -> None:
        """Tell the lab that an announced order was called off; twice does no harm.

        Raises: LabUnavailable.
        """
        ...
