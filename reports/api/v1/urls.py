"""Paths; see portal/urls.py for where they are mounted."""

from __future__ import annotations

from portal.lib.api.views import endpoint
from reports.api.v1.jobs import ParsingJobsView, ParsingJobView

urlpatterns = [
    endpoint("parser/job", ParsingJobsView),
    endpoint("parser/job/<job_id>", ParsingJobView),
]
