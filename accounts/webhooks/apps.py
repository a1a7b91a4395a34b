"""The outbox, a Django app of its own inside accounts (architecture 2.2)."""

from __future__ import annotations

from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    """Events, the endpoints they go to, and what became of each."""

    name = "accounts.webhooks"
    label = "webhooks"
