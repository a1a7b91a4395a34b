"""Reads of orders by their sample IDs."""

from __future__ import annotations

from labs.models import Order


def is_sample_id_of_other_order(*, order: Order, number: str) -> bool:
    """Return whether a number on a report is another order's sample ID."""
    if not number:
        return False
    others = Order.objects.for_tenant(order.tenant).exclude(pk=order.pk)
    folded = "".join(sign for sign in number.upper() if sign.isalnum())
    return bool(others.filter(sample_id__in={number, folded}).exists())
