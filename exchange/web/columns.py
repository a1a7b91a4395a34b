"""Columns of the lists of the exchange app."""

from __future__ import annotations

from portal.lib.translation import gettext_lazy
from portal.ui.columns import Column, ListColumns

# Newest first, which no column has.
SHARED_LINKS = ListColumns(
    "shared_links",
    (
        Column("label", gettext_lazy("Label"), "label", is_fixed=True),
        Column("status", gettext_lazy("Status")),
        Column("created_by", gettext_lazy("Created by"), "made_by"),
        Column("expires_at", gettext_lazy("Expires"), "expires_at"),
        Column(
            "openings",
            gettext_lazy("Openings"),
            "openings",
            is_number=True,
            is_down_first=True,
        ),
        Column(
            "opened_at",
            gettext_lazy("Last opened"),
            "last_opened_at",
            is_down_first=True,
        ),
    ),
    is_short=True,
)

LISTS = (SHARED_LINKS,)
