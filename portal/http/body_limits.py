"""Limit the size of a request body by its headers, before it is read.

Anybody may send DATA_UPLOAD_MAX_MEMORY_SIZE bytes. Only callers whom the page or call
of the path can identify may send more: portal.server asks this module before it keeps
more. A page sets its own limit with `allow_larger_request_body`, a call with
`body_max_bytes` on its view.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import get_resolver
from rest_framework.exceptions import APIException

from portal.http.middleware import is_api_path
from portal.lib.api.json import MEDIA_TYPE, dump_json
from portal.lib.api.operation_outcome import (
    FHIR_MEDIA_TYPE,
    FHIR_PREFIX,
    build_operation_outcome,
)
from portal.lib.api.views import KeyedAPIView
from portal.lib.web.views import is_signed_in

if TYPE_CHECKING:
    from django.http import HttpRequest
    from django.http.response import HttpResponseBase
    from django.template.response import SimpleTemplateResponse

# Where CallerLimit writes the bytes that the caller may send, in the WSGI environment.
CALLER_MAY_SEND = "portal.caller_may_send"


class CallerLimit(WSGIHandler):
    """Answers for a request without its body whether that body may be sent.

    A WSGI application that takes a request as any other; CONTENT_LENGTH states how long
    the body is, or is so far. Where it may be sent, CALLER_MAY_SEND in the environment
    says how long it may get, in bytes; else the answer is the refusal to send: 413, or
    401 of the API. Middleware runs as for any request, so that sessions and proxies
    count; the view does not, except to refuse a key that is missing or wrong.
    """

    def _get_response(self, request: HttpRequest) -> HttpResponseBase:
        match = get_resolver().resolve(request.path_info)
        request.resolver_match = match
        view: Any = match.func
        limit: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        if issubclass(getattr(view, "cls", object), KeyedAPIView):
            if not _has_key(view, request):
                refusal: SimpleTemplateResponse = view(
                    request, *match.args, **match.kwargs
                )
                return refusal.render()
            limit = view.cls.body_max_bytes
        else:
            at_most, knows = getattr(view, "accepts_body", (limit, is_signed_in))
            limit = at_most if knows(request, **match.kwargs) else limit
        if int(request.META["CONTENT_LENGTH"]) > limit:
            return _too_large(request, limit)
        request.META[CALLER_MAY_SEND] = limit
        return HttpResponse(status=204)


def takes_uploads(path: str) -> bool:
    """Return whether the view of a path takes batches of phones.

    Such views are marked `takes_uploads`. They unpack bodies of gzip themselves, each
    within bounds, and have a thread of their own (portal.server).
    """
    try:
        view = get_resolver().resolve(path).func
    except Http404:
        return False
    return bool(getattr(view, "takes_uploads", False))


def _has_key(view: Any, request: HttpRequest) -> bool:
    """Whether the call comes with a key that its view takes."""
    api_request = view.cls(**view.initkwargs).initialize_request(request)
    try:
        return bool(api_request.auth)
    except APIException:
        return False


def _too_large(request: HttpRequest, limit: int) -> HttpResponse:
    if is_api_path(request.path_info):
        sentence = f"The body is too large. It can have at most {limit / 2**20:g} MB."
        content: dict[str, object] = {"detail": sentence, "code": "body_too_large"}
        kind = MEDIA_TYPE
        if request.path_info.startswith(FHIR_PREFIX):
            content, kind = build_operation_outcome(413, content), FHIR_MEDIA_TYPE
        return HttpResponse(dump_json(content), status=413, content_type=kind)
    return render(request, "413.html", status=413)
