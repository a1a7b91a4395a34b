"""The project package as an app: commands, checks, and the floor's one table."""

from __future__ import annotations

from django.apps import AppConfig
from django.contrib.admin import apps as admin


class PortalConfig(AppConfig):
    """Roof and floor; brings system checks of our own settings."""

    name = "portal"
    default = True

    def ready(self) -> None:
        """Register the system checks and the data rules of the floor's tables."""
        from django.conf import settings

        from portal.lib.database.outages import close_dead_connections_on_each_request
        from portal.lib.registry import register_erasure_rules
        from portal.ops import checks  # noqa: F401 - importing registers them

        register_erasure_rules(
            "portal",
            {
                "BackupNote": "when backups were made",
                "DemoData": "which users are made up, by uuid",
                "IsolationRun": "addresses of the server and numbers, no ids",
                "IdempotentAnswer": "answers about the user are removed, all in a day",
            },
        )
        ids = "arguments are ids; gone 7 days after the job"
        register_erasure_rules(
            "procrastinate",
            {
                "ProcrastinateJob": ids,
                "ProcrastinateEvent": ids,
                "ProcrastinatePeriodicDefer": "times of periodic jobs",
                "ProcrastinateWorker": "which workers live",
            },
        )
        register_erasure_rules(
            "admin", {"LogEntry": "what operators changed, never of users"}
        )
        register_erasure_rules("contenttypes", {"ContentType": "names of tables"})
        register_erasure_rules(
            "sessions",
            {"Session": "order drafts, encrypted and at most 12 hours old"},
        )
        self._register_retention_rules()
        close_dead_connections_on_each_request()
        if settings.SENTRY_DSN:
            from portal.ops.fault_reports import start_error_reporting

            start_error_reporting(settings.SENTRY_DSN)
        if settings.SLOW_QUERY_MS:
            from portal.lib.database.slow_queries import log_slow_queries

            log_slow_queries()

    def _register_retention_rules(self) -> None:
        from portal.lib.registry import RetentionRule, register_retention_rules

        finished = RetentionRule(
            "7 days after the job ended", "portal.remove_finished_jobs"
        )
        unused = RetentionRule("14 days after its last use", "accounts.forget_sessions")
        register_retention_rules(
            "portal",
            {
                "BackupNote": "the last alone is kept",
                "DemoData": "one for each environment",
                "IsolationRun": "the last 100 are kept",
                "IdempotentAnswer": RetentionRule(
                    "24 hours, for bookings 14 days", "portal.purge_answers"
                ),
            },
        )
        register_retention_rules(
            "procrastinate",
            {
                "ProcrastinateJob": finished,
                "ProcrastinateEvent": finished,
                "ProcrastinateWorker": "each worker removes the dead ones",
            },
        )
        register_retention_rules(
            "admin", {"LogEntry": "for good: what operators changed"}
        )
        register_retention_rules("sessions", {"Session": unused})


class OperatorsAdminConfig(admin.AdminConfig):
    """Django's admin app, with our site as its one site."""

    default = False
    default_site = "portal.ops.operators.OperatorsSite"
