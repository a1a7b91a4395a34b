"""The outbox, a Django app of its own inside accounts (architecture 2.2)."""

from __future__ import annotations

from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    """Events, the endpoints they go to, and what became of each."""

    name = "accounts.webhooks"
    label = "webhooks"

    def ready(self) -> None:
        """Register the data rules of webhooks."""
        from accounts.models.team import (
            EVENT_RETENTION_DAYS,
            EVENT_RETENTION_DAYS_MAX,
        )
        from accounts.webhooks.operations.retention import count_events_before
        from portal.lib.registry import (
            DataClass,
            EncryptedTable,
            ErasureRule,
            RetentionRule,
            data_classes,
            encrypted_tables,
            register_erasure_rules,
            register_retention_rules,
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
