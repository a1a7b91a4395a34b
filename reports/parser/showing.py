"""Renders pages of a report as images for people.

Upright as its owner sees it, in the frame of every polygon on it.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import pypdfium2 as pdfium
from PIL import Image, ImageOps

from .intake import (
    MAX_PIXELS,
    FileKind,
    RefusalCode,
    RefusedFile,
    detect_file_kind_by_signature,
)

_DPI = 144
_LONGEST = 2400  # pixels
_SMALL = (160, 240)  # pixels


def render_report_page_jpeg(paths: Sequence[Path], number: int) -> bytes:
    """Render page `number`, from 1, of a PDF or of page images, as a JPEG.

    Raises: RefusedFile by unreadable_file, too_many_pixels; pdfium's own error. Source:
    Ours (workflow D1).
    """
    if detect_file_kind_by_signature(paths[0]) is FileKind.PDF:
        picture = _drawn(paths[0], number)
    else:
        picture = _opened(paths[number - 1])
    written = BytesIO()
    picture.save(written, "JPEG", quality=88, optimize=True)
    return written.getvalue()


def render_page_thumbnail(content: bytes) -> bytes:
    """Return a small version of a page's image, as a thumbnail."""
    written = BytesIO()
    with Image.open(BytesIO(content), formats=["JPEG"]) as picture:
        picture.thumbnail(_SMALL)
        picture.save(written, "JPEG", quality=80, optimize=True)
    return written.getvalue()


def _drawn(path: Path, number: int) -> Image.Image:
    document = pdfium.PdfDocument(path)
    try:
        page = document[number - 1]
        try:
            scale = min(_DPI / 72, _LONGEST / max(*page.get_size(), 1))
            drawn = page.render(scale=scale, may_draw_forms=False)
            found: Image.Image = drawn.to_pil().convert("RGB")
            return found
        finally:
            page.close()
    finally:
        document.close()


def _opened(path: Path) -> Image.Image:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path, formats=["JPEG", "PNG"]) as file:
                if file.width * file.height > MAX_PIXELS:
                    raise RefusedFile(RefusalCode.TOO_MANY_PIXELS)
                file.draft("RGB", (_LONGEST, _LONGEST))
                upright = ImageOps.exif_transpose(file)
                paper = Image.new("RGBA", upright.size, "white")
                paper.alpha_composite(upright.convert("RGBA"))
                picture = paper.convert("RGB")
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise RefusedFile(RefusalCode.TOO_MANY_PIXELS) from None
    except (OSError, SyntaxError, ValueError, EOFError):
        raise RefusedFile(RefusalCode.UNREADABLE) from None
    picture.thumbnail((_LONGEST, _LONGEST))
    return picture
