"""The typeface of documents: available characters, widths and line breaks.

It is Noto Sans with Latin, Greek and Cyrillic only (fonts/VENDORED.md).
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
def register_pdf_typeface() -> frozenset[int]:
    """Register the typeface with the PDF library; return its code points."""
    drawn: frozenset[int] | None = None
    for name, file in _FILES.items():
        font = TTFont(name, str(_FOLDER / file))
        pdfmetrics.registerFont(font)
        known = frozenset(font.face.charToGlyph)
        drawn = known if drawn is None else drawn & known
    return drawn or frozenset()


def replace_unprintable_characters(text: str) -> str:
    """Replace characters the typeface lacks, such as Chinese, by MISSING.

    Line feeds stay, other controls become blanks. Source: Ours: fonts for every script
    weigh megabytes, and a sign that is plainly missing beats one that is not there.
    """
    if text.isascii() and text.isprintable():
        return text
    drawn = register_pdf_typeface()
    composed = unicodedata.normalize("NFC", text)
    return "".join(_drawable_characters(sign, drawn) for sign in composed)


def measure_text_width(text: str, size: float, *, font: str = REGULAR) -> float:
    """Return how wide a text is, in points."""
    register_pdf_typeface()
    return float(pdfmetrics.stringWidth(text, font, size))


def break_text_into_lines(
    text: str, size: float, width: float, *, font: str = REGULAR
) -> list[str]:
    """Break a text into lines no wider than `width`; cut wider words.

    At least one line, which may be empty.
    """
    lines: list[str] = []
    for part in replace_unprintable_characters(text).split("\n"):
        lines += _break_part(part, size, width, font)
    return lines


def cut_line_to_width(
    text: str, size: float, width: float, *, font: str = REGULAR
) -> str:
    """Cut a line to `width`, ending in an ellipsis."""
    if measure_text_width(text, size, font=font) <= width:
        return text
    room = width - measure_text_width(_ELLIPSIS, size, font=font)
    return (
        text[: _count_fitting_characters(text, size, room, font)].rstrip() + _ELLIPSIS
    )


def _break_part(text: str, size: float, width: float, font: str) -> list[str]:
    if measure_text_width(text, size, font=font) <= width:
        return [text]
    lines = []
    line = ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if measure_text_width(longer, size, font=font) <= width:
            line = longer
            continue
        if line:
            lines.append(line)
        line = word
        while len(line) > 1 and measure_text_width(line, size, font=font) > width:
            fits = _count_fitting_characters(line, size, width, font)
            lines.append(line[:fits])
            line = line[fits:]
    return [*lines, line] if line or not lines else lines


def _count_fitting_characters(word: str, size: float, width: float, font: str) -> int:
    """Return how many of a word's characters fit, at least one."""
    low, high = 1, len(word)
    while low < high:
        middle = (low + high + 1) // 2
        if measure_text_width(word[:middle], size, font=font) <= width:
            low = middle
        else:
            high = middle - 1
    return low


def _drawable_characters(sign: str, drawn: frozenset[int]) -> str:
    if ord(sign) in drawn or sign == "\n":
        return sign
    if sign in _PLAIN:
        return _PLAIN[sign]
    if sign.isspace() or unicodedata.category(sign)[0] == "C":
        return " "
    return MISSING
