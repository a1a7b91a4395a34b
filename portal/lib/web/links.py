"""Build absolute links to pages of this server, always from PUBLIC_URL."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings
from django.utils.http import url_has_allowed_host_and_scheme


def build_absolute_url(path: str) -> str:
    """Make the absolute link of a path, which begins with a slash.

    No request is asked: its Host header says what its sender likes, and a mailed link
    with a token must not lead there. Source: OWASP WSTG-INPV-17.
    """
    return f"{settings.PUBLIC_URL}{path}"


def get_public_host() -> str:
    """Return the host name of PUBLIC_URL, in small letters and without a port."""
    return urlsplit(settings.PUBLIC_URL).hostname or "localhost"


def is_own_redirect_url(url: str) -> bool:
    """Return whether a redirect may lead to `url`: a path here, or below PUBLIC_URL."""
    parts = urlsplit(settings.PUBLIC_URL)
    return url_has_allowed_host_and_scheme(
        url, allowed_hosts={parts.netloc}, require_https=parts.scheme == "https"
    )
