"""The outbox, a Django app of its own inside accounts (architecture 2.2)."""

from __future__ import annotations

from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    """Events, the endpoints they go to, and what became of each."""

    name = "accounts.webhooks"
    label = "webhooks"

    def ready(self) -> None:
        """Register how long a team can keep events."""
        from accounts.models.team import (
            EVENT_RETENTION_DAYS,
            EVENT_RETENTION_DAYS_MAX,
        )
        from accounts.webhooks.operations.retention import count_events_before
        from portal.lib.registry import DataClass, data_classes
        from portal.lib.translation import gettext_lazy

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
                count=count_events_before,
                usual_days=EVENT_RETENTION_DAYS,
                most_days=EVENT_RETENTION_DAYS_MAX,
                removed_by="webhooks.prune",
            ),
        )
