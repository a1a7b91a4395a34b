"""The reports app."""

from __future__ import annotations

from django.apps import AppConfig

from portal.lib.translation import gettext_lazy


class ReportsConfig(AppConfig):
    """See the package docstring."""

    name = "reports"

    def ready(self) -> None:
        """Register the data classes of reports."""
        self._enter_data_classes()

    def _enter_data_classes(self) -> None:
        from portal.lib.registry import DataClass, data_classes
        from reports.operations.retention import (
            count_old_completed_reports,
            count_old_failed_reports,
            delete_old_completed_reports,
            delete_old_failed_reports,
        )

        data_classes.add(
            "unread_reports",
            DataClass(
                rank=50,
                title=gettext_lazy("Failed and rejected reports"),
                says=gettext_lazy(
                    "Reports that failed or were rejected, with their files."
                ),
                count=count_old_failed_reports,
                remove=delete_old_failed_reports,
            ),
        )
        data_classes.add(
            "reports",
            DataClass(
                rank=60,
                title=gettext_lazy("Reports"),
                says=gettext_lazy(
                    "Completed and signed reports, with their files, values, reviews"
                    " and signatures."
                ),
                count=count_old_completed_reports,
                remove=delete_old_completed_reports,
                is_record=True,
            ),
        )
