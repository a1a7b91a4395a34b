"""Reads of lab tests for the user's own portal.

Results and the lab's documents are left out, as whoever has the link sees the portal:
whoever ordered the test gives them to the patient.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Case, OuterRef, Subquery, Value, When

from accounts.declarations.hooks import PersonTest
from labs.models import LabDocument, Order
from labs.states.lab_documents import LabDocumentStatus
from labs.states.orders import split_order_status

if TYPE_CHECKING:
    from uuid import UUID

    from accounts.models import Tenant

TESTS_AT_MOST = 10


def list_latest_tests_of_user(
    tenant: Tenant, user_uuid: UUID, order_id: UUID | None
) -> list[PersonTest]:
    """List the latest TESTS_AT_MOST tests of a live user; one query.

    That of `order_id` comes first, the others newest first.
    """
    orders = Order.objects.for_tenant(tenant).live().of_user(user_uuid)
    is_other = Case(When(pk=order_id, then=Value(0)), default=Value(1))
    documents = LabDocument.objects.for_tenant(tenant).filter(
        order=OuterRef("pk"), status=LabDocumentStatus.AVAILABLE
    )
    newest = documents.order_by("-number").values("created_at")[:1]
    found = (
        orders.select_related("lab_test")
        .annotate(document_at=Subquery(newest))
        .order_by(is_other, "-created_at", "pk")
    )
    return [
        PersonTest(
            name=order.lab_test.name,
            status=split_order_status(order.status).low,
            ordered_at=order.created_at,
            updated_at=order.updated_at,
            document_at=order.document_at,
        )
        for order in found[:TESTS_AT_MOST]
    ]
