"""Page of a lab report that another institution made of a user."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django.http import Http404
from django.views.decorators.http import require_GET

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.rights import require_right
from portal.lib.web.views import render_page
from reports.queries.outside import get_outside_report, list_outside_report_versions
from users.queries import user_overview

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest


@require_GET
@require_right(Area.USERS)
@require_right(Area.REPORTS)
def show_outside_report(
    request: TenantRequest, user_id: str, outside_report_id: UUID
) -> HttpResponse:
    """Show one version of a report with its results as the source has them."""
    try:
        overview = user_overview(tenant=request.tenant, user_id=UUID(user_id))
    except ValueError:
        raise Http404 from None
    report = get_outside_report(
        tenant=request.tenant,
        user_uuid=overview.user.uuid,
        report_id=outside_report_id,
    )
    report.tenant = request.tenant
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="outside_report",
        subject_id=report.id,
        user_uuid=overview.user.uuid,
    )
    return render_page(
        request,
        "reports/outside_report.html",
        overview=overview,
        section="users",
        tab="reports",
        report=report,
        versions=list_outside_report_versions(report),
    )
