"""The project package as an app: commands, checks, and the floor's one table."""

from __future__ import annotations

from django.apps import AppConfig


class PortalConfig(AppConfig):
    """Roof and floor; brings system checks of our own settings."""

    name = "portal"

    def ready(self) -> None:
        """Register the system checks."""
        from portal import checks  # noqa: F401 - importing registers them
