"""Columns of the lists of the reports app."""

from __future__ import annotations

from portal.lib.translation import gettext_lazy
from portal.ui.columns import Column, ListColumns

REPORTS = ListColumns(
    "reports",
    (
        Column("report", gettext_lazy("Report"), is_fixed=True),
        Column("user", gettext_lazy("User"), "user__client_user_id"),
        Column("lab", gettext_lazy("Lab"), "metadata__lab_name"),
        Column(
            "collected",
            gettext_lazy("Collected"),
            "metadata__date_collected",
            is_down_first=True,
        ),
        Column("status", gettext_lazy("Status"), "status"),
        Column(
            "created_at", gettext_lazy("Uploaded"), "created_at", is_down_first=True
        ),
    ),
    sort="-created_at",
)

REVIEWS = ListColumns(
    "reviews",
    (
        Column("report", gettext_lazy("Report"), is_fixed=True),
        Column("user", gettext_lazy("User"), "job__user__client_user_id"),
        Column("lab", gettext_lazy("Lab"), "job__metadata__lab_name"),
        Column(
            "collected",
            gettext_lazy("Collected"),
            "job__metadata__date_collected",
            is_down_first=True,
        ),
        Column(
            "pages",
            gettext_lazy("Pages"),
            "job__pages",
            is_number=True,
            is_down_first=True,
        ),
        Column("values", gettext_lazy("Values"), is_number=True),
        Column("to_check", gettext_lazy("To check"), "flagged", is_down_first=True),
        Column("since", gettext_lazy("Waiting since"), "created_at"),
        Column("reviewer", gettext_lazy("Reviewer"), "claimed_by_label"),
    ),
)

ENDED_REVIEWS = ListColumns(
    "ended_reviews",
    (
        Column("report", gettext_lazy("Report"), is_fixed=True),
        Column("user", gettext_lazy("User"), "job__user__client_user_id"),
        Column("lab", gettext_lazy("Lab"), "job__metadata__lab_name"),
        Column(
            "collected",
            gettext_lazy("Collected"),
            "job__metadata__date_collected",
            is_down_first=True,
        ),
        Column(
            "pages",
            gettext_lazy("Pages"),
            "job__pages",
            is_number=True,
            is_down_first=True,
        ),
        Column("values", gettext_lazy("Values"), is_number=True),
        Column("to_check", gettext_lazy("Outcome"), "status"),
        Column("since", gettext_lazy("Ended"), "ended_at", is_down_first=True),
        Column("reviewer", gettext_lazy("Reviewer"), "claimed_by_label"),
    ),
    sort="-since",
)

DOCUMENTS = ListColumns(
    "documents",
    (
        Column("document", gettext_lazy("Document"), is_fixed=True),
        Column("source", gettext_lazy("Sent by"), "source_label"),
        Column("reason", gettext_lazy("Order or reason")),
        Column(
            "received_at", gettext_lazy("Received"), "received_at", is_down_first=True
        ),
    ),
    sort="-received_at",
)

# Newest first, which no column has.
LOINC_ALIASES = ListColumns(
    "loinc_aliases",
    (
        Column("name", gettext_lazy("Printed name"), "name", is_fixed=True),
        Column("lab", gettext_lazy("Lab"), "lab"),
        Column("code", gettext_lazy("Code"), "loinc_code"),
        Column("approved", gettext_lazy("Approved by"), "confirmed_by_label"),
    ),
    is_short=True,
)

LISTS = (REPORTS, REVIEWS, ENDED_REVIEWS, DOCUMENTS, LOINC_ALIASES)
