"""Page of a mail's token: end the mails about broken connections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.shortcuts import render
from django.utils import translation
from django.utils.cache import add_never_cache_headers
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from accounts.queries.branding import find_team_branding
from portal.lib.errors import DomainError
from users.operations.connect.reconnect_mails import (
    find_user_of_mail_token,
    stop_reconnect_mails,
)
from users.web.connect.entry import find_page_language, show_invalid_link_page

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


@csrf_exempt  # a mail program posts here with one click, without cookies (RFC 8058)
@require_http_methods(["GET", "HEAD", "POST"])
def confirm_and_stop_mails(request: HttpRequest) -> HttpResponse:
    """Serve /connect/emails/?token=…: a GET ends nothing: mail programs open links."""
    token = request.GET.get("token", "")
    is_posted = request.method == "POST"
    try:
        if is_posted:
            address = request.META.get("REMOTE_ADDR") or None
            user = stop_reconnect_mails(token=token, address=address)
        else:
            user = find_user_of_mail_token(token)
    except DomainError as refusal:
        return show_invalid_link_page(request, refusal)
    with translation.override(find_page_language(request, user)):
        response = render(
            request,
            "connect/stop_mails.html",
            {
                "brand": find_team_branding(user.tenant),
                "is_stopped": is_posted or user.reconnect_mails_stopped_at is not None,
            },
        )
    add_never_cache_headers(response)
    response["Referrer-Policy"] = "no-referrer"
    response["X-Robots-Tag"] = "noindex"
    return response
