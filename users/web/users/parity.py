"""The latest comparison with each platform that a team moves in from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.states import Area
from accounts.web.rights import require_right
from portal.lib.errors import NotFound
from portal.lib.web.views import render_page
from users.models import ParityReport

if TYPE_CHECKING:
    from accounts.web.requests import TenantRequest


@require_GET
@require_right(Area.TEAM)
def show_parity_reports(request: TenantRequest) -> HttpResponse:
    """Show the numbers of each platform's comparison, or one as JSON."""
    reports = ParityReport.objects.for_tenant(request.tenant).order_by("platform")
    if request.GET.get("format") == "json":
        found = reports.filter(platform=request.GET.get("platform", "")).first()
        if found is None:
            raise NotFound("not_found", _("No comparison found."))
        answer = HttpResponse(
            json.dumps(found.counts, indent=2), content_type="application/json"
        )
        answer["Content-Disposition"] = (
            f'attachment; filename="parity-{found.platform}.json"'
        )
        return answer
    return render_page(
        request, "users/parity_reports.html", reports=reports, section="users"
    )
