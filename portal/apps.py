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
        from django.conf import settings

        from accounts.states import Area
        from portal import checks  # noqa: F401 - importing registers them
        from portal.lib.outages import look_after_connections
        from portal.lib.registry import Destination, destinations, enter_fates

        enter_fates(
            "portal",
            {
                "BackupNote": "when backups were made",
                "DemoData": "which users are made up, by uuid",
                "IsolationRun": "addresses of the server and numbers, no ids",
                "IdempotentAnswer": "answers about the user are removed, all in a day",
            },
        )
        ids = "arguments are ids; gone 7 days after the job"
        enter_fates(
            "procrastinate",
            {
                "ProcrastinateJob": ids,
                "ProcrastinateEvent": ids,
                "ProcrastinatePeriodicDefer": "times of periodic jobs",
                "ProcrastinateWorker": "which workers live",
            },
        )
        enter_fates("admin", {"LogEntry": "what operators changed, never of users"})
        enter_fates("contenttypes", {"ContentType": "names of tables"})
        enter_fates(
            "sessions",
            {"Session": "order drafts, encrypted and at most 12 hours old"},
        )
        self._enter_ends()
        look_after_connections()
        if settings.SENTRY_DSN:
            from portal.fault_reports import report_faults

            report_faults(settings.SENTRY_DSN)
        if settings.SLOW_QUERY_MS:
            from portal.lib.slow_queries import watch_connections

            watch_connections()
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

    def _enter_ends(self) -> None:
        from portal.lib.registry import RowEnd, enter_ends

        finished = RowEnd("7 days after the job ended", "portal.remove_finished_jobs")
        unused = RowEnd("14 days after its last use", "accounts.forget_sessions")
        enter_ends(
            "portal",
            {
                "BackupNote": "the last alone is kept",
                "DemoData": "one for each environment",
                "IsolationRun": "the last 100 are kept",
                "IdempotentAnswer": RowEnd(
                    "24 hours, for bookings 14 days", "portal.purge_answers"
                ),
            },
        )
        enter_ends(
            "procrastinate",
            {
                "ProcrastinateJob": finished,
                "ProcrastinateEvent": finished,
                "ProcrastinateWorker": "each worker removes the dead ones",
            },
        )
        enter_ends("admin", {"LogEntry": "for good: what operators changed"})
        enter_ends("sessions", {"Session": unused})


class OperatorsAdminConfig(admin.AdminConfig):
    """Django's admin app, with our site as its one site."""

    default = False
    default_site = "portal.operators.OperatorsSite"
