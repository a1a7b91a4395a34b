"""What a request over plain http gets: browsers a redirect, API calls a refusal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.middleware.security import SecurityMiddleware

from portal.http.error_pages import refuse_call_without_https
from portal.http.middleware import is_api_path

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


class HttpsMiddleware(SecurityMiddleware):
    """Django's, but a redirect would hide from callers that their key went unencrypted.

    Source: OWASP ASVS 5.0, 4.1.2: services do not redirect to https.
    """

    def process_request(  # type: ignore[override]  # Django's is a redirect alone
        self, request: HttpRequest
    ) -> HttpResponse | None:
        """Answer what came without https, where the installation asks for it."""
        answer = super().process_request(request)
        if answer is not None and is_api_path(request.path_info):
            return refuse_call_without_https(request)
        return answer
