"""Delete the current team, and restore deleted teams."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.operations.teams.deletion import (
    compute_team_restore_deadline,
    delete_team,
    mail_owners_how_to_restore_team,
    undo_delete_team,
)
from accounts.queries import list_restorable_teams
from accounts.states import Area
from accounts.web.dialogs import render_confirmation
from accounts.web.rights import require_right
from accounts.web.sign_in.step_up import require_confirmed_identity
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import DomainError
from portal.lib.web.views import page_url, redirect_browser

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from accounts.models import Member, Team
    from accounts.web.requests import TenantRequest


@require_http_methods(["GET", "POST"])
@require_right(Area.DELETE_TEAM, write=True)
@require_confirmed_identity
def delete_team_page(request: TenantRequest) -> HttpResponse:
    team = request.tenant.team
    error = ""
    if request.method == "POST":
        if request.POST.get("typed_name", "").strip() == team.name:
            deleted_teams_page = delete_team(team=team, actor=request.actor)
            mail_owners_how_to_restore_team(
                team=deleted_teams_page, actor=request.actor
            )
            return redirect_browser(request, reverse("deleted_teams"))
        error = _("The name does not match. Nothing was deleted.")
    return render_confirmation(
        request,
        title=_("Delete %(team)s?") % {"team": team.name},
        says=(
            _(
                "Members and API keys lose access to both environments "
                "immediately. You can restore the team for 7 days. After "
                "that, its users and their data, orders, results, reports, "
                "keys and webhooks are permanently erased."
            )
        ),
        verb=_("Delete team"),
        keep=_("Keep team"),
        back=page_url(request, "team:settings"),
        back_words=_("Settings"),
        match=team.name,
        match_label=_("Team name"),
        error=error,
    )


@require_http_methods(["GET", "POST"])
@login_required
def deleted_teams_page(request: HttpRequest) -> HttpResponse:
    """List the member's deleted teams, and restore one."""
    member = cast("Member", request.user)
    teams = list_restorable_teams(member)
    if request.method == "POST":
        try:
            team = undo_delete_team(
                team=_find_requested_team(request, teams), actor=_actor(request, member)
            )
        except DomainError as refusal:
            messages.error(request, refusal.message)
            return HttpResponseRedirect(reverse("deleted_teams"))
        messages.success(request, _("%(team)s is restored.") % {"team": team.name})
        return HttpResponseRedirect(
            reverse("home", args=[team.slug, team.tenants.all()[0].environment])
        )
    return render(
        request,
        "accounts/deleted_teams.html",
        {"teams": [(team, compute_team_restore_deadline(team)) for team in teams]},
    )


def _find_requested_team(request: HttpRequest, teams: list[Team]) -> Team:
    try:
        team_id = UUID(request.POST.get("team_id", ""))
    except ValueError:
        raise Http404 from None
    for team in teams:
        if team.pk == team_id:
            return team
    raise Http404


def _actor(request: HttpRequest, member: Member) -> Actor:
    return Actor(
        ActorKind.MEMBER,
        str(member.pk),
        member.email,
        request.META.get("REMOTE_ADDR") or None,
    )
