"""Hide guides on pages, and take over the browser's time zone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts.operations.members.guides import set_guide_hidden
from accounts.operations.members.profile import use_time_zone
from accounts.web.sign_in.proofs import forbid_single_sign_on_sessions
from portal.lib.errors import DomainError
from portal.lib.web.views import page_url, redirect_browser

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest


@require_POST
def hide_guide(request: TenantRequest) -> HttpResponse:
    """Hide a guide, or show it again, and return to its page."""
    try:
        set_guide_hidden(
            member=request.member,
            tenant=request.tenant,
            guide=request.POST.get("guide", ""),
            is_hidden=request.POST.get("show") != "1",
        )
    except DomainError as refusal:
        messages.error(request, refusal.message)
    home = page_url(request, "home")
    back = request.POST.get("back", "")
    # Only a page of this team and environment: a form of another site leads nowhere.
    return redirect_browser(request, back if back.startswith(home) else home)


@require_POST
@forbid_single_sign_on_sessions
def use_browser_time_zone(request: TenantRequest) -> HttpResponse:
    """Take over the time zone that the browser reports."""
    zone = request.POST.get("time_zone", "")
    try:
        use_time_zone(member=request.member, actor=request.actor, time_zone=zone)
    except DomainError as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, _("Pages show times in %(zone)s.") % {"zone": zone})
    return redirect_browser(request, page_url(request, "home"))
