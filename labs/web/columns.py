"""Columns of the lists of the labs app."""

from __future__ import annotations

from dataclasses import replace

from portal.lib.translation import gettext_lazy
from portal.ui.columns import Column, ListColumns

_ORDER = Column("order", gettext_lazy("Order"), is_fixed=True)
_USER = Column("user", gettext_lazy("User"), "user__client_user_id")
_OF_ORDER = (
    Column("tests", gettext_lazy("Tests"), "lab_test__name"),
    Column("lab", gettext_lazy("Lab"), "lab__name", is_extra=True),
    Column("sample", gettext_lazy("Sample ID"), "sample_id", is_extra=True),
    Column("collection", gettext_lazy("Collection"), "method"),
    Column("status", gettext_lazy("Status"), "status"),
    Column("result", gettext_lazy("Result"), "interpretation"),
    Column(
        "updated_at",
        gettext_lazy("Updated"),
        "updated_at",
        is_extra=True,
        is_down_first=True,
    ),
    Column("created_at", gettext_lazy("Created"), "created_at", is_down_first=True),
)

ORDERS = ListColumns("orders", (_ORDER, _USER, *_OF_ORDER), sort="-created_at")
USER_ORDERS = replace(ORDERS, key="user_orders", columns=(_ORDER, *_OF_ORDER))

LISTS = (ORDERS, USER_ORDERS)
