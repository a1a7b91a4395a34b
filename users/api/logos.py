"""Logos of sources: drawn monograms, so that no trademark is copied.

Public, no tenant: nothing here tells who uses a source.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from django.http import Http404, HttpResponse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from users.wearables.providers import KNOWN

if TYPE_CHECKING:
    from django.http import HttpRequest

# Dark enough for white letters (contrast 4.5 and more), apart from one another.
_GROUNDS = (
    "#1f4e5f",
    "#7a3b2e",
    "#3d5a2b",
    "#5b3a6e",
    "#2f4b8f",
    "#8a2f52",
    "#5c4a1e",
    "#0f5c56",
)
_YEAR_SECONDS = 365 * 24 * 3600
# Attributes alone: the content policy allows no style in the file.
_SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" width="64" height="64"'
    ' role="img" aria-label="{name}"><rect width="64" height="64" rx="14"'
    ' fill="{ground}"/><text x="32" y="33" fill="#ffffff" font-size="26"'
    ' font-weight="600" font-family="system-ui, sans-serif" text-anchor="middle"'
    ' dominant-baseline="central">{letters}</text></svg>\n'
)


@require_safe
@cache_control(public=True, max_age=_YEAR_SECONDS, immutable=True)
def serve_source_logo(request: HttpRequest, slug: str) -> HttpResponse:
    """Serve GET /logos/{slug}.svg."""
    provider = KNOWN.get(slug)
    if provider is None:
        raise Http404
    svg = _SVG.format(
        name=provider.name,
        ground=pick_logo_color(slug),
        letters=build_logo_initials(provider.name),
    )
    answer = HttpResponse(svg, content_type="image/svg+xml")
    # Customers show it on pages of their own.
    answer["Cross-Origin-Resource-Policy"] = "cross-origin"
    return answer


def build_logo_initials(name: str) -> str:
    """Return the initials of two words, or the first two letters of a single one."""
    words = ["".join(filter(str.isalnum, word)) for word in name.split()]
    words = [word for word in words if word]
    if len(words) == 1:
        return words[0][:2].title()
    return "".join(word[0] for word in words[:2]).upper()


def pick_logo_color(slug: str) -> str:
    """Return the background color of a slug; always the same one."""
    return _GROUNDS[hashlib.sha256(slug.encode()).digest()[0] % len(_GROUNDS)]
