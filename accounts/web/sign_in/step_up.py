"""Require a recent confirmation of identity before sensitive actions.

Any way of confirming counts alike: password, passkey, a code.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import TYPE_CHECKING, cast
from urllib.parse import urlencode, urlsplit

from allauth.account.adapter import get_adapter
from allauth.account.authentication import get_authentication_records
from django.conf import settings
from django.contrib import messages
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _

from accounts.web.sign_in.proofs import is_single_sign_on_session
from accounts.web.sign_in.second_factor import find_second_factor_url
from portal.lib.web.views import redirect_browser

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse
    from django.http.response import HttpResponseBase

    from accounts.web.requests import TenantRequest

    View = Callable[..., HttpResponseBase]


def find_identity_confirmation_time(request: HttpRequest) -> datetime | None:
    """Return when this session last confirmed its identity; None for never."""
    user = request.user
    if not user.is_authenticated:
        return None
    records = get_authentication_records(request, user)
    times = [record["at"] for record in records]
    return datetime.fromtimestamp(max(times), UTC) if times else None


def is_identity_confirmed(request: HttpRequest) -> bool:
    """Return whether that was within ACCOUNT_REAUTHENTICATION_TIMEOUT."""
    at = find_identity_confirmation_time(request)
    limit = timedelta(seconds=settings.ACCOUNT_REAUTHENTICATION_TIMEOUT)
    return at is not None and timezone.now() - at < limit


def require_confirmed_identity(view: View) -> View:
    """Serve a view only after a recent confirmation; redirect others to confirm.

    A GET goes on by itself. A POST is not carried out: it leads back to the page it was
    sent from, with a note to do it once more, since what was posted must not wait in a
    session. Put it below `require_right`, so that nobody confirms in vain. Source: Ours
    (workflows 2: sign-off asks again after 15 minutes).
    """

    @wraps(view)
    def guarded(
        request: TenantRequest, /, *args: str, **kwargs: str
    ) -> HttpResponseBase:
        if is_identity_confirmed(request):
            return view(request, *args, **kwargs)
        return redirect_to_identity_confirmation(request)

    return guarded


def require_second_factor(view: View) -> View:
    """Serve a view only after a second factor in this session; lead others to it.

    Who has none is led to set one up. A session that a team's identity provider vouches
    for has what its team thinks right. A POST is not carried out, as in
    require_confirmed_identity. Put it below `require_right`. Source: Ours.
    """

    @wraps(view)
    def guarded(
        request: TenantRequest, /, *args: str, **kwargs: str
    ) -> HttpResponseBase:
        if is_single_sign_on_session(request.session):
            return view(request, *args, **kwargs)
        onward = (
            request.get_full_path()
            if request.method == "GET"
            else _find_form_page(request)
        )
        step = find_second_factor_url(request, onward=onward)
        if step is None:
            return view(request, *args, **kwargs)
        messages.info(request, _("This page requires a second factor."))
        return redirect_browser(request, step)

    return guarded


def redirect_to_identity_confirmation(
    request: TenantRequest, *, onward: str = ""
) -> HttpResponse:
    """Redirect to the confirmation page, and back afterwards.

    onward: the page to come back to, with what was chosen, which it asks to send again;
    without one the page of the form. No health data may be in it.
    """
    if request.method == "GET":
        onward = onward or request.get_full_path()
    elif not onward:
        onward = _find_form_page(request)
        messages.warning(
            request, _("Identity confirmed. Repeat your last action to finish.")
        )
    ways = get_adapter().get_reauthentication_methods(request.user)
    if not ways:  # what they signed in with is gone since
        messages.warning(request, _("Set a password first, then confirm with it."))
        return redirect_browser(request, reverse("account_reset_password"))
    way = cast("str", ways[0]["url"])
    return redirect_browser(request, f"{way}?{urlencode({'next': onward})}")


def _find_form_page(request: TenantRequest) -> str:
    """Return the path of the page with the posted form, if it is Assay's."""
    page = request.headers.get("HX-Current-URL") or request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(page, allowed_hosts={request.get_host()}):
        return reverse("landing")
    parts = urlsplit(page)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path
