"""How long the body of a request to a page may be, told before any of it is read.

Calls of the API bound theirs where they parse them (portal.lib.api.json, and the upload
of reports). Must not be here: what one page takes (`takes_body`, beside the page).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.shortcuts import render

from portal.lib.web import is_signed_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse
    from django.http.response import HttpResponseBase


class BodyLimitMiddleware:
    """Refuse a page's body over its bound: 413, nothing read.

    A page takes DATA_UPLOAD_MAX_MEMORY_SIZE bytes unless it says `takes_body`, and more
    of those alone whom it knows: a body is spooled to disk for the CSRF check, before
    the page itself is asked. Without `Content-Length` nothing is read at all.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Serve a request; it is judged once its page is known."""
        return self.get_response(request)

    def process_view(
        self,
        request: HttpRequest,
        view: Callable[..., Any],
        _args: tuple[Any, ...],
        path: dict[str, Any],
    ) -> HttpResponse | None:
        """413 before anybody reads the body, or nothing."""
        try:
            length = int(request.META.get("CONTENT_LENGTH") or 0)
        except ValueError:
            return None  # Django reads nothing of it
        at_most: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        if length <= at_most:
            return None
        wanted, is_known = getattr(view, "takes_body", (at_most, is_signed_in))
        if length <= wanted and is_known(request, **path):
            return None
        return render(request, "413.html", status=413)
