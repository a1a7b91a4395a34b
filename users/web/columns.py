"""Columns of the lists of the users app."""

from __future__ import annotations

from accounts.declarations.pages import list_user_columns
from portal.lib.translation import gettext_lazy
from portal.ui.columns import Column, ListColumns

_USERS = (
    Column(
        "client_user_id",
        gettext_lazy("Client user ID"),
        "client_user_id",
        is_fixed=True,
    ),
    Column("user_id", gettext_lazy("User ID"), "uuid"),
    Column("sources", gettext_lazy("Sources"), "number_of_sources", is_down_first=True),
    Column("last_data", gettext_lazy("Last data"), "last_data", is_down_first=True),
    Column("zone", gettext_lazy("Fallback time zone"), "fallback_time_zone"),
)
_CREATED = Column(
    "created_on", gettext_lazy("Created"), "created_on", is_down_first=True
)


def build_users_columns() -> ListColumns:
    """Build the columns of the users list, with those of other apps."""
    others = tuple(each.column for each in list_user_columns())
    return ListColumns(
        "users",
        (*_USERS, *others, _CREATED),
        sort="-created_on",
        indexed=frozenset({"client_user_id"}),
    )


LISTS = (build_users_columns,)
