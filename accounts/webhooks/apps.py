"""The outbox, a Django app of its own inside accounts (architecture 2.2)."""

from __future__ import annotations

from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    """Events, the endpoints they go to, and what became of each."""

    name = "accounts.webhooks"
    label = "webhooks"

    def ready(self) -> None:
        """Register webhooks with navigation, overview, search and data rules."""
        from accounts.models.team import (
            EVENT_RETENTION_DAYS,
            EVENT_RETENTION_DAYS_MAX,
        )
        from accounts.states import Area
        from accounts.webhooks.operations.retention import count_events_before
        from accounts.webhooks.web.overview import (
            build_failing_endpoints_overview,
            count_failing_endpoints,
        )
        from accounts.webhooks.web.palette import find_webhooks_for_command_palette
        from portal.lib.registry import (
            DataClass,
            Destination,
            EncryptedTable,
            ErasureRule,
            RetentionRule,
            Search,
            data_classes,
            destinations,
            encrypted_tables,
            nav_counts,
            overview_parts,
            register_erasure_rules,
            register_retention_rules,
            searches,
        )
        from portal.lib.translation import gettext_lazy

        register_erasure_rules(
            "webhooks",
            {
                "Event": ErasureRule(("user_uuid",)),
                "Delivery": ErasureRule(("user_uuid",)),
                "Attempt": ErasureRule(("delivery__user_uuid",)),
                "ReplayItem": ErasureRule(("delivery__user_uuid",)),
                "Replay": "a filter by client user ID is rewritten to the UUID",
                "Endpoint": "addresses of a team",
            },
        )
        register_retention_rules(
            "webhooks",
            {
                "Endpoint": RetentionRule(
                    "when deleted and its log is empty", "webhooks.prune"
                ),
                "Replay": RetentionRule(
                    "after it ended, with its events", "webhooks.prune"
                ),
            },
        )
        encrypted_tables.add(
            "webhooks.Endpoint",
            EncryptedTable(("secret", "previous_secret", "headers")),
        )
        data_classes.add(
            "events",
            DataClass(
                rank=10,
                title=gettext_lazy("Events"),
                says=gettext_lazy(
                    "Events with their deliveries and responses. A failing endpoint is"
                    " disabled after 5 days: store events longer than that to replay"
                    " what it missed."
                ),
                tables=(
                    *("webhooks.Event", "webhooks.Delivery", "webhooks.Attempt"),
                    "webhooks.ReplayItem",
                ),
                count=count_events_before,
                usual_days=EVENT_RETENTION_DAYS,
                most_days=EVENT_RETENTION_DAYS_MAX,
                removed_by="webhooks.prune",
            ),
        )
        area = Area.WEBHOOKS
        overview_parts.add("webhooks", build_failing_endpoints_overview)
        nav_counts.add("webhooks", count_failing_endpoints)
        searches.add(
            "webhooks",
            Search(
                50,
                gettext_lazy("Webhooks"),
                "hook",
                area,
                find_webhooks_for_command_palette,
            ),
        )
        destinations.add(
            "webhooks",
            Destination(
                55, gettext_lazy("Webhooks"), "hook", "webhooks:list", area=area
            ),
        )
        destinations.add(
            "webhooks:create",
            Destination(
                150,
                gettext_lazy("Add endpoint"),
                "hook",
                "webhooks:create",
                area=area,
                write=True,
                is_action=True,
            ),
        )
