"""Access to the connect page: a link's token, its cookie, and invalid links.

The token leaves the address at once, so that no page, log or Referer keeps it. A cookie
of its own for each link: two people may use one browser, and what one of them sends
never counts for the other.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.http import HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.queries.branding import find_team_branding
from portal.lib.errors import DomainError, NotFound
from portal.lib.languages import find_browser_language
from portal.lib.tenancy import acting_for
from portal.lib.web.views import build_secure_cookie_name
from users.operations.connect.link_sessions import (
    build_link_holder_audit_actor,
    find_open_connect_link,
    record_connect_link_opened,
)
from users.operations.users.languages import find_mail_language
from users.wearables.providers import PROVIDERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse

    from portal.lib.actor import Actor
    from users.models import LinkSession, User

P = ParamSpec("P")
_HOME = "/connect/"


@require_safe
def open_connect_link(request: HttpRequest) -> HttpResponse:
    """Serve GET /connect/?token=…: set the cookie and redirect to the page.

    With `provider` on to that source's own sign-in.
    """
    token = request.GET.get("token", "")
    try:
        session = find_open_connect_link(token)
    except DomainError as refusal:
        return show_invalid_link_page(request, refusal)
    with acting_for(session.tenant):
        record_connect_link_opened(session)
    response = HttpResponseRedirect(
        _first_page_url(session, request.GET.get("provider", ""))
    )
    response.set_cookie(
        _cookie_of(session.uuid),
        token,
        max_age=session.expires_at - timezone.now(),
        path=_HOME,
        secure=settings.HTTPS,
        httponly=True,
        # Not Strict: people come back from the source that they signed in at.
        samesite="Lax",
    )
    response["Referrer-Policy"] = "no-referrer"
    add_never_cache_headers(response)
    return response


def require_connect_link_cookie(
    view: Callable[Concatenate[HttpRequest, LinkSession, P], HttpResponse],
) -> Callable[..., HttpResponse]:
    """Pass a view the link session of the URL, if the browser has its cookie.

    Without it the page says that the link leads nowhere (404), after its end that it
    has ended (410).
    """

    @wraps(view)
    def with_session(
        request: HttpRequest, session_id: str, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponse:
        try:
            session = get_link_session_from_cookie(request, session_id)
        except DomainError as refusal:
            return show_invalid_link_page(request, refusal)
        with (
            acting_for(session.tenant),
            translation.override(language := find_page_language(request, session.user)),
        ):
            response = view(request, session, *args, **kwargs)
        response.headers.setdefault("Content-Language", language)
        return set_private_page_headers(response, session)

    return with_session


def find_page_language(request: HttpRequest, user: User) -> str:
    """Return the language of a user's page: chosen, the browser's, or the team's."""
    browser = find_browser_language(request)
    return user.language or browser or find_mail_language(user)


def get_link_session_from_cookie(
    request: HttpRequest, session_id: str | UUID
) -> LinkSession:
    """Return the session of this ID from the browser's cookie.

    Raises: link_unknown (404), link_ended.
    """
    try:
        wanted = UUID(str(session_id))
    except ValueError:
        wanted = None
    token = request.COOKIES.get(_cookie_of(wanted), "") if wanted else ""
    session = find_open_connect_link(token)
    if session.uuid != wanted:
        raise NotFound("link_unknown", _("This link is not valid."))
    return session


def has_connect_link_cookie(
    request: HttpRequest, session_id: str, **_path: str
) -> bool:
    """Return whether the browser has the cookie of an open session of this ID."""
    try:
        get_link_session_from_cookie(request, session_id)
    except DomainError:
        return False
    return True


def get_link_holder_actor(request: HttpRequest) -> Actor:
    """Return the audit actor of the page."""
    return build_link_holder_audit_actor(request.META.get("REMOTE_ADDR") or None)


def show_invalid_link_page(request: HttpRequest, refusal: DomainError) -> HttpResponse:
    """Render the page of an invalid or expired link."""
    is_unknown = isinstance(refusal, NotFound)
    response = render(
        request,
        "connect/dead.html",
        {"is_unknown": is_unknown},
        status=404 if is_unknown else 410,
    )
    return _forbid_caching(response)


def set_private_page_headers(
    response: HttpResponse, session: LinkSession
) -> HttpResponse:
    """Forbid caching and sharing of a page; allow its logo and redirect.

    A form's answer may redirect to the session's redirect_url alone.
    """
    brand = find_team_branding(session.tenant)
    allowed: dict[str, Any] = {}
    if brand.logo_url:
        allowed["img-src"] = ["'self'", _origin_of(brand.logo_url)]
    if session.redirect_url:
        allowed["form-action"] = [_origin_of(session.redirect_url)]
    response._csp_update = allowed  # type: ignore[attr-defined]  # django-csp reads it
    return _forbid_caching(response)


def _forbid_caching(response: HttpResponse) -> HttpResponse:
    add_never_cache_headers(response)
    # Not no-referrer: browsers then send forms as from nowhere, which CSRF refuses.
    response["Referrer-Policy"] = "same-origin"
    response["X-Robots-Tag"] = "noindex"
    return response


def _first_page_url(session: LinkSession, provider: str) -> str:
    if provider in PROVIDERS:
        return reverse("connect:sign_in", args=[session.uuid, provider])
    return reverse("connect:page", args=[session.uuid])


def _origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _cookie_of(session_id: UUID) -> str:
    return build_secure_cookie_name(f"link_{session_id.hex}", path=_HOME)
