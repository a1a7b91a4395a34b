"""Branding of a team's connect page: name, logo and color.

A colour comes as a style sheet of its own address, since the content policy allows no
style in the page.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.http import Http404, HttpResponse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

if TYPE_CHECKING:
    from django.http import HttpRequest

    from accounts.models import Tenant

Rgb = tuple[float, float, float]
_COLOUR = re.compile(r"[0-9a-f]{6}")
_YEAR_SECONDS = 365 * 24 * 3600
# WCAG 2.2, 1.4.3: text; a little more, as steps are coarse.
_READABLE = 4.6
_STEPS = 20
_WHITE: Rgb = (1.0, 1.0, 1.0)
_BLACK: Rgb = (0.0, 0.0, 0.0)
# The tokens that links and tinted boxes lie on, light and dark (static/css/tokens.css).
_LIGHT_GROUND: Rgb = (0.88, 0.90, 0.87)
_DARK_GROUND: Rgb = (0.14, 0.18, 0.17)


@dataclass(frozen=True, slots=True)
class Brand:
    """Branding of a team (contract 9.2); `color` is six hexadecimal digits.

    What the team has not set is empty, but for the company's name, which is its own.
    """

    company: str
    logo_url: str
    color: str
    website: str
    support_email: str
    support_contact: str


def find_team_branding(tenant: Tenant) -> Brand:
    """Return the branding of a team in one environment."""
    told = tenant.brand_information or {}
    color = str(told.get("brand_color") or "").removeprefix("#").lower()
    return Brand(
        company=told.get("company_name") or tenant.team.name,
        logo_url=tenant.logo_url or "",
        color=color if _COLOUR.fullmatch(color) else "",
        website=told.get("company_website") or "",
        support_email=told.get("support_email") or "",
        support_contact=told.get("support_contact") or "",
    )


@require_safe
@cache_control(public=True, max_age=_YEAR_SECONDS, immutable=True)
def serve_brand_stylesheet(request: HttpRequest, color: str) -> HttpResponse:
    """Serve GET /connect/colors/{color}.css: color tokens of actions and links.

    Public, no tenant: a colour tells nothing of who uses it. Text keeps its contrast
    whatever the colour is, in light and in dark.
    """
    if not _COLOUR.fullmatch(color):
        raise Http404
    return HttpResponse(build_brand_stylesheet(color), content_type="text/css")


def build_brand_stylesheet(color: str) -> str:
    """Return the style sheet of a color of six hexadecimal digits."""
    brand = _read(color)
    light = _tokens(brand, _moved(brand, _BLACK, away_from=_LIGHT_GROUND))
    dark = _tokens(brand, _moved(brand, _WHITE, away_from=_DARK_GROUND))
    return (
        "@layer tokens {\n"
        f"  :root {{ {light} }}\n"
        f'  @media not print {{ :root[data-theme="dark"] {{ {dark} }} }}\n'
        "}\n"
    )


def color_contrast_ratio(one: Rgb, other: Rgb) -> float:
    """Return the contrast of two colors, 1 to 21. Source: WCAG 2.2, contrast ratio."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _tokens(brand: Rgb, ink: Rgb) -> str:
    """Return color tokens: the brand for buttons, a readable shade for text."""
    on_brand = max((_WHITE, _BLACK), key=lambda each: color_contrast_ratio(brand, each))
    pressed = _mixed(brand, _BLACK if on_brand == _WHITE else _WHITE, 0.15)
    fields = {
        "accent": brand,
        "accent-2": pressed,
        "on-accent": on_brand,
        "accent-ink": ink,
        "accent-line": ink,
        "ring": ink,
    }
    return " ".join(f"--{name}: {_write(value)};" for name, value in fields.items())


def _moved(color: Rgb, end: Rgb, *, away_from: Rgb) -> Rgb:
    """Move a color towards `end` until text in it is readable on a background."""
    for step in range(_STEPS):
        moved = _mixed(color, end, step / _STEPS)
        if color_contrast_ratio(moved, away_from) >= _READABLE:
            return moved
    return end


def _mixed(color: Rgb, other: Rgb, share: float) -> Rgb:
    red, green, blue = (
        each * (1 - share) + mixed * share
        for each, mixed in zip(color, other, strict=True)
    )
    return red, green, blue


def _luminance(color: Rgb) -> float:
    red, green, blue = (
        each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4
        for each in color
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _read(color: str) -> Rgb:
    red, green, blue = (int(color[at : at + 2], 16) / 255 for at in (0, 2, 4))
    return red, green, blue


def _write(color: Rgb) -> str:
    return "#" + "".join(f"{round(each * 255):02x}" for each in color)
