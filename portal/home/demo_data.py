"""The page and the buttons of demo data, in the sandbox, for owners and admins."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING

from django.contrib import messages
from django.http import Http404
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from accounts.states import Area
from accounts.web.rights import require_right
from portal.demo.sandbox import (
    PEOPLE,
    PREFIX,
    find_demo_data,
    request_demo_data,
    request_demo_data_removal,
)
from portal.lib.errors import DomainError, NotAllowed, NotFound
from portal.lib.web.views import page_url, redirect_browser, render_page

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpResponse, HttpResponseBase

    from accounts.web.requests import TenantRequest


def sandbox_only(
    view: Callable[[TenantRequest], HttpResponseBase],
) -> Callable[[TenantRequest], HttpResponseBase]:
    """Hide a view from production, where it does not exist."""

    @wraps(view)
    def guarded(request: TenantRequest) -> HttpResponseBase:
        if not request.tenant.is_sandbox:
            raise Http404
        return view(request)

    return guarded


@require_GET
@sandbox_only
@require_right(Area.TEAM, write=True)
def show_demo_data_page(request: TenantRequest) -> HttpResponse:
    """Show what demo data is, with the button that loads or removes it."""
    return render_page(
        request,
        "portal/demo_data.html",
        demo=find_demo_data(tenant=request.tenant),
        people=len(PEOPLE),
        prefix=PREFIX,
    )


@require_POST
@sandbox_only
@require_right(Area.TEAM, write=True)
def start_loading_demo_data(request: TenantRequest) -> HttpResponse:
    """Start loading demo data."""
    return _ask(
        request, lambda: request_demo_data(tenant=request.tenant, actor=request.actor)
    )


@require_POST
@sandbox_only
@require_right(Area.TEAM, write=True)
def start_removing_demo_data(request: TenantRequest) -> HttpResponse:
    """Start removing demo data."""
    return _ask(
        request,
        lambda: request_demo_data_removal(tenant=request.tenant, actor=request.actor),
    )


def _ask(request: TenantRequest, operation: Callable[[], object]) -> HttpResponse:
    try:
        operation()
    except (NotAllowed, NotFound):
        raise
    except DomainError as refusal:
        messages.error(
            request, _("%(reason)s Nothing was changed.") % {"reason": refusal.message}
        )
    return redirect_browser(request, page_url(request, "home"))
