"""Finds reports for the command palette by the ID of their parsing job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from accounts.declarations.pages import Hit
from portal.lib.ids import is_complete_uuid
from portal.lib.web.views import page_url
from portal.ui.pills import find_status_pill
from reports.queries import find_jobs_by_id_prefix

if TYPE_CHECKING:
    from accounts.web.requests import TenantRequest

HITS = 6


def find_reports_by_id(request: TenantRequest, text: str) -> list[Hit]:
    """Return parsing jobs whose ID is or starts with `text`."""
    return [
        Hit(
            words=_("%(report)s of %(user)s")
            % {"report": str(job.id)[:8], "user": job.user.client_user_id},
            url=page_url(request, "reports:page", job_id=job.id),
            detail=find_status_pill(job.status).words,
            is_exact=is_complete_uuid(text, job.id),
        )
        for job in find_jobs_by_id_prefix(tenant=request.tenant, text=text, limit=HITS)
    ]
