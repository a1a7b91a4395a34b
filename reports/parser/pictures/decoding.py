"""Decodes image files and PDF pages to pixels, within limits."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np
import pypdfium2 as pdfium
from PIL import Image, ImageOps

from reports.parser.intake import MAX_PIXELS, RefusalCode, RefusedFile

from .view import View

if TYPE_CHECKING:
    from numpy.typing import NDArray

DPI = 200
# Sides in pixels. What is larger is made smaller before anything else: the text of a
# page is legible at a third of it.
_LONGEST = 3600
_LONGEST_PAGE = 3400


def open_upright_picture(path: Path) -> View:
    """Open an image file, turned as its camera says, on white.

    Units of the page are pixels of the picture so turned. Raises: RefusedFile by
    unreadable_file, too_many_pixels.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path, formats=["JPEG", "PNG"]) as file:
                if file.width * file.height > MAX_PIXELS:
                    raise RefusedFile(RefusalCode.TOO_MANY_PIXELS)
                # A JPEG can be decoded at a half or a quarter of its size.
                full = file.size
                file.draft("RGB", (_LONGEST // 2, _LONGEST // 2))
                picture = _on_white(ImageOps.exif_transpose(file))
                if file.getexif().get(0x0112, 1) >= 5:
                    full = (full[1], full[0])
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise RefusedFile(RefusalCode.TOO_MANY_PIXELS) from None
    except (OSError, SyntaxError, ValueError, EOFError):
        raise RefusedFile(RefusalCode.UNREADABLE) from None
    pixels = np.ascontiguousarray(np.asarray(picture)[:, :, ::-1])
    pixels = _bounded(pixels, _LONGEST)
    scale = np.diag([full[0] / pixels.shape[1], full[1] / pixels.shape[0], 1.0])
    return View(pixels, scale)


def _on_white(picture: Image.Image) -> Image.Image:
    if picture.mode.startswith("I"):
        # Sixteen bits of grey: Pillow would clip them.
        deep = np.asarray(picture, np.float64)
        return Image.fromarray((deep / 257).clip(0, 255).astype(np.uint8)).convert(
            "RGB"
        )
    if picture.has_transparency_data:
        flat = picture.convert("RGBA")
        paper = Image.new("RGBA", flat.size, "white")
        return Image.alpha_composite(paper, flat).convert("RGB")
    return picture.convert("RGB")


def _bounded(pixels: NDArray[np.uint8], longest: int) -> NDArray[np.uint8]:
    side = max(pixels.shape[:2])
    if side <= longest:
        return pixels
    height, width = (max(1, round(n * longest / side)) for n in pixels.shape[:2])
    small = cv2.resize(pixels, (width, height), interpolation=cv2.INTER_AREA)
    return np.asarray(small, np.uint8)


def render_pdf_page(page: pdfium.PdfPage) -> View:
    """Render a PDF page as it is shown, at DPI or what the size limit allows."""
    width, height = page.get_size()
    scale = min(DPI / 72, _LONGEST_PAGE / max(width, height, 1))
    pixels = page.render(scale=scale, may_draw_forms=False).to_numpy()[:, :, :3]
    found = np.ascontiguousarray(pixels)
    to_page = np.diag([width / found.shape[1], height / found.shape[0], 1.0])
    return View(found, to_page)


def is_blank_page_image(view: View) -> bool:
    """Return whether an image has hardly any ink, so that there is nothing to read."""
    grey = cv2.cvtColor(view.pixels, cv2.COLOR_BGR2GRAY)
    small = cv2.resize(grey, (256, 256), interpolation=cv2.INTER_AREA)
    paper = cv2.medianBlur(small, 41)
    return bool(np.count_nonzero(cv2.absdiff(small, paper) > 16) < 12)
