"""Columns of the lists of the webhooks app."""

from __future__ import annotations

from portal.lib.translation import gettext_lazy
from portal.ui.columns import Column, ListColumns

ENDPOINTS = ListColumns(
    "endpoints",
    (
        Column("endpoint", gettext_lazy("Endpoint"), "name", is_fixed=True),
        Column("status", gettext_lazy("Status"), "health__state"),
        Column("bars", gettext_lazy("Last 24 hours")),
        Column("success", gettext_lazy("Success"), "health__success", is_number=True),
        Column(
            "p95",
            gettext_lazy("p95 time"),
            "health__p95_ms",
            is_number=True,
            is_down_first=True,
        ),
        Column(
            "waiting", gettext_lazy("Waiting"), "health__waiting", is_down_first=True
        ),
        Column(
            "last_success",
            gettext_lazy("Last success"),
            "endpoint__last_success_at",
            is_down_first=True,
        ),
        Column(
            "secret",
            gettext_lazy("Secret created"),
            "endpoint__secret_made_at",
            is_down_first=True,
        ),
    ),
    is_short=True,
)

DELIVERIES = ListColumns(
    "deliveries",
    (
        Column("event", gettext_lazy("Event"), "event_type", is_fixed=True),
        Column("outcome", gettext_lazy("Outcome"), "status"),
        Column(
            "attempts",
            gettext_lazy("Attempts"),
            "attempts",
            is_number=True,
            is_down_first=True,
        ),
        Column(
            "created_at",
            gettext_lazy("Time"),
            "created_at",
            is_number=True,
            is_down_first=True,
        ),
    ),
    sort="-created_at",
)

LISTS = (ENDPOINTS, DELIVERIES)
