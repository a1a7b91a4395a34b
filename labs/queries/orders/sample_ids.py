"""Reads of orders by their sample IDs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.models import Order

if TYPE_CHECKING:
    from collections.abc import Collection


def is_any_sample_id_of_other_order(*, order: Order, numbers: Collection[str]) -> bool:
    """Return whether a number on a report is another order's sample ID."""
    if not numbers:
        return False
    others = Order.objects.for_tenant(order.tenant).exclude(pk=order.pk)
    folded = {
        "".join(sign for sign in one.upper() if sign.isalnum()) for one in numbers
    }
    return bool(others.filter(sample_id__in={*numbers, *folded}).exists())
