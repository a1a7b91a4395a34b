"""The project package as an app: commands, checks, and the floor's one table."""

from __future__ import annotations

from django.apps import AppConfig
from django.contrib.admin import apps as admin


class PortalConfig(AppConfig):
    """Roof and floor; brings system checks of our own settings."""

    name = "portal"
    default = True

    def ready(self) -> None:
        """Register the system checks."""
        from portal import checks  # noqa: F401 - importing registers them


class OperatorsAdminConfig(admin.AdminConfig):
    """Django's admin app, with our site as its one site."""

    default = False
    default_site = "portal.operators.OperatorsSite"
