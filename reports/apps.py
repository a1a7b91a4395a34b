"""The reports app."""

from __future__ import annotations

from django.apps import AppConfig

from portal.lib.translation import gettext_lazy


class ReportsConfig(AppConfig):
    """See the package docstring."""

    name = "reports"

    def ready(self) -> None:
        """Hand on what erases a user's reports, and what other pages show of them."""
        from portal.lib.registry import (
            register_erasure_rules,
            register_retention_rules,
            user_erasers,
        )
        from reports.operations.reading.files import erase_user_reports

        user_erasers.add("reports", erase_user_reports)
        register_erasure_rules(
            "reports", {"LoincAlias": "names that a lab gives to its tests"}
        )
        register_retention_rules(
            "reports", {"LoincAlias": "with its team: how it reads its labs"}
        )
        self._enter_pages()
        self._enter_data_classes()

    def _enter_data_classes(self) -> None:
        from portal.lib.registry import DataClass, data_classes
        from reports.operations.retention import (
            count_old_completed_reports,
            count_old_failed_reports,
            delete_old_completed_reports,
            delete_old_failed_reports,
        )

        tables = (
            *("reports.ParsingJob", "reports.ReportFile"),
            "reports.ParsingJobTransition",
        )
        data_classes.add(
            "unread_reports",
            DataClass(
                rank=50,
                title=gettext_lazy("Failed and rejected reports"),
                says=gettext_lazy(
                    "Reports that failed or were rejected, with their files."
                ),
                tables=tables,
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
                tables=(
                    *tables,
                    *("reports.ReportResult", "reports.Rereading", "reports.Review"),
                    *("reports.ReviewRow", "reports.ReviewRowVersion"),
                    *("reports.ReviewComment", "reports.SignOff"),
                ),
                count=count_old_completed_reports,
                remove=delete_old_completed_reports,
                is_record=True,
            ),
        )

    def _enter_pages(self) -> None:
        from accounts.states import Area
        from portal.lib.registry import (
            Destination,
            MarkerSource,
            Search,
            destinations,
            marker_sources,
            nav_counts,
            overview_parts,
            searches,
        )
        from reports.operations.signing.signed_values import (
            list_signed_values_with_loinc,
        )
        from reports.web.jobs.overview import (
            build_reports_overview_part,
            count_reports_needing_attention,
        )
        from reports.web.jobs.palette import find_reports_by_id
        from reports.web.review.queue import count_open_reviews as count_reviews

        area = Area.REPORTS
        marker_sources.add("reports", MarkerSource(area, list_signed_values_with_loinc))
        overview_parts.add("reports", build_reports_overview_part)
        nav_counts.add("reports", count_reports_needing_attention)
        nav_counts.add("reviews", count_reviews)
        searches.add(
            "reports",
            Search(30, gettext_lazy("Reports"), "scan", area, find_reports_by_id),
        )
        destinations.add(
            "reports",
            Destination(
                30,
                gettext_lazy("Reports"),
                "scan",
                "reports:list",
                area=area,
                keeps_views=True,
            ),
        )
        destinations.add(
            "reports:open",
            Destination(
                31,
                gettext_lazy("Open reports"),
                "clock",
                "reports:list",
                "tab=open",
                area=area,
            ),
        )
        destinations.add(
            "reports:reviews",
            Destination(
                32,
                gettext_lazy("Reviews"),
                "eye",
                "reports:reviews",
                area=Area.SIGN_REPORTS,
                write=True,
            ),
        )
        destinations.add(
            "reports:upload",
            Destination(
                100,
                gettext_lazy("Upload report"),
                "upload",
                "reports:upload",
                area=area,
                write=True,
                is_action=True,
                on_overview=True,
            ),
        )
