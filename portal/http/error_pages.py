"""Error responses: JSON below the API's paths, a page elsewhere."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from django.http import HttpResponse
from django.template.loader import render_to_string
from django.utils import translation

from portal.http.middleware import is_api_path
from portal.lib.api.json import MEDIA_TYPE, dump_json
from portal.lib.api.operation_outcome import (
    FHIR_MEDIA_TYPE,
    FHIR_PREFIX,
    build_operation_outcome,
)
from portal.lib.database.outages import (
    is_database_full,
    is_database_outage,
    mark_database_connection_suspect,
)
from portal.lib.database.time_limits import RETRY_AFTER_S, is_database_timeout
from portal.lib.errors import Damaged, Unavailable
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from django.http import HttpRequest


def _answer(
    request: HttpRequest, status: int, code: str, sentence: str
) -> HttpResponse:
    if is_api_path(request.path_info):
        with translation.override("en"):
            content: dict[str, object] = {"detail": str(sentence), "code": code}
        kind = MEDIA_TYPE
        if request.path_info.startswith(FHIR_PREFIX):
            content = build_operation_outcome(status, content)
            kind = FHIR_MEDIA_TYPE
        return HttpResponse(dump_json(content), status=status, content_type=kind)
    # A page of a fault asks no database, which context processors might.
    page_request = request if status < 500 else None
    page = render_to_string(f"{status}.html", {"sentence": sentence}, page_request)
    return HttpResponse(page, status=status)


def show_bad_request_page(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 400 as a page, or as JSON to the API."""
    return _answer(
        request,
        400,
        "malformed_request",
        "The request is malformed.",
    )


def show_forbidden_page(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 403 as a page, or as JSON to the API."""
    return _answer(request, 403, "not_allowed", "You don't have access to this.")


def refuse_call_without_https(request: HttpRequest) -> HttpResponse:
    """Answer 403 to an API call over plain http."""
    return _answer(
        request,
        403,
        "https_required",
        "Call this API over https. Replace the key that this call sent.",
    )


def show_not_found_page(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 404 as a page, or as JSON to the API."""
    return _answer(request, 404, "not_found", "Not found.")


def show_server_error_page(request: HttpRequest) -> HttpResponse:
    """Answer 500, or 503 where a service or the database is not available."""
    error = sys.exc_info()[1]
    if isinstance(error, Unavailable):
        return _unavailable(request, error.code, error.message)
    if isinstance(error, Damaged):  # which waiting doesn't mend
        return _answer(request, 503, error.code, error.message)
    if is_database_timeout(error):
        return _unavailable(
            request,
            "out_of_time",
            gettext_lazy("The request took too long. Try again."),
        )
    is_away = is_database_outage(error)
    if is_away:
        mark_database_connection_suspect()
    if is_away or is_database_full(error):
        return _unavailable(
            request,
            "unavailable",
            gettext_lazy("The database is not available. Try again shortly."),
        )
    return _answer(request, 500, "fault", "Internal server error.")


def _unavailable(request: HttpRequest, code: str, sentence: str) -> HttpResponse:
    answer = _answer(request, 503, code, sentence)
    answer["Retry-After"] = str(RETRY_AFTER_S)
    return answer
