"""Serve pages in the language of who reads them.

Patients' pages and those of signed-out people go by the browser, members' by their
profile before it. The API (which passes all of this by), the developers' guide and the
operators' admin are in English.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils import translation
from django.utils.cache import patch_vary_headers

from portal.lib.languages import find_browser_language, is_member_language

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse


class BrowserLanguageMiddleware:
    """Activate the browser's language for the time of a request.

    A page that knows whose it is may choose another. `Content-Language` names the one
    that was read. Source: RFC 9110, 8.5 and 12.5.4.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Serve a page in the browser's language, or in English where all is."""
        if request.path_info.startswith(settings.ENGLISH_PREFIXES):
            return self.get_response(request)
        for_members = not request.path_info.startswith(settings.PATIENT_PREFIXES)
        language = (
            find_browser_language(request, for_members=for_members)
            or settings.LANGUAGE_CODE
        )
        with translation.override(language):
            response = self.get_response(request)
        if response.get("Content-Type", "").startswith("text/html"):
            patch_vary_headers(response, ("Accept-Language",))
            response.headers.setdefault("Content-Language", language)
        return response


class MemberLanguageMiddleware:
    """Activate the language of the signed-in member's profile, if they chose one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: Any) -> HttpResponse:
        """Serve a member's page in the language they chose; pass on everything else."""
        language = _find_member_language(request)
        if not language:
            return self.get_response(request)
        with translation.override(language):
            response = self.get_response(request)
        if response.get("Content-Type", "").startswith("text/html"):
            response.headers.setdefault("Content-Language", language)
        return response


def _find_member_language(request: Any) -> str:
    """Return the language a member chose; empty if none, or where it does not count."""
    beside = (*settings.PATIENT_PREFIXES, *settings.ENGLISH_PREFIXES)
    # Who has no session is not looked up: it would cost a query.
    if settings.SESSION_COOKIE_NAME not in request.COOKIES or (
        request.path_info.startswith(beside)
    ):
        return ""
    language: str = getattr(request.user, "language", "")
    return language if is_member_language(language) else ""
