"""Small charts of one number a day, with the range that is usual behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_WIDTH = 244
_HEIGHT = 64
_ROOM = 6
_BAR = 5


def draw_mini_chart(
    days: Sequence[float | None],
    *,
    low: float | None,
    high: float | None,
    hue: str,
    is_bars: bool,
    says: str,
) -> SafeString:
    """Draw one mark a day, oldest first, a day without a value left empty.

    Bars begin at zero; a line spans the height. `low` to `high` is the usual range,
    None leaves it out. `says` is the finding. Source: Ours (design guide).
    """
    present = [each for each in days if each is not None]
    if not present:
        return SafeString("")
    bounds = [*present, *(each for each in (low, high) if each is not None)]
    bottom = 0.0 if is_bars else min(bounds)
    span = (max(bounds) - bottom) or 1.0
    step = _WIDTH / len(days)
    width = min(_BAR, step * 0.65)

    def height(value: float) -> float:
        return _HEIGHT - _ROOM - (value - bottom) / span * (_HEIGHT - 2 * _ROOM)

    band = (
        format_html(
            '<rect class="mi-band" x="0" y="{}" width="{}" height="{}" rx="3"/>',
            _n(height(high)),
            _WIDTH,
            _n(max(height(low) - height(high), 1)),
        )
        if low is not None and high is not None
        else SafeString("")
    )
    middles = [(index + 0.5) * step for index in range(len(days))]
    if is_bars:
        marks = format_html_join(
            "",
            '<rect class="mi-bar" x="{}" y="{}" width="{}" height="{}" rx="1.5"/>',
            (
                (
                    _n(x - width / 2),
                    _n(height(value)),
                    _n(width),
                    _n(_HEIGHT - _ROOM - height(value)),
                )
                for x, value in zip(middles, days, strict=True)
                if value
            ),
        )
    else:
        marks = format_html(
            '{}<path class="mi-line" d="{}"/><circle class="mi-dot" cx="{}" cy="{}"'
            ' r="3.5"/>',
            _draw_lone_days(middles, days, height),
            _draw_line(middles, days, height),
            *next(
                (_n(x), _n(height(value)))
                for x, value in zip(middles[::-1], days[::-1], strict=True)
                if value is not None
            ),
        )
    return format_html(
        '<svg class="chart mini c-{}" viewBox="0 0 {} {}" role="img" aria-label="{}">'
        "{}{}</svg>",
        hue,
        _WIDTH,
        _HEIGHT,
        says,
        band,
        marks,
    )


def _draw_line(
    middles: Sequence[float],
    days: Sequence[float | None],
    height: Callable[[float], float],
) -> str:
    """Return the path through the values; a day without one breaks it."""
    parts = []
    is_drawn = False
    for x, value in zip(middles, days, strict=True):
        if value is not None:
            parts.append(f"{'L' if is_drawn else 'M'}{_n(x)} {_n(height(value))}")
        is_drawn = value is not None
    return "".join(parts)


def _draw_lone_days(
    middles: Sequence[float],
    days: Sequence[float | None],
    height: Callable[[float], float],
) -> SafeString:
    """Return a dot for each value that no line leads to or from."""
    beside = [None, *days, None]
    return format_html_join(
        "",
        '<circle class="mi-lone" cx="{}" cy="{}" r="1.75"/>',
        (
            (_n(x), _n(height(value)))
            for index, (x, value) in enumerate(zip(middles, days, strict=True))
            if value is not None and beside[index] is beside[index + 2] is None
        ),
    )


def _n(number: float) -> str:
    return f"{number:.1f}"
