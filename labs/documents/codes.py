"""Barcodes and QR codes on documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportlab.graphics.barcode.code128 import Code128
from reportlab.graphics.barcode.qrencoder import QRCode, QRErrorCorrectLevel

from labs.documents.sheet import PAGE_HEIGHT

if TYPE_CHECKING:
    from collections.abc import Callable

    from reportlab.pdfgen.canvas import Canvas

# Whole dots of a printer of 300 dots an inch, widest first: edges stay sharp.
_BAR_WIDTHS = tuple(dots * 72 / 300 for dots in (4, 3, 2))
_QUIET_MODULES = 10  # ISO/IEC 15417


def draw_barcode(
    text: str, *, width: float, height: float
) -> tuple[float, Callable[[Canvas, float, float], None]] | None:
    """Return a Code 128 barcode's width and a function that draws it.

    None for a text that Code 128 has no signs for, or no room. The width counts the
    quiet zones.
    """
    if not (text and text.isascii() and text.isprintable()):
        return None
    for bar in _BAR_WIDTHS:
        code = Code128(text, barWidth=bar, barHeight=height, quiet=0)
        whole = code.width + 2 * _QUIET_MODULES * bar
        if whole <= width:
            break
    else:
        return None

    def put(canvas: Canvas, x: float, y: float) -> None:
        canvas.setFillGray(0)
        code.drawOn(canvas, x + _QUIET_MODULES * bar, y)

    return whole, put


def draw_qr_code(text: str, *, size: float) -> Callable[[Canvas, float, float], None]:
    """Return a function that draws a QR code (level M) without quiet zone.

    `y` counts down from the top of US Letter.
    """
    code = QRCode(None, QRErrorCorrectLevel.M)
    code.addData(text)
    code.make()
    count = code.getModuleCount()
    module = size / count

    def put(canvas: Canvas, x: float, y: float) -> None:
        # One path: modules of one fill leave no seams between them.
        path = canvas.beginPath()
        for row in range(count):
            base = PAGE_HEIGHT - y - (row + 1) * module
            start = None
            for column in range(count + 1):
                is_dark = column < count and code.isDark(row, column)
                if is_dark and start is None:
                    start = column
                elif not is_dark and start is not None:
                    path.rect(
                        x + start * module, base, (column - start) * module, module
                    )
                    start = None
        canvas.setFillGray(0)
        canvas.drawPath(path, stroke=0, fill=1)

    return put
