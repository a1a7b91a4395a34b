"""Reports whose retention a team chooses."""

from __future__ import annotations

from accounts.declarations.data_classes import DataClass
from portal.lib.translation import gettext_lazy
from reports.operations.retention import (
    count_old_completed_reports,
    count_old_failed_reports,
    delete_old_completed_reports,
    delete_old_failed_reports,
)

DATA_CLASSES = {
    "unread_reports": DataClass(
        rank=50,
        title=gettext_lazy("Failed and rejected reports"),
        says=gettext_lazy(
            "Reports that failed, and reports and documents that were rejected, with"
            " their files."
        ),
        count=count_old_failed_reports,
        remove=delete_old_failed_reports,
    ),
    "reports": DataClass(
        rank=60,
        title=gettext_lazy("Reports"),
        says=gettext_lazy(
            "Completed and signed reports, with their files, values, reviews"
            " and signatures, and outside lab reports."
        ),
        count=count_old_completed_reports,
        remove=delete_old_completed_reports,
        is_record=True,
    ),
}
