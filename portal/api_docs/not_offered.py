"""Calls of published clients that Assay does not offer: 404 `not_offered`, and why.

A table of paths; docs/reference/published-clients.md lists what each of them answers.
Ours: a caller learns what to use instead, which a bare 404 does not say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.http import HttpResponse
from django.urls import re_path
from django.views.decorators.csrf import csrf_exempt

from portal.lib.api.json import MEDIA_TYPE, dump_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest
    from django.urls import URLPattern

CODE = "not_offered"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Calls below a path (a regular expression), and what to use instead."""

    pattern: str
    reason: str


_OWN_PAGES = (
    "Users sign in at sources on Assay's own pages. Create a link with"
    " POST /v2/link/token, or read GET /v2/link/provider/oauth/{provider}."
)
LEFT_OUT = (
    LeftOut(
        r"v2/link/(?:start|state|auth|auth/email|token/isValid)",
        "This former call of a source's sign-in is not offered. Create a link with"
        " POST /v2/link/token.",
    ),
    LeftOut(r"v2/link/provider/(?:password|email|manual)/.+", _OWN_PAGES),
    LeftOut(
        r"v2/team/link/config",
        "The look of links is part of the team's settings, on its page.",
    ),
    LeftOut(
        r"v2/team/svix/url",
        "Webhooks are Assay's own. Manage endpoints on their page or with"
        " /v1/org/.../webhook_endpoint.",
    ),
    LeftOut(
        r"v2/summary/sleep/[^/]+/stream",
        "This former path is not offered. Use"
        " GET /v2/timeseries/sleep/{sleep_id}/stream.",
    ),
    LeftOut(
        r"v3/unmatched_result_test(?:/.*)?",
        "Test cases of unmatched results are not offered. Send a result that matches no"
        " order to a sandbox laboratory.",
    ),
    LeftOut(
        r"checkout/.+",
        "Assay has no prices and takes no payments. Charge in your own system, then"
        " place the order.",
    ),
    LeftOut(
        r"aggregate/.+",
        "Queries over tables are not offered. Use"
        " GET /v2/aggregate/{user_id}/{resource}.",
    ),
)


def _build_view(reason: str) -> Callable[[HttpRequest], HttpResponse]:
    @csrf_exempt
    def view(_request: HttpRequest) -> HttpResponse:
        """Answer 404 with the reason, whoever asks: it is the same for all."""
        body = dump_json({"detail": reason, "code": CODE})
        return HttpResponse(body, status=404, content_type=MEDIA_TYPE)

    return view


urlpatterns: list[URLPattern] = [
    re_path(rf"^{each.pattern}/?$", _build_view(each.reason), name=CODE)
    for each in LEFT_OUT
]
