"""What an API call over plain http gets: a refusal, where browsers get a redirect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings

from portal.http.error_pages import refuse_call_without_https
from portal.http.middleware import is_api_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponseBase

# Probes and scrapes of the process come over plain http, by address.
_PROBES = frozenset({"/healthz", "/readyz", "/metrics"})


class HttpsCallMiddleware:
    """Refuse calls that SECURE_REDIRECT_EXEMPT keeps Django from redirecting.

    A redirect would hide from callers that their key went unencrypted. Source: OWASP
    ASVS 5.0, 4.1.2: services do not redirect to https.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        self.is_required = settings.SECURE_SSL_REDIRECT

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if (
            self.is_required
            and not request.is_secure()
            and is_api_path(request.path_info)
            and request.path_info not in _PROBES
        ):
            return refuse_call_without_https(request)
        return self.get_response(request)
