"""Finds reports for the command palette by the ID of their parsing job."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID

from django.utils.translation import gettext as _

from accounts.declarations.pages import Hit
from portal.lib.ids import is_complete_uuid
from portal.lib.web.views import page_url
from portal.ui.pills import find_status_pill
from reports.queries import list_jobs_by_id
from users.queries.numbers import find_records_by_number
from users.states import NumberedKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from accounts.web.requests import TenantRequest

HITS = 6


def find_reports_by_id(request: TenantRequest, text: str) -> list[Hit]:
    """Return parsing jobs with `text` in their ID."""
    ids = find_records_by_number(
        tenant=request.tenant, kind=NumberedKind.REPORT, text=text, limit=HITS
    )
    return [
        replace(hit, is_exact=is_complete_uuid(text, UUID(hit.record)))
        for hit in reopen_reports(request, ids)
    ]


def reopen_reports(request: TenantRequest, ids: Sequence[UUID]) -> list[Hit]:
    """Return those of these parsing jobs that are the tenant's."""
    return [
        Hit(
            words=_("%(report)s of %(user)s")
            % {"report": str(job.id)[:8], "user": job.user.client_user_id},
            url=page_url(request, "reports:page", job_id=job.id),
            detail=find_status_pill(job.status).words,
            record=str(job.id),
        )
        for job in list_jobs_by_id(tenant=request.tenant, ids=ids)
    ]
