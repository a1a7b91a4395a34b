"""View a team as one of its roles: read-only, in this session only.

The session keeps which role and until when; the middleware asks at each page. Must not
be here: what a role may see (accounts.states).
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from django.contrib import messages
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_POST

from accounts.operations.members.viewing import (
    record_end_of_viewing_as_role,
    start_viewing_team_as_role,
)
from accounts.states import Area, Role
from accounts.web.requests import Rights
from accounts.web.rights import require_right
from portal.lib.errors import DomainError
from portal.lib.web.views import page_url, redirect_browser

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest

P = ParamSpec("P")
R = TypeVar("R")

VIEWING_TTL = timedelta(hours=1)  # Ours: whoever forgets it works as themselves again
_KEY = "viewing_as"
_SAFE = ("GET", "HEAD", "OPTIONS")


def find_role_viewed_as(request: TenantRequest) -> Role | None:
    """Return the role this session views the team as, if still allowed."""
    stored = request.session.get(_KEY)
    if (
        not stored
        or stored["team"] != str(request.tenant.team_id)
        or stored["until"] <= timezone.now().timestamp()
        or not request.rights.allow(Area.TEAM, write=True)
    ):
        return None
    return Role(stored["role"])


def apply_rights_of_role_viewed_as(request: TenantRequest) -> None:
    """Give the request the rights of the viewed role."""
    request.viewing_as = find_role_viewed_as(request)
    if request.viewing_as is not None:
        request.rights = Rights(
            frozenset({request.viewing_as.value}), request.tenant.environment
        )


def allow_while_viewing_as_role(view: Callable[P, R]) -> Callable[P, R]:
    """Let who views as a role post to a page that changes nothing; outermost."""
    view.changes_nothing = True  # type: ignore[attr-defined]  # as Django marks views
    return view


def refuse_change_while_viewing_as_role(
    request: TenantRequest, view: object
) -> HttpResponse | None:
    """Return a refusal for changes while viewing as a role, else None."""
    if (
        request.viewing_as is None
        or request.method in _SAFE
        or hasattr(view, "changes_nothing")
    ):
        return None
    return render(request, "accounts/read_only_view.html", status=403)


@require_POST
@require_right(Area.TEAM, write=True)
def view_team_as_role(request: TenantRequest) -> HttpResponse:
    try:
        role = start_viewing_team_as_role(
            team=request.tenant.team,
            actor=request.actor,
            role=request.POST.get("role", ""),
        )
    except DomainError as refusal:
        messages.error(request, refusal.message)
        return redirect_browser(request, page_url(request, "team:members"))
    request.session[_KEY] = {
        "team": str(request.tenant.team_id),
        "role": role.value,
        "until": (timezone.now() + VIEWING_TTL).timestamp(),
    }
    return redirect_browser(request, page_url(request, "home"))


@allow_while_viewing_as_role
@require_POST
def stop_viewing_team_as_role(request: TenantRequest) -> HttpResponse:
    if request.viewing_as is not None:
        record_end_of_viewing_as_role(
            team=request.tenant.team, actor=request.actor, role=request.viewing_as
        )
    request.session.pop(_KEY, None)
    return redirect_browser(request, page_url(request, "team:members"))
