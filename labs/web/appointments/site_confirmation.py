"""Public page by which a service center confirms or declines a visit.

No sign-in. Only a POST changes anything: mail scanners open links.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import Http404
from django.shortcuts import render
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_http_methods

from labs.operations.appointments.site_confirmation import (
    confirm_visit_by_link,
    decline_visit_by_link,
    format_deadline,
    format_visit_time,
    get_visit_number,
    read_site_link,
)
from portal.lib.errors import DomainError, NotFound

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

_ANSWERS = {"confirm": confirm_visit_by_link, "decline": decline_visit_by_link}


@require_http_methods(["GET", "HEAD", "POST"])
def answer_visit_by_link(request: HttpRequest) -> HttpResponse:
    """Show a visit (GET), answer it (POST); 404: unknown link, 410: it ended."""
    answer = _ANSWERS.get(request.POST.get("answer", ""))
    is_answered = request.method == "POST" and answer is not None
    try:
        token = request.GET.get("token", "")
        visit = answer(token) if is_answered and answer else read_site_link(token)
    except NotFound:
        raise Http404 from None
    except DomainError:
        return _close(render(request, "labs/site_visit_ended.html", status=410))
    return _close(
        render(
            request,
            "labs/site_visit.html",
            {
                "visit": visit,
                "starts_at": format_visit_time(visit),
                "number": get_visit_number(visit),
                "confirm_by": "" if is_answered else format_deadline(visit),
                "answered": request.POST.get("answer", "") if is_answered else "",
            },
        )
    )


def _close(response: HttpResponse) -> HttpResponse:
    # Whoever has the address can answer: no cache, index or next site gets it.
    add_never_cache_headers(response)
    # Not no-referrer: a browser then posts the form with a null origin, as a forger.
    response["Referrer-Policy"] = "same-origin"
    response["X-Robots-Tag"] = "noindex"
    return response
