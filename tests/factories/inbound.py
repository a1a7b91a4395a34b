"""What labs send by themselves, as taken by the operation; the people are made up."""

from __future__ import annotations

import hashlib
from typing import Any

from labs.gateways.hl7.drop import DroppedFile
from labs.models import InboundMessage, InboundReport, Order
from labs.operations.inbound.processing import process_hl7_file_content
from labs.operations.order_status.status import advance_order
from tests.factories.accounts import ACTOR
from tests.factories.hl7 import make_oru, make_test, obx
from tests.factories.labs import make_lab, make_lab_test, make_marker, make_order


def make_order_sent_to_lab(
    *, tenant: Any, codes: tuple[str, ...] = ("2345",), **wanted: Any
) -> Order:
    """An order on the platform's account whose requisition the lab has."""
    lab = make_lab()
    markers = tuple(make_marker(lab=lab, provider_id=code) for code in codes)
    panel = make_lab_test(tenant=tenant, lab=lab, markers=markers)
    order = make_order(tenant=tenant, lab_test=panel, **wanted)
    advance_order(
        order=order,
        actor=ACTOR,
        to="requisition_created",
        changes={"sample_id": f"AS{order.pk.hex[:10].upper()}"},
    )
    return order


def take(tenant: Any, content: bytes, *, lab: Any, **told: Any) -> InboundMessage:
    """The one message of a file, taken."""
    (message,) = process_hl7_file_content(
        tenant=tenant,
        actor=ACTOR,
        lab=lab,
        account=told.get("account"),
        dropped=DroppedFile(
            "results.hl7", content, hashlib.sha256(content).hexdigest()
        ),
    )
    return message


def make_unmatched(*, tenant: Any, lab: Any = None) -> InboundReport:
    """A report of a number that no order has."""
    content = make_oru(make_test(obx(), placer="NOBODYS"))
    message = take(tenant, content, lab=lab or make_lab())
    report: InboundReport = message.reports.get()
    report.tenant = tenant
    return report
