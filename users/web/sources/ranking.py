"""Pages of the source ranking: of the team, and of one user in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.rights import require_right
from portal.lib.errors import Invalid
from portal.lib.web.views import page_url, redirect_browser, render_page
from users.operations.sources.priorities import save_source_priority
from users.queries import user_overview
from users.queries.sources.priorities import (
    find_user_source_ranking,
    read_source_priority,
)
from users.wearables.providers import PROVIDERS, find_provider

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from users.models import User

# By button: how many places a source moves.
_STEPS = {"up": -1, "down": 1}


@require_http_methods(["GET", "POST"])
@require_right(Area.USERS)
def rank_team_sources(request: TenantRequest) -> HttpResponse:
    """Show the team's ranking, and change it."""
    stored = read_source_priority(tenant=request.tenant)
    ranking = stored.sources if stored else []
    if request.method == "POST":
        _save(request, ranking)
        return redirect_browser(request, page_url(request, "users:team_ranking"))
    return render_page(
        request,
        "users/team_ranking.html",
        section="source_settings",
        **_describe(ranking),
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.USERS)
def rank_user_sources(request: TenantRequest, user_id: str) -> HttpResponse:
    """Show the ranking that counts for a user, and give the user one of its own."""
    try:
        overview = user_overview(tenant=request.tenant, user_id=UUID(user_id))
    except ValueError:
        raise Http404 from None
    user = overview.user
    ranking = list(find_user_source_ranking(user))
    if request.method == "POST":
        _save(request, ranking, user)
        return redirect_browser(
            request, page_url(request, "users:user_ranking", user_id=user.uuid)
        )
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="source_priority",
        subject_id=user.uuid,
        user_uuid=user.uuid,
    )
    return render_page(
        request,
        "users/user_ranking.html",
        overview=overview,
        tab="explorer",
        is_own=read_source_priority(tenant=request.tenant, user=user) is not None,
        **_describe(ranking),
    )


def _describe(ranking: Sequence[str]) -> dict[str, Any]:
    others = [each for slug, each in PROVIDERS.items() if slug not in ranking]
    return {
        "ranking": [find_provider(each) for each in ranking],
        "others": sorted(others, key=lambda each: each.name.lower()),
    }


def _save(
    request: TenantRequest, ranking: Sequence[str], user: User | None = None
) -> None:
    if not request.rights.allow(Area.USERS, write=True):
        raise PermissionDenied
    try:
        save_source_priority(
            tenant=request.tenant,
            actor=request.actor,
            sources=_rearrange(
                ranking, request.POST.get("source", ""), request.POST.get("move", "")
            ),
            user=user,
        )
    except Invalid as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, _("Source priority saved."))


def _rearrange(ranking: Sequence[str], source: str, move: str) -> list[str]:
    """Return a ranking after a button: up, down, remove, add or reset."""
    if move == "reset":
        return []
    new = [each for each in ranking if each != source]
    if move == "add":
        return [*new, source]
    if move in _STEPS and source in ranking:
        new.insert(max(ranking.index(source) + _STEPS[move], 0), source)
    return new
