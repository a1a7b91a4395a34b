"""The addresses that sources push to; the address or a signature proves them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods
from rest_framework.exceptions import Throttled

from accounts.api.throttling import count_call_without_valid_key
from portal.lib.errors import NotAllowed, NotFound, TooMany
from users.gateways.pushes import PushRequest
from users.operations.pulling.pushes import (
    answer_push_check,
    find_push_rules,
    take_source_push,
)

if TYPE_CHECKING:
    from django.http import HttpRequest


@csrf_exempt  # a server posts here, without cookies
@require_http_methods(["HEAD", "GET", "POST"])
def receive_source_push(
    request: HttpRequest, provider: str, token: str
) -> HttpResponse:
    """Take a push, or answer a source that verifies the address.

    Ours: 200, as Polar asks for, or what the source expects, also for an account that
    nobody connected, so that the source goes on; 404 for an unknown address, 403 for
    what is not of the source, 413 for too much, 429 for too often.
    """
    query = {name: request.GET[name] for name in request.GET}
    try:
        if request.method != "POST":
            answer = answer_push_check(provider=provider, token=token, query=query)
            return JsonResponse(answer)
        longest, accepted = find_push_rules(provider=provider, token=token)
        body = request.read(longest + 1)
        if len(body) > longest:
            return HttpResponse(status=413)
        pushed = PushRequest(
            token=token,
            query=query,
            headers={name.lower(): text for name, text in request.headers.items()},
            body=body,
        )
        take_source_push(provider=provider, request=pushed, at=timezone.now())
    except TooMany as refusal:
        seconds = str(int(refusal.wait.total_seconds()))
        return HttpResponse(status=429, headers={"Retry-After": seconds})
    except (NotFound, NotAllowed) as refusal:
        return _refuse(request, 404 if isinstance(refusal, NotFound) else 403)
    return HttpResponse(status=accepted)


def _refuse(request: HttpRequest, status: int) -> HttpResponse:
    """Count the call against its address, as one with a wrong key."""
    try:
        count_call_without_valid_key(request.META.get("REMOTE_ADDR") or None)
    except Throttled:
        return HttpResponse(status=429)
    return HttpResponse(status=status)
