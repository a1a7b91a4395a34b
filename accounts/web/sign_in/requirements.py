"""Check a team's sign-in requirements, and lead members to missing steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.web.sign_in.proofs import (
    find_proven_provider_version,
    is_single_sign_on_session,
    list_teams_proven_by_provider,
)
from accounts.web.sign_in.second_factor import find_second_factor_url

if TYPE_CHECKING:
    from django.http import HttpRequest

    from accounts.models import Member, Team

# What a confined session may open outside the teams that its providers vouched in.
_OPEN = (
    *("/accounts/login/", "/accounts/logout/"),
    *("/accounts/single-sign-on/", "/accounts/confirm/single-sign-on/"),
)
_OF_THE_ACCOUNT = ("/accounts/", "/admin/", "/invitation/")


def is_page_closed_to_session(request: HttpRequest) -> bool:
    """Return whether a page outside teams is closed to this session."""
    path = request.path_info
    if not path.startswith(_OF_THE_ACCOUNT) or path.startswith(_OPEN):
        return False
    return is_single_sign_on_session(request.session)


@dataclass(frozen=True, slots=True)
class EntryRules:
    """A team's sign-in requirements; `mark` is its provider's, or empty."""

    needs_second_factor: bool = False
    needs_provider: bool = False
    mark: str = ""


def find_missing_sign_in_step(
    request: HttpRequest, *, member: Member, team: Team, rules: EntryRules
) -> str | None:
    """Return the URL of a missing sign-in step; None if nothing is missing.

    Raises: Http404, where this session must not even know that they belong to the team.
    """
    confined = is_single_sign_on_session(request.session)
    if confined and team.pk not in list_teams_proven_by_provider(request.session):
        raise Http404
    if not confined and member.email_confirmed_at is None:
        return reverse("confirm_address")
    vouched = (
        rules.mark != ""
        and find_proven_provider_version(request.session, team.pk) == rules.mark
    )
    if (confined or rules.needs_provider) and not vouched:
        page = reverse("single_sign_on", kwargs={"team_slug": team.slug})
        return f"{page}?{urlencode({'next': _next_page(request)})}"
    if not rules.needs_second_factor or vouched:
        # A provider asks for what its team thinks right.
        return None
    step = find_second_factor_url(request, onward=_next_page(request))
    if step is not None:
        messages.info(
            request, _("%(team)s requires a second factor.") % {"team": team.name}
        )
    return step


def _next_page(request: HttpRequest) -> str:
    """Return the page to continue to; posted data is not sent again."""
    if request.method in ("GET", "HEAD") and not getattr(request, "htmx", False):
        return request.get_full_path()
    return "/".join(request.path_info.split("/")[:4]) + "/"
