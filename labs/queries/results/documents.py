"""Reads of the documents that a lab sent for an order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from labs.models import LabDocument, ResultVersion
from labs.states.lab_documents import LabDocumentStatus
from portal.lib.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from accounts.models import Tenant
    from labs.models import Order

_NO_REPORT = {LabDocumentStatus.WITHDRAWN, LabDocumentStatus.REFERENCE}


def list_lab_documents(*, order: Order) -> list[LabDocument]:
    """List an order's documents from its lab, oldest first; one query."""
    rows = LabDocument.objects.for_tenant(order.tenant).filter(order=order)
    return list(rows.defer("content").order_by("number"))


def get_lab_document(*, order: Order, document_id: UUID) -> LabDocument:
    """Return an available document. Raises: lab_document_not_found (404)."""
    found = list_lab_documents(order=order)
    return _require_available(
        next((one for one in found if one.pk == document_id), None)
    )


def find_lab_document_with_results(
    *, tenant: Tenant, document_id: UUID
) -> LabDocument | None:
    """Return an available document whose values are to be read, with its order."""
    rows = LabDocument.objects.for_tenant(tenant).filter(
        pk=document_id, status=LabDocumentStatus.AVAILABLE, holds_results=True
    )
    found: LabDocument | None = (
        rows.defer("content").select_related("order__user", "order__lab").first()
    )
    return found


def get_lab_document_by_number(*, order: Order, number: int) -> LabDocument:
    """Return an available document. Raises: lab_document_not_found (404)."""
    found = list_lab_documents(order=order)
    return _require_available(
        next((one for one in found if one.number == number), None)
    )


def get_newest_lab_document(*, order: Order) -> LabDocument:
    """Return the newest report of an order's lab.

    Raises: lab_document_not_found (404), also where the newest is being checked, was
    refused or withdrawn: an older one is given only by its number. Source: Ours.
    """
    latest = list_latest_lab_documents(list_lab_documents(order=order))
    return _require_available(latest[-1] if latest else None)


def find_current_results_number(*, order: Order) -> int | None:
    """Return the number of an order's current results; None before any."""
    rows = ResultVersion.objects.for_tenant(order.tenant).filter(order=order)
    found: int | None = (
        rows.filter(is_current=True).values_list("number", flat=True).first()
    )
    return found


def find_lab_document_of_results(*, order: Order) -> LabDocument | None:
    """Return the lab's document that holds the current results, else None.

    That is the only report of the lab, of its latest version, which came with them. One
    of several may hold some of the results, an older one those that were corrected
    since. Source: Contract 6.16; Ours: a report without a correction harms.
    """
    latest = list_latest_lab_documents(list_lab_documents(order=order))
    if len(latest) != 1:
        return None
    (only,) = latest
    is_whole = (
        only.status == LabDocumentStatus.AVAILABLE
        and only.results_version == find_current_results_number(order=order)
    )
    return only if is_whole else None


def list_latest_lab_documents(documents: Iterable[LabDocument]) -> list[LabDocument]:
    """List the last version of each document, oldest first.

    Without references, and without what the lab withdrew.
    """
    latest = {one.series: one for one in documents}
    return sorted(
        (one for one in latest.values() if one.status not in _NO_REPORT),
        key=lambda one: one.number,
    )


def _require_available(found: LabDocument | None) -> LabDocument:
    if found is None or found.status != LabDocumentStatus.AVAILABLE:
        raise NotFound("lab_document_not_found", _("Lab document not found."))
    return found
