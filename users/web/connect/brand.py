"""The colors of a team's connect page.

A color comes as a style sheet of its own address, since the content policy allows no
style in the page.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from django.http import Http404, HttpResponse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from portal.ui.colors import (
    BLACK,
    WHITE,
    Rgb,
    mix_colors,
    move_to_readable,
    pick_text_color,
    read_color,
    write_color,
)

if TYPE_CHECKING:
    from django.http import HttpRequest

_COLOR = re.compile(r"[0-9a-f]{6}")
_YEAR_SECONDS = 365 * 24 * 3600
# The tokens that links and tinted boxes lie on, light and dark (static/css/tokens.css).
_LIGHT_GROUND: Rgb = (0.88, 0.90, 0.87)
_DARK_GROUND: Rgb = (0.14, 0.18, 0.17)


@require_safe
@cache_control(public=True, max_age=_YEAR_SECONDS, immutable=True)
def serve_brand_stylesheet(request: HttpRequest, color: str) -> HttpResponse:
    """Serve GET /connect/colors/{color}.css: color tokens of actions and links.

    Public, no tenant: a colour tells nothing of who uses it. Text keeps its contrast
    whatever the colour is, in light and in dark.
    """
    if not _COLOR.fullmatch(color):
        raise Http404
    return HttpResponse(build_brand_stylesheet(color), content_type="text/css")


def build_brand_stylesheet(color: str) -> str:
    """Return the style sheet of a color of six hexadecimal digits."""
    brand = read_color(color)
    light = _tokens(brand, move_to_readable(brand, BLACK, ground=_LIGHT_GROUND))
    dark = _tokens(brand, move_to_readable(brand, WHITE, ground=_DARK_GROUND))
    return (
        "@layer tokens {\n"
        f"  :root {{ {light} }}\n"
        f'  @media not print {{ :root[data-theme="dark"] {{ {dark} }} }}\n'
        "}\n"
    )


def _tokens(brand: Rgb, ink: Rgb) -> str:
    """Return color tokens: the brand for buttons, a readable shade for text."""
    on_brand = pick_text_color(brand)
    pressed = mix_colors(brand, BLACK if on_brand == WHITE else WHITE, 0.15)
    fields = {
        "accent": brand,
        "accent-2": pressed,
        "on-accent": on_brand,
        "accent-ink": ink,
        "accent-line": ink,
        "ring": ink,
    }
    return " ".join(
        f"--{name}: {write_color(value)};" for name, value in fields.items()
    )
