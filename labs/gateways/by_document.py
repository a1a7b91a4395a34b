"""The gateway of labs that get a printed requisition and answer with reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.gateways.base import Requisition
from labs.gateways.sample_ids import make_sample_id

if TYPE_CHECKING:
    from accounts.models import Tenant
    from labs.models import LabAccount, Order


class LabByDocument:
    """A LabGateway to which nothing is sent: people carry the requisition.

    Results come as reports, which a clinician signs. Source: Ours: any lab can be
    ordered from.
    """

    def request_requisition(self, order: Order) -> Requisition:
        """Return the order's sample ID, which its requisition and labels print."""
        return Requisition(order.sample_id or make_sample_id(order))

    def cancel_requisition(self, order: Order) -> None:
        """Do nothing: nothing was sent, and whoever cancels calls the lab."""

    def check_connection(self, *, tenant: Tenant, account: LabAccount) -> None:
        """Do nothing: there is no connection."""
