"""Small figures beside words: a meter, a bar of states.

Numbers in, SVG out, as in portal.ui.charts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.html import format_html, format_html_join

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.utils.safestring import SafeString

_STATES_WIDTH = 760
_STATES_GAP = 4


def draw_percentage_bar(percent: float, *, is_enough: bool) -> SafeString:
    """Draw a percentage, 0 to 100, as a bar; the number is written beside it."""
    width = 36
    return format_html(
        '<svg viewBox="0 0 {} 6" aria-hidden="true">'
        '<rect class="meter-t" width="{}" height="6" rx="3"/>'
        '<rect class="meter-{}" width="{}" height="6" rx="3"/></svg>',
        width,
        width,
        "ok" if is_enough else "warn",
        f"{min(max(percent, 0), 100) / 100 * width:.1f}",
    )


def draw_state_bar(parts: Sequence[tuple[str, str, int]], *, says: str) -> SafeString:
    """Draw one piece for each item of a list, colored by its state.

    `parts` are (color family, label, number of items), in order; `says` is what is
    counted.
    """
    pieces = [family for family, _label, number in parts for _each in range(number)]
    step = _STATES_WIDTH / max(1, len(pieces))
    return format_html(
        '<svg class="chart" viewBox="0 0 {} 8" role="img" aria-label="{}: {}"'
        ' preserveAspectRatio="none">{}</svg>',
        _STATES_WIDTH,
        says,
        "; ".join(f"{label} {number}" for _family, label, number in parts if number),
        format_html_join(
            "",
            '<rect class="pr-{}" x="{}" y="0" width="{}" height="8" rx="3"/>',
            (
                (family, f"{place * step:.1f}", f"{step - _STATES_GAP:.1f}")
                for place, family in enumerate(pieces)
            ),
        ),
    )
