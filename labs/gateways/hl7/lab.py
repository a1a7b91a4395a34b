"""The gateway of labs that accept orders as HL7 files."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING

from django.utils import timezone

from labs.gateways.base import LabUnavailable, Requisition
from labs.gateways.hl7.drop import DropFolder
from labs.gateways.hl7.orders import CANCEL, NEW, build_hl7_order_messages

if TYPE_CHECKING:
    from accounts.models import Tenant
    from labs.models import LabAccount, Order

_SAMPLE_ID_LENGTH = 12


class Hl7FileDrop:
    """A LabGateway that writes files; the lab answers later, or never."""

    def request_requisition(self, order: Order) -> Requisition:
        """Write the order's file for its lab.

        The sample id is ours to give: twelve letters and digits made from the order's
        id, which the lab prints and sends back as the placer number. Raises:
        LabUnavailable.
        """
        sample_id = order.sample_id or _make_sample_id(order)
        self._write(order, NEW, sample_id)
        return Requisition(sample_id=sample_id)

    def cancel_requisition(self, order: Order) -> None:
        """Write an order's cancellation. Raises: LabUnavailable."""
        self._write(order, CANCEL, order.sample_id)

    def check_connection(self, *, tenant: Tenant, account: LabAccount) -> None:
        """Write and delete a file in each folder of an account.

        Raises: LabUnavailable.
        """
        drop = DropFolder.for_account(tenant=tenant, lab=account.lab, account=account)
        try:
            drop.check_access()
        except OSError as error:
            raise LabUnavailable(type(error).__name__) from None

    def _write(self, order: Order, control: str, sample_id: str) -> None:
        messages = build_hl7_order_messages(
            order,
            control=control,
            sample_id=sample_id,
            comment=order.requisition_comment,
            at=timezone.now(),
        )
        drop = DropFolder.for_account(
            tenant=order.tenant, lab=order.lab, account=order.lab_account
        )
        try:
            for number, content in enumerate(messages.values(), start=1):
                part = f"-{number}" if len(messages) > 1 else ""
                drop.write_file(f"{control.lower()}-{order.pk}{part}.hl7", content)
        except OSError as error:
            raise LabUnavailable(type(error).__name__) from None


def _make_sample_id(order: Order) -> str:
    digest = hashlib.sha256(order.pk.bytes).digest()
    return base64.b32encode(digest).decode()[:_SAMPLE_ID_LENGTH]
