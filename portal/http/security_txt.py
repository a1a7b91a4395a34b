"""Say where a weakness of this installation is reported (RFC 9116)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.http import Http404, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from portal.lib.web.links import build_absolute_url

if TYPE_CHECKING:
    from django.http import HttpRequest

# Ours: RFC 9116, 2.5.5 recommends less than a year. It moves on while the server runs.
_VALID_FOR = timedelta(days=90)


@require_safe
def show_security_txt(_request: HttpRequest) -> HttpResponse:
    """Serve GET /.well-known/security.txt; 404 without SECURITY_CONTACT."""
    if not settings.SECURITY_CONTACT:
        raise Http404
    contact: str = settings.SECURITY_CONTACT
    if "@" in contact and ":" not in contact:
        contact = f"mailto:{contact}"
    lines = {
        "Contact": contact,
        "Expires": (timezone.now() + _VALID_FOR).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "Canonical": build_absolute_url("/.well-known/security.txt"),
    }
    text = "".join(f"{name}: {value}\n" for name, value in lines.items())
    return HttpResponse(text, content_type="text/plain; charset=utf-8")
