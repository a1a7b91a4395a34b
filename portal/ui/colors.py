"""Colors that a team chose, and shades of them in which text can be read."""

from __future__ import annotations

Rgb = tuple[float, float, float]
WHITE: Rgb = (1.0, 1.0, 1.0)
BLACK: Rgb = (0.0, 0.0, 0.0)
# WCAG 2.2, 1.4.3: text; a little more, as steps are coarse.
_READABLE = 4.6
_STEPS = 20


def color_contrast_ratio(one: Rgb, other: Rgb) -> float:
    """Return the contrast of two colors, 1 to 21. Source: WCAG 2.2, contrast ratio."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def pick_text_color(ground: Rgb) -> Rgb:
    """Return white or black, whichever can be read better on a color."""
    return max((WHITE, BLACK), key=lambda each: color_contrast_ratio(ground, each))


def move_to_readable(color: Rgb, end: Rgb, *, ground: Rgb) -> Rgb:
    """Move a color towards `end` until text in it is readable on a background."""
    for step in range(_STEPS):
        moved = mix_colors(color, end, step / _STEPS)
        if color_contrast_ratio(moved, ground) >= _READABLE:
            return moved
    return end


def mix_colors(color: Rgb, other: Rgb, share: float) -> Rgb:
    """Mix a share (0 to 1) of another color into a color."""
    red, green, blue = (
        each * (1 - share) + mixed * share
        for each, mixed in zip(color, other, strict=True)
    )
    return red, green, blue


def read_color(digits: str) -> Rgb:
    """Read six hexadecimal digits."""
    red, green, blue = (int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4))
    return red, green, blue


def write_color(color: Rgb) -> str:
    """Write a color as CSS has it, such as #0b6373."""
    return "#" + "".join(f"{round(each * 255):02x}" for each in color)


def _luminance(color: Rgb) -> float:
    red, green, blue = (
        each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4
        for each in color
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
