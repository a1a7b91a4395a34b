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

ORDERS = ListColumns(
    "orders",
    (_ORDER, _USER, *_OF_ORDER),
    sort="-created_at",
    indexed=frozenset({"created_at"}),
)
USER_ORDERS = replace(ORDERS, key="user_orders", columns=(_ORDER, *_OF_ORDER))

VISITS = ListColumns(
    "visits",
    (
        Column("time", gettext_lazy("Time"), "start_at", is_fixed=True),
        Column("place", gettext_lazy("Location"), "site_name"),
        Column("user", gettext_lazy("User"), "order__user__client_user_id"),
        Column("order", gettext_lazy("Order"), "order__lab_test__name"),
        Column("status", gettext_lazy("Status"), "status"),
    ),
)

UNBOOKED = ListColumns(
    "unbooked",
    (
        Column("order", gettext_lazy("Order"), is_fixed=True),
        Column("user", gettext_lazy("User"), "user__client_user_id"),
        Column("tests", gettext_lazy("Tests"), "lab_test__name"),
        Column("status", gettext_lazy("Status"), "status"),
        Column("since", gettext_lazy("Since"), "updated_at"),
    ),
    sort="since",
)

LAB_REPORTS = ListColumns(
    "lab_reports",
    (
        Column("report", gettext_lazy("Report"), is_fixed=True),
        Column("lab", gettext_lazy("Lab"), "message__lab__name"),
        Column("numbers", gettext_lazy("Numbers")),
        Column("reason", gettext_lazy("Order or reason")),
        Column("status", gettext_lazy("Status"), "status"),
        Column(
            "received_at", gettext_lazy("Received"), "received_at", is_down_first=True
        ),
    ),
    sort="-received_at",
)

LAB_MESSAGES = ListColumns(
    "lab_messages",
    (
        Column("message", gettext_lazy("Message"), "control_id", is_fixed=True),
        Column("lab", gettext_lazy("Lab"), "lab__name"),
        Column("problem", gettext_lazy("Problem"), "error_text"),
        Column("status", gettext_lazy("Status"), "status"),
        Column(
            "received_at", gettext_lazy("Received"), "received_at", is_down_first=True
        ),
    ),
    sort="-received_at",
)

LAB_ACCOUNTS = ListColumns(
    "lab_accounts",
    (
        Column("account", gettext_lazy("Account"), "name", is_fixed=True),
        Column("lab", gettext_lazy("Lab"), "account__lab__name"),
        Column("status", gettext_lazy("Status"), "account__status"),
        Column("billing", gettext_lazy("Billing"), "billing"),
        Column(
            "comment",
            gettext_lazy("Default comment"),
            "account__default_clinical_notes",
        ),
        Column("teams", gettext_lazy("Teams"), "teams"),
    ),
    is_short=True,
)

LAB_TESTS = ListColumns(
    "lab_tests",
    (
        Column("test", gettext_lazy("Test"), "name", is_fixed=True),
        Column("markers", gettext_lazy("Markers")),
        Column("collection", gettext_lazy("Collection"), "method"),
        Column("status", gettext_lazy("Status"), "status"),
        Column("price", gettext_lazy("Price"), is_number=True),
        Column("test_id", gettext_lazy("Test ID"), "id"),
    ),
    sort="test",
)

MARKERS = ListColumns(
    "markers",
    (
        Column("marker", gettext_lazy("Marker"), "name", is_fixed=True),
        Column("lab", gettext_lazy("Lab"), "lab__name"),
        Column("code", gettext_lazy("Lab code"), "provider_id"),
        Column("results", gettext_lazy("Results")),
        Column("unit", gettext_lazy("Unit"), "unit"),
        Column("turnaround", gettext_lazy("Turnaround (days)"), "common_tat_days"),
        Column("price", gettext_lazy("Price"), "price", is_number=True),
        Column("marker_id", gettext_lazy("Marker ID"), "id"),
    ),
    sort="marker_id",
)

# Urgent ones first, then the oldest: no column has that order.
APPROVALS = ListColumns(
    "approvals",
    (
        Column("order", gettext_lazy("Order"), is_fixed=True),
        Column("user", gettext_lazy("User"), "order__user__client_user_id"),
        Column("tests", gettext_lazy("Tests"), "order__lab_test__name"),
        Column("asked", gettext_lazy("Asked"), "asked__name"),
        Column("since", gettext_lazy("Waiting since"), "asked_at"),
    ),
    is_short=True,
)

# By lab, then by name: no column has that order. A code is entered in each row.
RESULTS_WITHOUT_LOINC = ListColumns(
    "results_without_loinc",
    (
        Column("result", gettext_lazy("Result"), "name", is_fixed=True),
        Column("test", gettext_lazy("Test"), "marker__name"),
        Column("unit", gettext_lazy("Unit"), "unit"),
        Column("code", gettext_lazy("LOINC code"), is_fixed=True),
    ),
    is_short=True,
)

LISTS = (
    ORDERS,
    USER_ORDERS,
    VISITS,
    UNBOOKED,
    LAB_REPORTS,
    LAB_MESSAGES,
    LAB_ACCOUNTS,
    LAB_TESTS,
    MARKERS,
    APPROVALS,
    RESULTS_WITHOUT_LOINC,
)
