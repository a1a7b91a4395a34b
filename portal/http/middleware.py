"""The dashboard's middleware, which steps aside for API paths.

An API call needs no session and no message store; left in, they would cost half of a
small request (performance.md 3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from csp.middleware import CSPMiddleware as _Csp
from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware as _Authentication
from django.contrib.messages.middleware import MessageMiddleware as _Message
from django.contrib.sessions.middleware import SessionMiddleware as _Session
from django.middleware.common import CommonMiddleware as _Common
from django.middleware.csrf import CsrfViewMiddleware
from django_htmx.middleware import HtmxMiddleware as _Htmx
from whitenoise.middleware import WhiteNoiseMiddleware as _WhiteNoise

from accounts.web.middleware import TenantMiddleware as _Tenant
from portal.http.languages import BrowserLanguageMiddleware as _BrowserLanguage
from portal.http.languages import MemberLanguageMiddleware as _MemberLanguage

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponseBase


def is_api_path(path: str) -> bool:
    """Return whether a path belongs to the API or the health checks."""
    return path.startswith(settings.API_PREFIXES)


def _find_next_for_api(get_response: Callable[..., Any]) -> Callable[..., Any]:
    """Return the next middleware that serves the API: frames are what it costs.

    A call of the API has no cookie, and is checked as a view is where it needs it
    (`process_view` is not passed by).
    """
    following = getattr(get_response, "__wrapped__", get_response)
    if isinstance(following, CsrfViewMiddleware):
        return _find_next_for_api(following.get_response)
    return cast("Callable[..., Any]", getattr(following, "pass_by", get_response))


def _dashboard_only(middleware: Any) -> Any:
    """Subclass a middleware so that API requests pass it by."""

    class DashboardOnly(middleware):
        def __init__(self, get_response: Callable[..., Any]) -> None:
            super().__init__(get_response)
            self.pass_by = _find_next_for_api(get_response)

        def __call__(self, request: HttpRequest) -> HttpResponseBase:
            if is_api_path(request.path_info):
                return cast("HttpResponseBase", self.pass_by(request))
            return cast("HttpResponseBase", super().__call__(request))

        if hasattr(middleware, "process_view"):

            def process_view(self, request: HttpRequest, *arguments: Any) -> Any:
                if is_api_path(request.path_info):
                    return None
                return super().process_view(request, *arguments)

    DashboardOnly.__name__ = DashboardOnly.__qualname__ = middleware.__name__
    return DashboardOnly


WhiteNoiseMiddleware = _dashboard_only(_WhiteNoise)
CSPMiddleware = _dashboard_only(_Csp)
BrowserLanguageMiddleware = _dashboard_only(_BrowserLanguage)
MemberLanguageMiddleware = _dashboard_only(_MemberLanguage)
SessionMiddleware = _dashboard_only(_Session)
CommonMiddleware = _dashboard_only(_Common)
AuthenticationMiddleware = _dashboard_only(_Authentication)
MessageMiddleware = _dashboard_only(_Message)
HtmxMiddleware = _dashboard_only(_Htmx)
TenantMiddleware = _dashboard_only(_Tenant)
