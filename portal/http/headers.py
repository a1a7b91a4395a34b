"""Security headers of every response, besides the content security policy.

Django's own middleware sends the rest (HSTS, nosniff, referrer, opener, frames). Must
not be here: headers of one page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

# No page of ours asks for these; passkeys and copying to the clipboard stay our own.
_NEVER = (
    *("accelerometer", "autoplay", "browsing-topics", "camera", "display-capture"),
    *("encrypted-media", "geolocation", "gyroscope", "hid", "magnetometer"),
    *("microphone", "midi", "payment", "picture-in-picture", "screen-wake-lock"),
    *("serial", "sync-xhr", "usb", "xr-spatial-tracking"),
)
_OURS = ("clipboard-write", "publickey-credentials-create", "publickey-credentials-get")
PERMISSIONS_POLICY = ", ".join(
    [*(f"{name}=()" for name in _NEVER), *(f"{name}=(self)" for name in _OURS)]
)


class SecurityHeadersMiddleware:
    """Keep answers to our own pages, and their pages from the device's senses.

    An answer that others may show, such as a source's logo, says so itself.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Serve a request."""
        response = self.get_response(request)
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        if response.headers.get("Content-Type", "").startswith("text/html"):
            response.headers.setdefault("Permissions-Policy", PERMISSIONS_POLICY)
        return response
