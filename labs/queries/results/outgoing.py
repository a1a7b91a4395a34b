"""Reads of the messages by which results are sent to a team's own system."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import CharField, Exists, OuterRef, Value
from django.db.models.functions import Cast, Concat, Left, Replace

from accounts.models import Tenant
from labs.models import (
    Hl7Connection,
    Hl7OutboundMessage,
    LabDocument,
    ResultVersion,
)
from labs.states.lab_documents import LabDocumentStatus

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from labs.models import Order

# A control id has at most 20 characters.
_ID_LENGTH = 19


def format_results_control_id(version: ResultVersion) -> str:
    """Return the MSH-10 under which a version of results is sent first."""
    return f"R{version.pk}"


def list_control_ids_of_order(*, connection: Hl7Connection, order: Order) -> set[str]:
    """Return the control ids of an order's messages over a connection."""
    rows = Hl7OutboundMessage.objects.for_tenant(order.tenant)
    found = rows.filter(connection=connection, order=order)
    return set(found.values_list("control_id", flat=True))


def list_results_messages(*, order: Order) -> list[Hl7OutboundMessage]:
    """List an order's messages to the team's own system, newest first; no content."""
    rows = Hl7OutboundMessage.objects.for_tenant(order.tenant)
    found = rows.filter(order=order, connection__account=None)
    return list(found.defer("content").order_by("-pk"))


def format_document_control_id(document: LabDocument) -> str:
    """Return the MSH-10 under which a lab's document is sent."""
    return f"D{document.pk.hex[:_ID_LENGTH]}"


def find_orders_with_unsent_results(*, since: datetime) -> list[tuple[Tenant, UUID]]:
    """Return the orders with results or a lab's document that are not queued.

    Over all tenants with a system of their own: inside `across_tenants`. Orders that
    changed since then are looked at, and what is newer than the connection.
    """
    systems = Hl7Connection.unscoped.filter(account=None)
    tenants = Tenant.objects.in_bulk(set(systems.values_list("tenant_id", flat=True)))
    versions = ResultVersion.unscoped.filter(
        ~_is_queued(Concat(Value("R"), Cast(OuterRef("pk"), CharField())))
    )
    document_id = Replace(Cast(OuterRef("pk"), CharField()), Value("-"), Value(""))
    documents = LabDocument.unscoped.filter(
        ~_is_queued(Concat(Value("D"), Left(document_id, _ID_LENGTH))),
        status=LabDocumentStatus.AVAILABLE,
    )
    found: set[tuple[int, UUID]] = set()
    for rows in (versions, documents):
        of_orders = rows.filter(
            Exists(
                systems.filter(
                    tenant=OuterRef("tenant"), created_at__lte=OuterRef("created_at")
                )
            ),
            order__tenant__in=tenants,
            order__updated_at__gte=since,
            order__moved_from="",
            order__user__deleted_at=None,
        )
        found |= set(of_orders.values_list("order__tenant_id", "order_id"))
    return [(tenants[tenant], order_id) for tenant, order_id in sorted(found)]


def _is_queued(control_id: Concat) -> Exists:
    """Return whether an order of the outer row has a message of this control id."""
    return Exists(
        Hl7OutboundMessage.unscoped.filter(
            order=OuterRef("order"),
            connection__account=None,
            control_id=control_id,
        )
    )
