"""Track in the session which teams' single sign-on providers authenticated it.

A session that began by single sign-on is confined: it is good for the teams whose
providers vouched, and changes nothing of the account itself, since whoever runs one
team's provider must not reach what the account is elsewhere.
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


def record_provider_sign_in(
    session: SessionBase, single_sign_on: SingleSignOn, *, is_sign_in: bool
) -> None:
    """Record that a team's provider authenticated this session now."""
    proofs = session.get(_PROOFS, {})
    session[_PROOFS] = {
        **proofs,
        str(single_sign_on.team_id): [single_sign_on.mark, int(time.time())],
    }
    if is_sign_in:
        session[_CONFINED] = True


def is_single_sign_on_session(session: SessionBase) -> bool:
    """Return whether this session started with single sign-on."""
    return session.get(_CONFINED, False) is True


def find_proven_provider_version(session: SessionBase, team_id: UUID) -> str:
    """Return the provider's mark for this team, empty if too old."""
    mark, at = session.get(_PROOFS, {}).get(str(team_id), ["", 0])
    return str(mark) if time.time() - at < PROOF_TTL.total_seconds() else ""


def list_teams_proven_by_provider(session: SessionBase) -> list[UUID]:
    """Return the teams whose provider authenticated this session."""
    return [UUID(team_id) for team_id in session.get(_PROOFS, {})]


def refuse_single_sign_on_session(request: HttpRequest) -> HttpResponse:
    """Render the refusal for sessions that started with single sign-on."""
    return render(request, "accounts/confined.html", status=403)


def forbid_single_sign_on_sessions(view: View) -> View:
    """Refuse an account view (403) to single sign-on sessions."""

    @wraps(view)
    def guarded(request: HttpRequest, /, *args: str, **kwargs: str) -> HttpResponseBase:
        if is_single_sign_on_session(request.session):
            return refuse_single_sign_on_session(request)
        return view(request, *args, **kwargs)

    return guarded
