"""Fonts of the corpus, and the drawing of a text whose signs need several of them.

The standard PDF fonts lack some signs that laboratories print; those come from other
standard fonts or from the one that reportlab carries, so no font file is shipped.
"""

from __future__ import annotations

from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from tests.reports.corpus.printed import KERN

BOLD = {
    "Helvetica": "Helvetica-Bold",
    "Times-Roman": "Times-Bold",
    "Courier": "Courier-Bold",
    "Vera": "VeraBd",
    "STSong-Light": "STSong-Light",
    "VeraCodes": "VeraCodes",
}
_SYMBOL = set("≥≤↑↓βα")
_DINGBATS = set("▲▼●✓")
# A letter's code in the font whose codes mean no letter to anybody else.
_PRIVATE = {code: 0xE000 + code for code in range(0x20, 0x100)}
_BORROWED = {"⁹": "9", "⁶": "6", "μ": "µ"}


def register_fonts() -> None:
    known = pdfmetrics.getRegisteredFontNames()
    if "Vera" not in known:
        pdfmetrics.registerFont(TTFont("Vera", "Vera.ttf"))
        pdfmetrics.registerFont(TTFont("VeraBd", "VeraBd.ttf"))
        # These signs borrow another's picture; the text layer has the sign itself.
        more = TTFont("VeraMore", "Vera.ttf")
        more.face.name += b"-More"  # reportlab files a font's maps under this name
        for sign, picture in _BORROWED.items():
            more.face.charToGlyph[ord(sign)] = more.face.charToGlyph[ord(picture)]
            more.face.charWidths[ord(sign)] = more.face.charWidths[ord(picture)]
        pdfmetrics.registerFont(more)
        codes = TTFont("VeraCodes", "Vera.ttf")
        codes.face.name += b"-Codes"
        for letter, code in _PRIVATE.items():
            if letter in codes.face.charToGlyph:
                codes.face.charToGlyph[code] = codes.face.charToGlyph[letter]
                codes.face.charWidths[code] = codes.face.charWidths[letter]
        pdfmetrics.registerFont(codes)
    if "STSong-Light" not in known:
        pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))


def _runs(text: str, face: str) -> list[tuple[str, str]]:
    """Split by the font that has the glyphs: the standard fonts lack some signs."""
    if face == "STSong-Light":
        return [(face, text)]
    if face == "VeraCodes":
        return [(face, text.translate(_PRIVATE))]
    runs: list[tuple[str, str]] = []
    for sign in text:
        own = face
        if sign in _SYMBOL:
            own = "Symbol"
        elif sign in _DINGBATS:
            own = "ZapfDingbats"
        elif sign in _BORROWED:
            own = "VeraMore"
        elif ord(sign) > 0x2E80:
            own = "STSong-Light"
        if runs and runs[-1][0] == own:
            runs[-1] = (own, runs[-1][1] + sign)
        else:
            runs.append((own, sign))
    return runs


def width_of(text: str, face: str, size: float) -> float:
    total = text.count(KERN) * size * 0.22
    for own, run in _runs(text.replace(KERN, ""), face):
        total += pdfmetrics.stringWidth(run, own, size)
    return total


def draw_words(canvas: Canvas, text: str, face: str, size: float) -> None:
    """One show operator a word, as many report engines print."""
    x = 0.0
    for word in text.split(" "):
        canvas.saveState()
        canvas.translate(x, 0)
        draw_run(canvas, word, face, size, 0)
        canvas.restoreState()
        x += width_of(word + " ", face, size)


def draw_run(canvas: Canvas, text: str, face: str, size: float, spacing: float) -> None:
    x = 0.0
    for n, part in enumerate(text.split(KERN)):
        x += size * 0.22 if n else 0
        for own, run in _runs(part, face):
            canvas.setFont(own, size)
            canvas.drawString(x, 0, run, charSpace=spacing)
            x += pdfmetrics.stringWidth(run, own, size) + spacing * len(run)
