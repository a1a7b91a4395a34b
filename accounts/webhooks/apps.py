"""The outbox, a Django app of its own inside accounts (architecture 2.2)."""

from __future__ import annotations

from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    """Events, the endpoints they go to, and what became of each."""

    name = "accounts.webhooks"
    label = "webhooks"

    def ready(self) -> None:
        """Enter the pages of endpoints, and what others show of them."""
        from accounts.states import Area
        from accounts.webhooks.web.overview import nav_count, overview_part
        from accounts.webhooks.web.palette import find_webhooks
        from portal.lib.registry import (
            Destination,
            EncryptedTable,
            Search,
            TableFate,
            destinations,
            encrypted_tables,
            enter_fates,
            nav_counts,
            overview_parts,
            searches,
        )

        enter_fates(
            "webhooks",
            {
                "Event": TableFate(("user_uuid",)),
                "Delivery": TableFate(("user_uuid",)),
                "Attempt": TableFate(("delivery__user_uuid",)),
                "ReplayItem": TableFate(("delivery__user_uuid",)),
                "Replay": "a filter by the customer's id is made one by the uuid",
                "Endpoint": "addresses of a team",
            },
        )
        encrypted_tables.add(
            "webhooks.Endpoint",
            EncryptedTable(("secret", "previous_secret", "headers")),
        )
        area = Area.WEBHOOKS
        overview_parts.add("webhooks", overview_part)
        nav_counts.add("webhooks", nav_count)
        searches.add("webhooks", Search(50, "Webhooks", "hook", area, find_webhooks))
        destinations.add(
            "webhooks",
            Destination(55, "Webhooks", "hook", "webhooks:list", area=area),
        )
        destinations.add(
            "webhooks:create",
            Destination(
                150,
                "Add an endpoint",
                "hook",
                "webhooks:create",
                area=area,
                write=True,
                is_action=True,
            ),
        )
