"""Columns of the lists of the accounts app."""

from __future__ import annotations

from portal.lib.translation import gettext_lazy
from portal.ui.columns import Column, ListColumns

CALLS = ListColumns(
    "api_calls",
    (
        Column("call", gettext_lazy("Call"), "path", is_fixed=True),
        Column("status", gettext_lazy("Status"), "status", is_down_first=True),
        Column(
            "ms", gettext_lazy("Duration"), "ms", is_number=True, is_down_first=True
        ),
        Column("at", gettext_lazy("Time"), "at", is_number=True, is_down_first=True),
    ),
    sort="-at",
)

MEMBERS = ListColumns(
    "members",
    (
        Column("member", gettext_lazy("Member"), "member__email", is_fixed=True),
        Column("roles", gettext_lazy("Roles"), "roles"),
        Column("second_factor", gettext_lazy("Second factor"), "has_second_factor"),
        Column(
            "last_seen", gettext_lazy("Last seen"), "last_seen_at", is_down_first=True
        ),
    ),
    is_short=True,
)

API_KEYS = ListColumns(
    "api_keys",
    (
        Column("name", gettext_lazy("Name"), "key__label", is_fixed=True),
        Column("key", gettext_lazy("Key"), "key__masked"),
        Column(
            "created", gettext_lazy("Created"), "key__created_at", is_down_first=True
        ),
        Column("permissions", gettext_lazy("Permissions")),
        Column(
            "last_used",
            gettext_lazy("Last used"),
            "key__last_used_at",
            is_down_first=True,
        ),
        Column(
            "calls",
            gettext_lazy("Calls, 7 days"),
            "number_of_calls",
            is_down_first=True,
        ),
    ),
    is_short=True,
)

ASSISTANT_CALLS = ListColumns(
    "assistant_calls",
    (
        Column("call", gettext_lazy("Call"), "words", is_fixed=True),
        Column("key", gettext_lazy("Key"), "key__label"),
        Column("user", gettext_lazy("User"), "call__user_uuid"),
        Column(
            "calls",
            gettext_lazy("API calls"),
            "call__calls",
            is_number=True,
            is_down_first=True,
        ),
        Column(
            "ms",
            gettext_lazy("Duration"),
            "call__ms",
            is_number=True,
            is_down_first=True,
        ),
        Column(
            "at", gettext_lazy("Time"), "call__at", is_number=True, is_down_first=True
        ),
    ),
    sort="-at",
    is_short=True,
)

ACCESSES = ListColumns(
    "accesses",
    (
        Column("day", gettext_lazy("Day"), "0__day", is_fixed=True, is_down_first=True),
        Column("actor", gettext_lazy("Actor"), "0__actor_label"),
        Column("action", gettext_lazy("Action"), "2"),
        Column(
            "count",
            gettext_lazy("Count"),
            "0__times",
            is_number=True,
            is_down_first=True,
        ),
        Column(
            "times",
            gettext_lazy("First–last"),
            "0__first_at",
            is_number=True,
            is_down_first=True,
        ),
    ),
    is_short=True,
)

LISTS = (CALLS, MEMBERS, API_KEYS, ASSISTANT_CALLS, ACCESSES)
