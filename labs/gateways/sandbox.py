"""The sandbox lab: answers at once, always the same, and stores nothing."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from labs.gateways.base import Requisition

if TYPE_CHECKING:
    from accounts.models import Tenant
    from labs.models import LabAccount, Order


class SandboxLab:
    """A LabGateway without a lab."""

    def request_requisition(self, order: Order) -> Requisition:
        """Return a sample id derived from the order's id: 11 letters and digits."""
        digest = hashlib.sha256(order.pk.bytes).hexdigest()
        return Requisition(sample_id=f"SB{digest[:9].upper()}")

    def cancel_requisition(self, order: Order) -> None:
        """Do nothing: the sandbox lab stores nothing."""

    def check_connection(self, *, tenant: Tenant, account: LabAccount) -> None:
        """Do nothing: there is no lab to connect to."""
