"""Reads of orders at labs that report by document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.queries.orders.orders import orders_with_details
from labs.states.accounts import AccountGateway

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date
    from uuid import UUID

    from accounts.models import Tenant
    from labs.models import Order
    from labs.models.order import OrderQuerySet

ORDERS_MAX = 50


def list_document_orders_of_user(*, tenant: Tenant, user_uuid: UUID) -> list[Order]:
    """Return a user's latest orders, ended ones included, at most ORDERS_MAX."""
    return _list_latest(tenant, _rows(tenant).filter(user__uuid=user_uuid))


def list_document_orders_with_sample_id(*, tenant: Tenant, number: str) -> list[Order]:
    """Return orders whose sample ID a document prints, with or without its signs.

    The sample ID is also what the requisition's barcode says.
    """
    folded = "".join(sign for sign in number.upper() if sign.isalnum())
    if not folded:
        return []
    rows = _rows(tenant).filter(sample_id__in={number, folded})
    return _list_latest(tenant, rows)


def list_document_orders_of_birth_dates(
    *, tenant: Tenant, birth_dates: Iterable[date]
) -> list[Order]:
    """Return the latest orders of patients born on one of these days."""
    return _list_latest(tenant, _rows(tenant).filter(patient_dob__in=list(birth_dates)))


def _rows(tenant: Tenant) -> OrderQuerySet:
    return orders_with_details(tenant=tenant).filter(
        lab_account__gateway=AccountGateway.REPORTS
    )


def _list_latest(tenant: Tenant, rows: OrderQuerySet) -> list[Order]:
    found = list(rows.order_by("-created_at", "pk")[:ORDERS_MAX])
    for order in found:
        order.tenant = tenant
    return found
