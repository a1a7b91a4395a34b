"""Public address that calendars fetch visits from: no sign-in, no session."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from django.http import Http404, HttpResponse
from django.utils.cache import get_conditional_response, patch_cache_control
from django.views.decorators.http import require_safe
from rest_framework.exceptions import Throttled

from accounts.api.throttling import count_call_without_valid_key
from labs.operations.appointments.calendar_feeds import read_calendar
from portal.lib.errors import NotFound, TooMany

if TYPE_CHECKING:
    from django.http import HttpRequest


@require_safe
def serve_calendar_feed(request: HttpRequest) -> HttpResponse:
    """Return a feed, 304 if unchanged; 404: unknown address, 429: too often."""
    address = request.META.get("REMOTE_ADDR") or None
    try:
        body = read_calendar(token=request.GET.get("token", ""), address=address)
    except NotFound:
        try:
            count_call_without_valid_key(address)
        except Throttled:
            return _close(HttpResponse(status=429))
        raise Http404 from None
    except TooMany as refusal:
        seconds = str(int(refusal.wait.total_seconds()))
        return _close(HttpResponse(status=429, headers={"Retry-After": seconds}))
    etag = f'"{sha256(body).hexdigest()}"'
    response = HttpResponse(
        body,
        content_type="text/calendar; charset=utf-8",
        headers={
            "Content-Disposition": 'inline; filename="visits.ics"',
            "ETag": etag,
        },
    )
    unchanged = get_conditional_response(request, etag=etag, response=response)
    return _close(unchanged or response)


def _close(response: HttpResponse) -> HttpResponse:
    # Whoever has the address can read it: no shared cache, index or next site gets it.
    patch_cache_control(response, private=True, no_cache=True)
    response["Referrer-Policy"] = "no-referrer"
    response["X-Robots-Tag"] = "noindex"
    return response
