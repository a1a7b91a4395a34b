"""Column of the users list: the number of orders of each user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from accounts.declarations.pages import UserColumn
from accounts.states import Area
from labs.queries.orders.order_list import count_orders_per_user

if TYPE_CHECKING:
    from collections.abc import Sequence

    from accounts.web.requests import TenantRequest


def build_user_orders_column(
    request: TenantRequest, user_keys: Sequence[int]
) -> UserColumn | None:
    if not request.rights.allow(Area.ORDERS):
        return None
    return UserColumn(
        _("Orders"), count_orders_per_user(tenant=request.tenant, user_keys=user_keys)
    )
