"""Answers of last resort: JSON below the API's paths, a page elsewhere.

Must not be here: errors a view can foresee.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from django.http import HttpResponse
from django.shortcuts import render

from portal.lib.api.json import MEDIA_TYPE, dump_json
from portal.lib.errors import Unavailable
from portal.lib.time_limits import RETRY_AFTER_S, is_out_of_time
from portal.middleware import is_api_path

if TYPE_CHECKING:
    from django.http import HttpRequest


def _answer(
    request: HttpRequest, status: int, code: str, sentence: str
) -> HttpResponse:
    if is_api_path(request.path_info):
        body = dump_json({"detail": sentence, "code": code})
        return HttpResponse(body, status=status, content_type=MEDIA_TYPE)
    return render(request, f"{status}.html", {"sentence": sentence}, status=status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400."""
    return _answer(request, 400, "malformed_request", "The request can't be read.")


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403."""
    return _answer(request, 403, "not_allowed", "This is not allowed.")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404."""
    return _answer(request, 404, "not_found", "Not found.")


def fault(request: HttpRequest) -> HttpResponse:
    """500; 503 where the database was given no more time, or a service is away."""
    error = sys.exc_info()[1]
    if isinstance(error, Unavailable):
        answer = _answer(request, 503, error.code, error.message)
        answer["Retry-After"] = str(RETRY_AFTER_S)
        return answer
    if is_out_of_time(error):
        answer = _answer(request, 503, "out_of_time", "This took too long. Try again.")
        answer["Retry-After"] = str(RETRY_AFTER_S)
        return answer
    return _answer(request, 500, "fault", "Something failed on our side.")
