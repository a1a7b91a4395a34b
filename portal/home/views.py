"""Where a member lands. Must not be here: any page of one app."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from django.contrib.auth.decorators import login_required
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from accounts.web.places import find_landing
from portal.lib.web import page_url

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from accounts.models import Member
    from portal.lib.web import TenantRequest


@require_GET
@login_required
def landing(request: HttpRequest) -> HttpResponse:
    """The site's address: on to the last visited place, or say that there is none."""
    tenant = find_landing(request.session, member=cast("Member", request.user))
    if tenant is None:
        return render(request, "portal/no_team.html", status=403)
    return redirect("home", team_slug=tenant.team.slug, environment=tenant.environment)


@require_GET
def home(request: TenantRequest) -> HttpResponse:
    """A team's first page: its users."""
    return redirect(page_url(request, "users:list"))
