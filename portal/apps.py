"""The project package as an app: commands, checks, and the floor's one table."""

from __future__ import annotations

from django.apps import AppConfig
from django.contrib.admin import apps as admin


class PortalConfig(AppConfig):
    """Roof and floor; brings system checks of our own settings."""

    name = "portal"
    default = True

    def ready(self) -> None:
        """Register checks, compile catalogues, and connect error and query logging."""
        from django.conf import settings

        from portal.lib.catalogues import compile_stale_catalogues
        from portal.lib.database.outages import close_dead_connections_on_each_request
        from portal.ops import checks  # noqa: F401 - importing registers them

        compile_stale_catalogues(settings.LOCALE_PATHS[0])
        close_dead_connections_on_each_request()
        if settings.SENTRY_DSN:
            from portal.ops.fault_reports import start_error_reporting

            start_error_reporting(settings.SENTRY_DSN)
        if settings.SLOW_QUERY_MS:
            from portal.lib.database.slow_queries import log_slow_queries

            log_slow_queries()


class OperatorsAdminConfig(admin.SimpleAdminConfig):
    """Django's admin app, with our site as its one site.

    The URLs find its pages, which every other command would load for nothing.
    """

    default = False
    default_site = "portal.ops.operators.OperatorsSite"
