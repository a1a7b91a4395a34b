"""The landing page, the overview and the search."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from django.contrib.auth.decorators import login_required
from django.http import HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from accounts.operations.audit.entries import record_read
from accounts.operations.members.guides import Guide, is_guide_hidden
from accounts.states import Area
from accounts.web.members.viewing import allow_while_viewing_as_role
from accounts.web.sign_in.places import find_landing_environment
from accounts.web.sign_in.proofs import is_single_sign_on_session
from portal.demo.sandbox import find_demo_data
from portal.home.first_steps import build_first_steps
from portal.home.greeting import greet_member
from portal.home.overview import (
    CALM_POLL_S,
    build_team_overview,
    render_go_live_card,
)
from portal.home.search import (
    LEAST_LETTERS,
    MOST_LETTERS,
    filter_palette_commands,
    list_overview_actions,
    list_palette_commands,
    list_recently_opened,
    search_everything,
)
from portal.lib.web.views import is_page_fragment_requested, render_page
from users.queries import count_live_users

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from accounts.models import Member
    from accounts.web.requests import TenantRequest

# How soon to ask again while demo data is on its way.
DEMO_POLL_S = 2
# And while steps of the checklist are open: one is done when the call arrives.
FIRST_STEPS_POLL_S = 10


@require_GET
@login_required
def redirect_to_last_visited_team(request: HttpRequest) -> HttpResponse:
    """Redirect to the team visited last, or say that there is none."""
    tenant = find_landing_environment(
        request.session, member=cast("Member", request.user)
    )
    if tenant is None:
        return render(request, "portal/no_team.html", status=403)
    return redirect("home", team_slug=tenant.team.slug, environment=tenant.environment)


@require_GET
def show_team_home(request: TenantRequest) -> HttpResponse:
    """Show a team's overview, or its first steps where there is no user yet."""
    tenant = request.tenant
    demo = find_demo_data(tenant=tenant) if tenant.is_sandbox else None
    overview = build_team_overview(request) if count_live_users(tenant=tenant) else None
    if overview is not None:
        record_read(
            tenant=tenant,
            actor=request.actor,
            subject="overview",
            subject_id=tenant.environment,
        )
    first_steps = build_first_steps(request)
    poll_seconds = overview.poll_seconds if overview else CALM_POLL_S
    if first_steps:
        poll_seconds = min(poll_seconds, FIRST_STEPS_POLL_S)
    return render_page(
        request,
        "portal/overview.html",
        fragment="portal/_overview.html",
        greeting=greet_member(
            member=request.member, team=request.tenant.team, now=timezone.now()
        ),
        overview=overview,
        first_steps=first_steps,
        zone_to_replace=_get_zone_to_replace(request),
        first_card=None if overview else render_go_live_card(request),
        actions=list_overview_actions(request) if overview else [],
        demo=demo,
        may_change_demo=tenant.is_sandbox
        and request.rights.allow(Area.TEAM, write=True),
        poll_seconds=DEMO_POLL_S if demo and demo.is_busy else poll_seconds,
    )


def _get_zone_to_replace(request: TenantRequest) -> str:
    """Return the zone of the page's times if the browser may offer its own instead."""
    is_settled = (
        request.viewing_as
        or is_single_sign_on_session(request.session)
        or is_guide_hidden(
            member=request.member, tenant=request.tenant, guide=Guide.TIME_ZONE
        )
    )
    return "" if is_settled else timezone.get_current_timezone_name()


@allow_while_viewing_as_role
@require_http_methods(["GET", "POST"])
def show_palette_search_results(request: TenantRequest) -> HttpResponse:
    """Show what was opened lately, or what a posted text finds.

    In the palette, or as a page of its own. It is posted, so that no address and no log
    of a proxy has what was typed.
    """
    text = request.POST.get("q", "")[: MOST_LETTERS + 1]
    if len(text.strip()) < LEAST_LETTERS:
        text = ""
    found = search_everything(request, text)
    groups = found.groups if text else list_recently_opened(request)
    if groups:
        # Never the text: somebody may type a name.
        record_read(
            tenant=request.tenant,
            actor=request.actor,
            subject="search",
            subject_id=",".join(group.key for group in groups),
        )
    is_page = not is_page_fragment_requested(request)
    if is_page and found.exact:
        return HttpResponseRedirect(found.exact)
    return render_page(
        request,
        "portal/search.html",
        fragment="portal/_palette_found.html",
        text=text,
        groups=groups,
        commands=filter_palette_commands(list_palette_commands(request), text)
        if is_page
        else [],
    )
