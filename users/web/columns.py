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
        indexed=frozenset({"client_user_id", "created_on", "zone"}),
    )


DELETED_USERS = ListColumns(
    "deleted_users",
    (
        Column(
            "client_user_id",
            gettext_lazy("Client user ID"),
            "client_user_id",
            is_fixed=True,
        ),
        Column("user_id", gettext_lazy("User ID"), "uuid"),
        Column("deleted_at", gettext_lazy("Deleted"), "deleted_at", is_down_first=True),
        Column(
            "until", gettext_lazy("Restorable until"), "deleted_at", is_down_first=True
        ),
    ),
    sort="-deleted_at",
)

ERASURES = ListColumns(
    "erasures",
    (
        Column("user_id", gettext_lazy("User ID"), "user_uuid", is_fixed=True),
        Column("receipt", gettext_lazy("Receipt"), "id"),
        Column(
            "erased_at",
            gettext_lazy("Erased"),
            "erased_at",
            is_number=True,
            is_down_first=True,
        ),
    ),
    sort="-erased_at",
)

EXPORTS = ListColumns(
    "exports",
    (
        Column(
            "asked_at",
            gettext_lazy("Requested"),
            "asked_at",
            is_fixed=True,
            is_down_first=True,
        ),
        Column("by", gettext_lazy("By"), "asked_by"),
        Column("archive", gettext_lazy("Archive"), "finished_at", is_down_first=True),
        Column(
            "size", gettext_lazy("Size"), "size", is_number=True, is_down_first=True
        ),
    ),
    sort="-asked_at",
    is_short=True,
)

IMPORTS = ListColumns(
    "imports",
    (
        Column("file", gettext_lazy("File"), "file_name", is_fixed=True),
        Column("status", gettext_lazy("Status"), "status"),
        Column(
            "accepted",
            gettext_lazy("Rows accepted"),
            "rows_accepted",
            is_number=True,
            is_down_first=True,
        ),
        Column(
            "skipped",
            gettext_lazy("Skipped"),
            "rows_dropped",
            is_number=True,
            is_down_first=True,
        ),
        Column("started", gettext_lazy("Started"), "created_at", is_down_first=True),
    ),
    sort="-started",
    is_short=True,
)

LISTS = (build_users_columns, DELETED_USERS, ERASURES, EXPORTS, IMPORTS)
