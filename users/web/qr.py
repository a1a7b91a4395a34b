"""A QR code as part of a page: a phone reads it from the screen.

Must not be here: what it leads to.
"""

from __future__ import annotations

import segno
from django.utils.safestring import SafeString


def draw_qr(text: str) -> SafeString:
    """The code as SVG with attributes alone, as the content policy wants; no name.

    Its ground is the page's own: light, as cameras want it.
    """
    code = segno.make_qr(text, error="m")
    return SafeString(
        code.svg_inline(omitsize=True, border=2, svgclass=None, lineclass=None)
    )
