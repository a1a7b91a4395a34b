"""The labs app."""

from __future__ import annotations

from django.apps import AppConfig


class LabsConfig(AppConfig):
    """See the package docstring."""

    name = "labs"

    def ready(self) -> None:
        """Enter the events of orders into the catalogue."""
        from accounts.webhooks.catalogue import EventType, add_event_type
        from labs.payloads import ORDER_SCHEMA

        for what, when in (
            ("created", "An order stands at ordered; data is the order."),
            ("updated", "An order took a later step; data is the order."),
        ):
            add_event_type(EventType(f"labtest.order.{what}", when, ORDER_SCHEMA))
