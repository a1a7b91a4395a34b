"""Read of a user's last order. Every caller must audit the read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.models import Order

if TYPE_CHECKING:
    from users.models import User


def find_last_order_of_user(user: User, *, with_test: bool = False) -> Order | None:
    """Return the user's newest order that names its patient, or None; one query.

    `with_test` loads its lab test along.
    """
    rows = Order.objects.for_tenant(user.tenant).filter(user=user)
    if with_test:
        rows = rows.select_related("lab_test")
    found: Order | None = (
        rows.exclude(patient_details=None)
        .exclude(patient_address=None)
        .order_by("-created_at", "-pk")
        .first()
    )
    return found
