"""The reports app."""

from __future__ import annotations

from django.apps import AppConfig


class ReportsConfig(AppConfig):
    """See the package docstring."""

    name = "reports"

    def ready(self) -> None:
        """Hand the floor what erases a user's reports."""
        from portal.lib.registry import user_erasers
        from reports.operations.storage import erase_reports

        user_erasers.add("reports", erase_reports)
