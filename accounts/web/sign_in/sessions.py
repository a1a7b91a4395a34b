"""Record, list and end a member's sessions."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING
from uuid import UUID

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts.operations.sign_in.sessions import (
    end_member_session,
    record_session_activity,
)
from accounts.queries import list_open_sessions
from accounts.web.sign_in.places import LAST_SEEN_STEP
from accounts.web.sign_in.proofs import forbid_single_sign_on_sessions
from accounts.web.sign_in.step_up import require_confirmed_identity
from portal.lib.web.views import page_url, redirect_browser

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from accounts.models import Member, MemberSession
    from accounts.web.requests import TenantRequest

_SEEN = "seen_at"
# In this order: a browser's text names those that it descends from, too.
_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS", "Firefox"),
    ("CriOS", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Mac OS X", "Mac"),
    ("Linux", "Linux"),
)


def describe_user_agent(user_agent: str) -> str:
    """Return the browser and system named by a user agent."""
    browser = next((words for mark, words in _BROWSERS if mark in user_agent), "")
    system = next((words for mark, words in _SYSTEMS if mark in user_agent), "")
    if browser and system:
        return _("%(browser)s on %(system)s") % {"browser": browser, "system": system}
    return browser or system or _("Unknown device")


def record_session_seen(request: TenantRequest) -> None:
    """Record that a session was seen, at most every few minutes."""
    now = int(time.time())
    if now - request.session.get(_SEEN, 0) >= LAST_SEEN_STEP.total_seconds():
        record_session(request, request.member)


def keep_current_session_signed_in(request: HttpRequest, member: Member) -> None:
    """Keep this session when the member's others end, and record its new key."""
    update_session_auth_hash(request, member)
    record_session(request, member)


def list_session_rows(request: TenantRequest) -> list[tuple[MemberSession, str, bool]]:
    """Return each session with its device and whether it is this one."""
    here = request.session.session_key
    found = list_open_sessions(member=request.member, at=timezone.now())
    return [
        (session, describe_user_agent(session.user_agent), session.session_key == here)
        for session in found
    ]


@require_POST
@forbid_single_sign_on_sessions
@require_confirmed_identity
def sign_out_session(request: TenantRequest, sign_in_id: str) -> HttpResponse:
    try:
        session_id = UUID(sign_in_id)
    except ValueError:
        raise Http404 from None
    end_member_session(
        member=request.member, actor=request.actor, session_id=session_id
    )
    messages.success(request, _("Device signed out."))
    return redirect_browser(request, page_url(request, "team:profile"))


def record_session(request: HttpRequest, member: Member) -> None:
    """Record when and where a session was last seen."""
    key = request.session.session_key
    if key is None:
        return
    request.session[_SEEN] = int(time.time())
    record_session_activity(
        member=member,
        session_key=key,
        address=request.META.get("REMOTE_ADDR") or None,
        user_agent=request.META.get("HTTP_USER_AGENT", ""),
    )
