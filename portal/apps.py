"""The project package as an app: commands, checks, and the floor's one table."""

from __future__ import annotations

from django.apps import AppConfig
from django.contrib.admin import apps as admin


class PortalConfig(AppConfig):
    """Roof and floor; brings system checks of our own settings."""

    name = "portal"
    default = True

    def ready(self) -> None:
        """Register the system checks, and the pages that look at several apps."""
        from accounts.states import Area
        from portal import checks  # noqa: F401 - importing registers them
        from portal.lib.registry import Destination, destinations

        destinations.add("home", Destination(10, "Overview", "home", "home"))
        destinations.add(
            "demo_data",
            Destination(
                190,
                "Load or remove demo data",
                "download",
                "demo_data",
                area=Area.TEAM,
                write=True,
                is_action=True,
                is_sandbox_only=True,
            ),
        )


class OperatorsAdminConfig(admin.AdminConfig):
    """Django's admin app, with our site as its one site."""

    default = False
    default_site = "portal.operators.OperatorsSite"
