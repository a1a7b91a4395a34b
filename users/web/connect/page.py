"""The connect page: list, search and connect sources through a link.

No account, no script needed. It tells the name of nobody, not even of its user.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django.http import HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from accounts.operations.audit.entries import record_read
from accounts.queries.branding import find_team_branding
from portal.lib.errors import DomainError
from portal.lib.tenancy import acting_for
from portal.lib.translation import gettext_lazy
from portal.ui.qr import draw_qr_code
from users.operations.connect.birth_dates import can_confirm_birth_date
from users.operations.connect.link_sessions import (
    build_connect_link_url,
    build_link_redirect_url,
)
from users.operations.connect.linking import (
    connect_demo_source_from_link,
    finish_source_sign_in,
    list_connect_page_sources,
    parse_source_sign_in_state,
    start_source_sign_in,
)
from users.states.links import Kind, Way
from users.web.connect.entry import (
    get_link_holder_actor,
    get_link_session_from_cookie,
    require_connect_link_cookie,
    set_private_page_headers,
    show_invalid_link_page,
)
from users.web.connect.phones import offers_phones
from users.web.connect.portal import (
    find_disconnected_source_name,
    list_portal_lab_tests,
)

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from users.models import LinkSession
    from users.operations.connect.linking import OfferedSource

# What people read when it did not work, by code of ours; the rest is `_UNTOLD`.
_PROBLEMS = {
    "access_denied": gettext_lazy(
        "You did not grant access, so nothing was connected."
    ),
    "sign_in_expired": gettext_lazy("The sign-in expired. Try again."),
    "duplicate_connection": gettext_lazy(
        "This account is already connected to another person."
    ),
    "source_unavailable": gettext_lazy(
        "It is not available right now. Try again in a few minutes."
    ),
    "source_refused": gettext_lazy("It rejected the sign-in. Try again."),
    "required_scopes_not_granted": gettext_lazy(
        "You did not grant the required permissions. Try again and allow them."
    ),
    "source_not_offered": gettext_lazy("It cannot be connected here."),
    "real_source_connected": gettext_lazy(
        "Demo data cannot be added to an account with real data."
    ),
}
_UNTOLD = gettext_lazy("The connection failed. Try again.")
# Below this many there is nothing to search.
_SEARCHED_FROM = 5


@require_safe
@require_connect_link_cookie
def show_connect_page(request: HttpRequest, session: LinkSession) -> HttpResponse:
    """Serve GET /connect/{session_id}/: sources by kind; `q` searches."""
    sources = list_connect_page_sources(session)
    record_read(
        tenant=session.tenant,
        actor=get_link_holder_actor(request),
        subject="sources",
        subject_id=session.user.uuid,
        user_uuid=session.user.uuid,
    )
    text = request.GET.get("q", "").strip()[:50]
    found = [each for each in sources if _matches(each, text)]
    connected = next(
        (
            each.name
            for each in sources
            if each.is_connected and each.provider.slug == request.GET.get("connected")
        ),
        None,
    )
    problem = request.GET.get("problem", "")
    return render(
        request,
        "connect/page.html",
        {
            "session": session,
            "brand": find_team_branding(session.tenant),
            "kinds": [
                (kind.label, of_kind)
                for kind in Kind
                if (of_kind := [each for each in found if each.kind == kind])
            ],
            "text": text,
            "is_searched": len(sources) >= _SEARCHED_FROM or text,
            "has_sources": bool(sources),
            "has_demo": any(Way.DEMO in each.ways for each in sources),
            "connected": connected,
            "disconnected": find_disconnected_source_name(request, session, sources),
            "tests": list_portal_lab_tests(request, session),
            "problem": _PROBLEMS.get(problem, _UNTOLD) if problem else "",
            "problem_source": _find_source_name(sources, request.GET.get("source", "")),
            "qr": draw_qr_code(build_connect_link_url(session)),
            "has_phones": not text and offers_phones(session),
            "can_share": not text
            and session.opens_portal
            and session.tenant.user_sharing_enabled
            and can_confirm_birth_date(session),
        },
    )


@require_safe
@require_connect_link_cookie
def redirect_to_source_sign_in(
    request: HttpRequest, session: LinkSession, provider: str
) -> HttpResponse:
    """Serve GET …/{provider}/sign-in/: redirect to the source's sign-in."""
    try:
        url = start_source_sign_in(session=session, provider=provider)
    except DomainError as refusal:
        return _redirect_with_problem(session, provider, refusal.code)
    return HttpResponseRedirect(url)


@require_safe
def return_from_source_sign_in(request: HttpRequest, provider: str) -> HttpResponse:
    """Serve GET /connect/back/{provider}/: return from a source's sign-in.

    The browser must have the cookie of the link that the sign-in began from.
    """
    try:
        came_back = parse_source_sign_in_state(request.GET.get("state", ""))
        session = get_link_session_from_cookie(request, came_back.session_id)
    except DomainError as refusal:
        return show_invalid_link_page(request, refusal)
    with acting_for(session.tenant):
        code = request.GET.get("code", "")
        if not code or came_back.provider != provider:
            # What a source says of its own error is text of a stranger.
            return set_private_page_headers(
                _redirect_with_problem(session, provider, "access_denied"), session
            )
        try:
            finish_source_sign_in(
                session=session,
                actor=get_link_holder_actor(request),
                sign_in=came_back,
                code=code,
            )
        except DomainError as refusal:
            return set_private_page_headers(
                _redirect_with_problem(session, provider, refusal.code), session
            )
        return set_private_page_headers(_redirect_when_done(session, provider), session)


@require_POST
@require_connect_link_cookie
def connect_demo_source_to_user(
    request: HttpRequest, session: LinkSession, provider: str
) -> HttpResponse:
    """Serve POST …/{provider}/demo/: connect demo data at once."""
    try:
        connect_demo_source_from_link(
            session=session, actor=get_link_holder_actor(request), provider=provider
        )
    except DomainError as refusal:
        return _redirect_with_problem(session, provider, refusal.code)
    return _redirect_when_done(session, provider)


@require_safe
@require_connect_link_cookie
def close_connect_page(request: HttpRequest, session: LinkSession) -> HttpResponse:
    """Serve GET /connect/{session_id}/close/: leave the connect page."""
    if session.redirects_on_close:
        return HttpResponseRedirect(build_link_redirect_url(session, state="closed"))
    return render(
        request,
        "connect/closed.html",
        {"session": session, "brand": find_team_branding(session.tenant)},
    )


def _redirect_when_done(session: LinkSession, provider: str) -> HttpResponse:
    if session.redirect_url:
        return HttpResponseRedirect(
            build_link_redirect_url(session, state="success", provider=provider)
        )
    return _redirect_to_page(session, connected=provider)


def _redirect_with_problem(
    session: LinkSession, provider: str, code: str
) -> HttpResponse:
    if session.redirects_on_error:
        return HttpResponseRedirect(
            build_link_redirect_url(
                session, state="error", provider=provider, error=code
            )
        )
    return _redirect_to_page(session, problem=code, source=provider)


def _redirect_to_page(session: LinkSession, **parameters: str) -> HttpResponse:
    address = reverse("connect:page", args=[session.uuid])
    return HttpResponseRedirect(f"{address}?{urlencode(parameters)}")


def _matches(source: OfferedSource, text: str) -> bool:
    words = f"{source.name} {source.description} {source.kind.label}"
    return text.casefold() in words.casefold()


def _find_source_name(sources: list[OfferedSource], slug: str) -> str:
    return next((each.name for each in sources if each.provider.slug == slug), "")
