"""Serve patients' pages in the language of their browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.utils import translation
from django.utils.cache import patch_vary_headers

from portal.lib.languages import find_browser_language

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse


class PatientLanguageMiddleware:
    """Activate the browser's language below PATIENT_PREFIXES, for that request alone.

    A page that knows whose it is may choose another. Members' pages stay English.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Serve a patient's page in their language; pass on everything else."""
        if not request.path_info.startswith(settings.PATIENT_PREFIXES):
            return self.get_response(request)
        language = find_browser_language(request) or settings.LANGUAGE_CODE
        with translation.override(language):
            response = self.get_response(request)
        if response.get("Content-Type", "").startswith("text/html"):
            patch_vary_headers(response, ("Accept-Language",))
        return response
