"""What a session has shown beside who its member is: that a team's provider vouches.

A session that began by single sign-on is confined: it is good for the teams whose
providers vouched, and changes nothing of the account itself, since whoever runs one
team's provider must not reach what the account is elsewhere. Must not be here: what a
team requires (accounts.web.sign_in_rules).
"""

from __future__ import annotations

import time
from datetime import timedelta
from functools import wraps
from typing import TYPE_CHECKING
from uuid import UUID

from django.shortcuts import render

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.sessions.backends.base import SessionBase
    from django.http import HttpRequest, HttpResponse
    from django.http.response import HttpResponseBase

    from accounts.models import SingleSignOn

    View = Callable[..., HttpResponseBase]

_PROOFS = "single_sign_on"
_CONFINED = "single_sign_on_alone"
# Ours: then the provider is asked again, which ends the day of who left it.
PROOF_TTL = timedelta(hours=12)


def record_provider_proof(
    session: SessionBase, single_sign_on: SingleSignOn, *, is_sign_in: bool
) -> None:
    """Note that the team's provider vouched now; `is_sign_in`: the session began so."""
    proofs = session.get(_PROOFS, {})
    session[_PROOFS] = {
        **proofs,
        str(single_sign_on.team_id): [single_sign_on.mark, int(time.time())],
    }
    if is_sign_in:
        session[_CONFINED] = True


def is_single_sign_on_session(session: SessionBase) -> bool:
    """Whether this session began by single sign-on."""
    return session.get(_CONFINED, False) is True


def find_provider_mark(session: SessionBase, team_id: UUID) -> str:
    """The mark of the provider that vouched in this team, empty if that is too old."""
    mark, at = session.get(_PROOFS, {}).get(str(team_id), ["", 0])
    return str(mark) if time.time() - at < PROOF_TTL.total_seconds() else ""


def list_proven_teams(session: SessionBase) -> list[UUID]:
    """The teams whose provider has vouched in this session, however long ago."""
    return [UUID(team_id) for team_id in session.get(_PROOFS, {})]


def refuse_single_sign_on_session(request: HttpRequest) -> HttpResponse:
    """Say that this is not for a session that came by single sign-on."""
    return render(request, "accounts/confined.html", status=403)


def require_own_sign_in(view: View) -> View:
    """Refuse a view of the account itself (403) to a confined session."""

    @wraps(view)
    def guarded(request: HttpRequest, /, *args: str, **kwargs: str) -> HttpResponseBase:
        if is_single_sign_on_session(request.session):
            return refuse_single_sign_on_session(request)
        return view(request, *args, **kwargs)

    return guarded
