"""Erasure of a user's lab data."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from django.db import transaction

from accounts.models import Tenant
from labs.gateways.hl7.drop import delete_hl7_files_containing_names
from labs.models import (
    InboundMessage,
    InboundReport,
    LabDocument,
    Order,
    OrderTransaction,
    UserInsurance,
)
from labs.states.inbound import MessageStatus
from portal.lib.storage import delete_stored_files

if TYPE_CHECKING:
    from uuid import UUID

    from django.db.models import QuerySet


def erase_user_orders(tenant_pk: int, user_uuid: UUID) -> None:
    """Delete a user's insurance, orders with all dependent rows, and transactions.

    Files that were exchanged with labs about the orders go on commit. A kit that was
    registered to another user goes with that one; its transaction stays as long as an
    order is in it.
    """
    UserInsurance.unscoped.filter(tenant_id=tenant_pk, user__uuid=user_uuid).delete()
    delete_orders(
        tenant_pk, Order.unscoped.filter(tenant_id=tenant_pk, user__uuid=user_uuid)
    )
    joined = OrderTransaction.unscoped.filter(tenant_id=tenant_pk, user__uuid=user_uuid)
    joined.filter(orders=None).delete()
    for shared in joined:
        # What another user's order keeps alive belongs to that user now.
        heir = shared.orders.order_by("created_at").values_list("user_id", flat=True)
        OrderTransaction.unscoped.filter(pk=shared.pk).update(user_id=heir[0])


def delete_orders(tenant_pk: int, orders: QuerySet[Order]) -> None:
    """Delete orders of a tenant with all dependent rows, in the caller's transaction.

    Orders that follow one of them stay, without it.
    """
    transactions = list(orders.values_list("transaction_id", flat=True))
    reports = InboundReport.unscoped.filter(tenant_id=tenant_pk, order__in=orders)
    messages = list(reports.values_list("message_id", flat=True))
    _delete_lab_files(tenant_pk, orders)
    documents = LabDocument.unscoped.filter(tenant_id=tenant_pk, order__in=orders)
    names = list(documents.exclude(stored_as="").values_list("stored_as", flat=True))
    transaction.on_commit(partial(delete_stored_files, names))
    Order.unscoped.filter(tenant_id=tenant_pk, parent__in=orders).update(parent=None)
    orders.delete()
    # What is left of a message whose last report is gone says whose file it was.
    InboundMessage.unscoped.filter(
        tenant_id=tenant_pk,
        pk__in=messages,
        status=MessageStatus.TAKEN,
        reports=None,
    ).delete()
    OrderTransaction.unscoped.filter(
        tenant_id=tenant_pk, pk__in=transactions, orders=None
    ).delete()


def _delete_lab_files(tenant_pk: int, orders: QuerySet[Order]) -> None:
    """Delete lab files that name one of the orders, after commit."""
    names = {
        text.encode()
        for pk, sample_id in orders.values_list("pk", "sample_id")
        for text in (str(pk), sample_id)
        if text
    }
    if not names:
        return
    tenant = Tenant.objects.select_related("team").get(pk=tenant_pk)
    transaction.on_commit(
        partial(
            delete_hl7_files_containing_names,
            names,
            team_slug=tenant.team.slug,
            environment=tenant.environment,
        )
    )
