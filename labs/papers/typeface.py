"""The typeface of the papers: what it can draw, how wide it runs, where lines break.

Noto Sans, cut down to Latin, Greek and Cyrillic (fonts/VENDORED.md). Must not be here:
what is written.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from pathlib import Path

from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont

REGULAR = "AssayPaper"
BOLD = "AssayPaper-Bold"
MISSING = "\N{REPLACEMENT CHARACTER}"
_ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
_FOLDER = Path(__file__).parent / "fonts"
_FILES = {
    REGULAR: "noto-sans-2.15-regular.ttf",
    BOLD: "noto-sans-2.15-bold.ttf",
}
# Signs of lab values that the typeface lacks and plain ones say as well.
_PLAIN = {"≤": "<=", "≥": ">=", "→": "->", "≈": "~", "\N{ZERO WIDTH SPACE}": ""}


@cache
def load_typeface() -> frozenset[int]:
    """Make the typeface known to the library; the code points it can draw."""
    drawn: frozenset[int] | None = None
    for name, file in _FILES.items():
        font = TTFont(name, str(_FOLDER / file))
        pdfmetrics.registerFont(font)
        known = frozenset(font.face.charToGlyph)
        drawn = known if drawn is None else drawn & known
    return drawn or frozenset()


def printable(text: str) -> str:
    """A text in signs that are drawn: the rest, such as Chinese, become MISSING.

    Line feeds stay, other controls become blanks. Source: Ours: fonts for every script
    weigh megabytes, and a sign that is plainly missing beats one that is not there.
    """
    if text.isascii() and text.isprintable():
        return text
    drawn = load_typeface()
    composed = unicodedata.normalize("NFC", text)
    return "".join(_drawable(sign, drawn) for sign in composed)


def width_of(text: str, size: float, *, font: str = REGULAR) -> float:
    """How wide a text runs, in points."""
    load_typeface()
    return float(pdfmetrics.stringWidth(text, font, size))


def break_lines(
    text: str, size: float, width: float, *, font: str = REGULAR
) -> list[str]:
    """A text in lines no wider than `width`; a word that is wider is cut.

    At least one line, which may be empty.
    """
    lines: list[str] = []
    for part in printable(text).split("\n"):
        lines += _break_part(part, size, width, font)
    return lines


def cut_to(text: str, size: float, width: float, *, font: str = REGULAR) -> str:
    """A line no wider than `width`: one that is too long ends in an ellipsis."""
    if width_of(text, size, font=font) <= width:
        return text
    room = width - width_of(_ELLIPSIS, size, font=font)
    return text[: _fitting(text, size, room, font)].rstrip() + _ELLIPSIS


def _break_part(text: str, size: float, width: float, font: str) -> list[str]:
    if width_of(text, size, font=font) <= width:
        return [text]
    lines = []
    line = ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if width_of(longer, size, font=font) <= width:
            line = longer
            continue
        if line:
            lines.append(line)
        line = word
        while len(line) > 1 and width_of(line, size, font=font) > width:
            fits = _fitting(line, size, width, font)
            lines.append(line[:fits])
            line = line[fits:]
    return [*lines, line] if line or not lines else lines


def _fitting(word: str, size: float, width: float, font: str) -> int:
    """How many of a word's signs fit, at least one."""
    low, high = 1, len(word)
    while low < high:
        middle = (low + high + 1) // 2
        if width_of(word[:middle], size, font=font) <= width:
            low = middle
        else:
            high = middle - 1
    return low


def _drawable(sign: str, drawn: frozenset[int]) -> str:
    if ord(sign) in drawn or sign == "\n":
        return sign
    if sign in _PLAIN:
        return _PLAIN[sign]
    if sign.isspace() or unicodedata.category(sign)[0] == "C":
        return " "
    return MISSING
