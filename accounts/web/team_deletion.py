"""Deleting the team of the page, and the page where owners bring deleted ones back.

Must not be here: who may, and what becomes of it (accounts.operations.team_deletion).
"""

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

from accounts.operations.team_deletion import (
    delete_team,
    mail_owners,
    undo_delete_team,
    undo_ends_at,
)
from accounts.queries import deleted_teams
from accounts.states import Area
from accounts.web.dialogs import ask
from accounts.web.rights import require_right
from accounts.web.step_up import step_up
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import DomainError
from portal.lib.web import go_to, page_url

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from accounts.models import Member, Team
    from portal.lib.web import TenantRequest


@require_http_methods(["GET", "POST"])
@require_right(Area.DELETE_TEAM, write=True)
@step_up
def delete(request: TenantRequest) -> HttpResponse:
    team = request.tenant.team
    error = ""
    if request.method == "POST":
        if request.POST.get("typed_name", "").strip() == team.name:
            deleted = delete_team(team=team, actor=request.actor)
            mail_owners(team=deleted, actor=request.actor)
            return go_to(request, reverse("deleted_teams"))
        error = _("The name does not match. Nothing was deleted.")
    return ask(
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
def deleted(request: HttpRequest) -> HttpResponse:
    """The teams that the member owned and can bring back; bring one back."""
    member = cast("Member", request.user)
    teams = deleted_teams(member)
    if request.method == "POST":
        try:
            team = undo_delete_team(
                team=_asked_for(request, teams), actor=_actor(request, member)
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
        {"teams": [(team, undo_ends_at(team)) for team in teams]},
    )


def _asked_for(request: HttpRequest, teams: list[Team]) -> Team:
    try:
        wanted = UUID(request.POST.get("team_id", ""))
    except ValueError:
        raise Http404 from None
    for team in teams:
        if team.pk == wanted:
            return team
    raise Http404


def _actor(request: HttpRequest, member: Member) -> Actor:
    return Actor(
        ActorKind.MEMBER,
        str(member.pk),
        member.email,
        request.META.get("REMOTE_ADDR") or None,
    )
