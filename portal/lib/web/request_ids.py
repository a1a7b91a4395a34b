"""The id of the request that is being served: on the answer, in the audit, in logs.

An id that a client sends is not taken over: it would let
anybody write another's into the audit.
"""

from __future__ import annotations

import secrets
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

# Letters of an id, hexadecimal.
REQUEST_ID_LENGTH = 32
HEADER = "X-Request-ID"
_current: ContextVar[str] = ContextVar("request_id", default="")


def get_current_request_id() -> str:
    """Return the ID of the current request; empty in jobs and commands."""
    return _current.get()


class RequestIdMiddleware:
    """Give each request an id, and send it with the answer."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Serve a request under an id of its own."""
        request_id = secrets.token_hex(REQUEST_ID_LENGTH // 2)
        before = _current.set(request_id)
        try:
            response = self.get_response(request)
        finally:
            _current.reset(before)
        response[HEADER] = request_id
        return response
