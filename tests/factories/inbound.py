"""What labs send by themselves, as taken by the operation; the people are made up."""

from __future__ import annotations

import hashlib
from typing import Any

from labs.gateways.hl7.drop import DroppedFile
from labs.models import InboundMessage, InboundReport, LabDocument, Order
from labs.operations.documents.lab_documents import check_lab_document
from labs.operations.inbound.processing import process_hl7_file_content
from labs.operations.order_status.status import advance_order
from labs.states.lab_documents import LabDocumentStatus
from tests.factories.accounts import ACTOR
from tests.factories.hl7 import make_oru, make_test, obx
from tests.factories.labs import make_lab, make_lab_test, make_marker, make_order
from tests.factories.reports import make_pdf


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


def make_unmatched(*, tenant: Any, lab: Any = None, **written: Any) -> InboundReport:
    """A report of a number that no order has; `written` as make_oru takes it."""
    number = InboundMessage.objects.for_tenant(tenant).count() + 1
    written = {"control_id": f"C{number}", **written}
    content = make_oru(make_test(obx(), placer="NOBODYS"), **written)
    message = take(tenant, content, lab=lab or make_lab())
    report: InboundReport = message.reports.get()
    report.tenant = tenant
    return report


def make_lab_document(
    *, order: Order, content: bytes | None = None, **fields: Any
) -> LabDocument:
    """A document from the lab: checked, and available if it is a PDF."""
    body = make_pdf() if content is None else content
    before = LabDocument.objects.for_tenant(order.tenant).filter(order=order)
    document = LabDocument(
        **{
            "tenant": order.tenant,
            "order": order,
            "number": before.count() + 1,
            "series": "a",
            "status": LabDocumentStatus.HELD,
            "name": "Lab report",
            "content": body,
            "size": len(body),
            "sha256": hashlib.sha256(body).hexdigest(),
            **fields,
        }
    )
    document.save(force_insert=True)
    check_lab_document(tenant=order.tenant, document_id=document.pk)
    document.refresh_from_db()
    return document
