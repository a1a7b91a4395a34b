"""Paths; see portal/urls.py for where they are mounted."""

from __future__ import annotations

from portal.lib.api.views import mount_api_view
from reports.api.v1.critical_limits import CriticalLimitsView, CriticalLimitView
from reports.api.v1.documents import (
    DocumentsView,
    DocumentView,
    MatchDocumentView,
    RejectDocumentView,
)
from reports.api.v1.jobs import (
    MoveParsingJobView,
    ParsingJobsView,
    ParsingJobView,
    RejectParsingJobView,
    ReleaseParsingJobView,
)
from reports.api.v1.outside import OutsideReportsView

urlpatterns = [
    mount_api_view("parser/job", ParsingJobsView),
    mount_api_view("parser/job/<job_id>", ParsingJobView),
    mount_api_view("parser/job/<job_id>/release", ReleaseParsingJobView),
    mount_api_view("parser/job/<job_id>/reject", RejectParsingJobView),
    mount_api_view("user/<user_id>/outside_report", OutsideReportsView),
    mount_api_view("parser/job/<job_id>/order", MoveParsingJobView),
    mount_api_view("critical_limits", CriticalLimitsView, "api-critical-limits"),
    mount_api_view(
        "critical_limits/<limit_id>", CriticalLimitView, "api-critical-limit"
    ),
    mount_api_view("parser/document", DocumentsView),
    mount_api_view("parser/document/<document_id>", DocumentView),
    mount_api_view("parser/document/<document_id>/match", MatchDocumentView),
    mount_api_view("parser/document/<document_id>/reject", RejectDocumentView),
]
