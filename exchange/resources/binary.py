"""Binary: the files of reports, as they are, and the addresses that they have here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from accounts.states import Area
from exchange.resources.base import list_uuids
from exchange.resources.datatypes import build_own_url
from labs.operations.documents.lab_documents import (
    get_order_result_pdf,
    read_lab_document,
)
from labs.queries.orders.orders import get_order_with_details
from labs.queries.population import available_documents
from portal.lib import storage
from portal.lib.errors import NotFound
from reports.queries.population import report_files

if TYPE_CHECKING:
    from uuid import UUID

    from accounts.models import Tenant

PDF = "application/pdf"
ORDER, LAB, REPORT = "order", "lab", "report"
AREAS = {ORDER: Area.ORDERS, LAB: Area.ORDERS, REPORT: Area.REPORTS}


@dataclass(frozen=True, slots=True)
class File:
    """A file with its content type, and its user."""

    content: bytes
    content_type: str
    user_uuid: UUID


def build_binary_url(kind: str, id_: UUID, *parts: int) -> str:
    """Return the address of a file."""
    name = "-".join([kind, id_.hex, *map(str, parts)])
    return build_own_url(f"R4/Binary/{name}")


def read_binary(*, tenant: Tenant, id_: str) -> File:
    """Return a file by the id of its Binary. Raises: not_found; results_not_found."""
    kind, _, rest = id_.partition("-")
    ids = list_uuids([id_], part=1)
    position = rest.partition("-")[2]
    if ids and kind == ORDER and not position:
        order = get_order_with_details(tenant=tenant, order_id=ids[0])
        pdf = get_order_result_pdf(order=order)
        return File(pdf.body, PDF, order.user.uuid)
    if ids and kind == LAB and not position:
        document = available_documents(tenant).filter(pk=ids[0]).first()
        if document is not None:
            return File(read_lab_document(document).body, PDF, document.order.user.uuid)
    if ids and kind == REPORT and position.isascii() and position.isdecimal():
        rows = report_files(tenant).filter(job=ids[0])
        file = (
            rows.filter(position=int(position)).first() if len(position) < 4 else None
        )
        if file is not None:
            with storage.open_stored_file(file.stored_as) as opened:
                return File(opened.read(), file.content_type, file.job.user.uuid)
    raise NotFound("not_found", "Binary not found.")
