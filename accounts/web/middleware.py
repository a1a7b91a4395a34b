"""Resolve /t/<team>/<environment>/ to a tenant, a member and rights.

Views below it get a TenantRequest and no team or environment parameter. Must not be
here: what a role may do (accounts.states, asked by accounts.web.rights).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpResponse
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.utils.functional import SimpleLazyObject
from django.views.defaults import page_not_found, permission_denied

from accounts.models import Member
from accounts.web.members.viewing import (
    apply_rights_of_role_viewed_as,
    refuse_change_while_viewing_as_role,
)
from accounts.web.sign_in.places import (
    find_member_environment,
    list_member_environments,
    remember_last_environment,
)
from accounts.web.sign_in.proofs import refuse_single_sign_on_session
from accounts.web.sign_in.requirements import (
    find_missing_sign_in_step,
    is_page_closed_to_session,
)
from accounts.web.sign_in.sessions import record_session_seen
from portal.lib.actor import Actor, ActorKind
from portal.lib.budgets import TEAM
from portal.lib.errors import NotAllowed, NotFound
from portal.lib.periods import find_time_zone_by_name
from portal.lib.tenancy import acting_for
from portal.lib.web.views import redirect_browser

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest

    from accounts.web.requests import TenantRequest

_PLACE = re.compile(r"/t/(?P<team_slug>[^/]+)/(?P<environment>[^/]+)/")


class TenantMiddleware:
    """Resolve the path's team and environment; 404 for non-members."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: Any) -> HttpResponse:
        """Serve a dashboard page as its tenant; pass on everything else."""
        place = _PLACE.match(request.path_info)
        if place is None:
            if is_page_closed_to_session(request):
                return refuse_single_sign_on_session(request)
            return self.get_response(request)
        if not isinstance(request.user, Member):
            return self._ask_to_sign_in(request)
        found = find_member_environment(member=request.user, **place.groupdict())
        if found is None:
            return page_not_found(request, Http404())
        member = request.user
        request.member = member
        tenant, rights, rules = found
        try:
            missing = find_missing_sign_in_step(
                request, member=member, team=tenant.team, rules=rules
            )
        except Http404 as unknown:
            return page_not_found(request, unknown)
        if missing is not None:
            return redirect_browser(request, missing)
        request.tenant, request.rights = tenant, rights
        request.META[TEAM] = str(tenant.pk)
        request.actor = Actor(
            ActorKind.MEMBER,
            str(member.pk),
            member.email,
            request.META.get("REMOTE_ADDR") or None,
        )
        request.places = SimpleLazyObject(
            lambda: list_member_environments(member=member, session=request.session)
        )
        remember_last_environment(request.session, request.tenant)
        record_session_seen(request)
        apply_rights_of_role_viewed_as(request)
        zone = find_time_zone_by_name(member.time_zone or request.tenant.team.time_zone)
        with acting_for(request.tenant), timezone.override(zone):
            response = self.get_response(request)
        # Health data stays out of caches and out of the browser's history on disk.
        add_never_cache_headers(response)
        return response

    def process_view(
        self,
        request: TenantRequest,
        view: object,
        args: object,
        kwargs: dict[str, object],
    ) -> HttpResponse | None:
        """Remove team and environment from the view's parameters.

        Who looks as a role changes nothing.
        """
        if not hasattr(request, "tenant"):
            return None
        del kwargs["team_slug"], kwargs["environment"]
        return refuse_change_while_viewing_as_role(request, view)

    def process_exception(
        self, request: HttpRequest, exception: Exception
    ) -> HttpResponse | None:
        """Answer refusals that a view did not catch."""
        if isinstance(exception, NotFound):
            return page_not_found(request, exception)
        if isinstance(exception, NotAllowed):
            return permission_denied(request, exception)
        return None

    @staticmethod
    def _ask_to_sign_in(request: Any) -> HttpResponse:
        if request.htmx:
            return HttpResponse(status=401)
        return redirect_to_login(request.get_full_path())
