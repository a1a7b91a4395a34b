"""The public address where the provider of texts reports what became of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from labs.operations.texts.statuses import record_text_status
from portal.lib.errors import NotAllowed, NotFound

if TYPE_CHECKING:
    from django.http import HttpRequest


# A server posts here, without cookies: its signature says who it is.
@csrf_exempt
@require_POST
def receive_text_status(request: HttpRequest) -> HttpResponse:
    """Record a reported status; 404 for an unknown text, 403 for a wrong signature."""
    try:
        record_text_status(
            token=request.GET.get("notice", ""),
            parameters={name: request.POST.getlist(name) for name in request.POST},
            signature=request.headers.get("X-Twilio-Signature", ""),
        )
    except NotFound:
        return HttpResponse(status=404)
    except NotAllowed:
        return HttpResponse(status=403)
    return HttpResponse(status=204)
