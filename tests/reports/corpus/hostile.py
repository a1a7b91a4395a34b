"""Files that must not become results: no reports, unreadable ones, and attacks.

Each says what has to become of it. Nothing here draws a layout of the corpus anew:
pages that are no lab report stand in layouts/not_reports.py and are photographed here.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pikepdf
from PIL import Image, ImageDraw, ImageFont
from reportlab.pdfgen.canvas import Canvas

from tests.factories.reports import compress_repeated, encrypt, make_bomb, make_pdf
from tests.reports.corpus import damage
from tests.reports.corpus.pictures import render_page, take_picture
from tests.reports.corpus.registry import LAYOUTS, draw_layout

PDF, PNG, JPEG = "application/pdf", "image/png", "image/jpeg"
NO_REPORT = frozenset({"invalid_input", "low_quality", "not_english"})


@dataclass(frozen=True, slots=True)
class HostileFile:
    """A file and its due: refused at upload by a code, or ended by one of reasons."""

    name: str
    media_type: str
    content: bytes
    refused: str | None = None
    reasons: frozenset[str] = frozenset()


def refused_files() -> list[HostileFile]:
    """What an upload must not accept."""
    return [
        HostileFile("spreadsheet.pdf", PDF, _spreadsheet(), "unsupported_file_type"),
        HostileFile("locked.pdf", PDF, encrypt(make_pdf()), "encrypted_file"),
        HostileFile("nothing.pdf", PDF, b"", "empty_file"),
        HostileFile("page.png", PNG, b"<html>13.5</html>", "unsupported_file_type"),
        HostileFile("bomb.png", PNG, _pixel_bomb(), "too_many_pixels"),
        HostileFile("cut.jpg", JPEG, _cut_picture(), "unreadable_file"),
        HostileFile("picture.pdf", PDF, _xray(), "file_type_mismatch"),
    ]


def attacks() -> list[HostileFile]:
    """What must end in a failure with a reason and without a row, the worker unharmed.

    An attack may also be refused at upload, as opening it breaks a bound there.
    """
    broken = frozenset({"processing_error", "unreadable_file"})
    made = {
        "31-pages.pdf": (make_pdf(pages=31), frozenset({"too_many_pages"})),
        "unpacks.pdf": (make_bomb(), broken | NO_REPORT),
        "unpacks-a-picture.pdf": (_picture_bomb(), broken | NO_REPORT),
        "mirrors.pdf": (_mirrors(), broken | NO_REPORT),
    }
    pdfs = [HostileFile(n, PDF, c, reasons=due) for n, (c, due) in made.items()]
    return [*pdfs, HostileFile("xray.png", PNG, _xray(), reasons=NO_REPORT)]


def harmless_files(folder: Path) -> list[HostileFile]:
    """What can be read, and holds no report."""
    made = {
        "empty-pages.pdf": (PDF, _blank_pages(3)),
        "letter-in-finnish.pdf": (PDF, _letter(_FINNISH)),
        "letter-in-japanese.pdf": (PDF, _letter(_JAPANESE, "HeiseiMin-W3")),
        "mojibake.pdf": (PDF, _letter(_MOJIBAKE)),
        "heart-trace.png": (PNG, _heart_trace()),
        "beyond-reading.png": (PNG, _blurred(folder)),
    }
    files = [HostileFile(n, *of, reasons=NO_REPORT) for n, of in made.items()]
    return [*files, _photographed("not-receipt", "photo", folder)]


def two_patients(folder: Path) -> bytes:
    """Reports of two people in one PDF: whose results would these be?"""
    first = draw_layout(LAYOUTS["sample-metabolic"], folder / "first.pdf").path
    second = draw_layout(LAYOUTS["de-laborbefund"], folder / "second.pdf").path
    with pikepdf.open(first) as both, pikepdf.open(second) as other:
        both.pages.extend(other.pages)
        return _bytes(both)


def _photographed(layout: str, kind: str, folder: Path) -> HostileFile:
    report = draw_layout(LAYOUTS[layout], folder / f"{layout}.pdf")
    path = take_picture(report, folder / kind, kind=kind).path
    media_type = PNG if path.suffix == ".png" else JPEG
    name = f"{layout}{path.suffix}"
    return HostileFile(name, media_type, path.read_bytes(), reasons=NO_REPORT)


_FINNISH = (
    "Hyvä asukas,",
    "pihatalkoot pidetään lauantaina kello kymmenen talon takana.",
    "Tuothan mukanasi haravan ja jotakin juotavaa, me huolehdimme muusta.",
)
_JAPANESE = (
    "拝啓　時下ますますご清栄のこととお慶び申し上げます。",
    "土曜日の集会は十時に始まります。どうぞご参加ください。",
)
_MOJIBAKE = (
    "Ã¤Â¸Â­Ã¦â€“â€¡ Ã°Å¸â€˜Â Â§Â§ Â¶Â¶ Ã¿Ã¾Ã½",
    "Â¤Â¤Â¤ Ã˜Ã™Ãš Â¬Â¬ Â±Â± Ã—Ã— Ã·Ã· Â¿Â¿",
)


def _letter(lines: tuple[str, ...], font: str = "Helvetica") -> bytes:
    if font != "Helvetica":
        from reportlab.pdfbase import pdfmetrics
        from reportlab.pdfbase.cidfonts import UnicodeCIDFont

        pdfmetrics.registerFont(UnicodeCIDFont(font))
    written = io.BytesIO()
    canvas = Canvas(written, invariant=1)
    canvas.setFont(font, 11)
    for n, line in enumerate(lines):
        canvas.drawString(60, 760 - 16 * n, line)
    canvas.save()
    return written.getvalue()


def _blank_pages(count: int) -> bytes:
    with pikepdf.new() as document:
        for _ in range(count):
            document.add_blank_page()
        return _bytes(document)


def _spreadsheet() -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as book:
        for part in ("[Content_Types].xml", "xl/workbook.xml"):
            book.writestr(part, "<workbook/>")
    return written.getvalue()


def _pixel_bomb() -> bytes:
    """A few hundred bytes that claim sixty thousand pixels each way."""
    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(bytes(1000))), (b"IEND", b""))
    body = b"".join(
        struct.pack(">I", len(data)) + tag + data + _checksum(tag + data)
        for tag, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + body


def _checksum(data: bytes) -> bytes:
    return struct.pack(">I", zlib.crc32(data))


def _picture_bomb() -> bytes:
    """A page whose one picture is 40,000 pixels square, from a few kilobytes."""
    side = 40_000
    rows = compress_repeated(bytes(side * 100), times=side // 100)
    document = pikepdf.new()
    page = document.add_blank_page()
    picture = pikepdf.Stream(document, b"")
    twice = zlib.compress(rows, 9)
    flate = pikepdf.Name.FlateDecode
    picture.write(twice, filter=pikepdf.Array([flate, flate]))
    picture.Type, picture.Subtype = pikepdf.Name.XObject, pikepdf.Name.Image
    picture.Width = picture.Height = side
    picture.ColorSpace, picture.BitsPerComponent = pikepdf.Name.DeviceGray, 8
    page.Resources = pikepdf.Dictionary(XObject=pikepdf.Dictionary(P=picture))
    page.Contents = document.make_stream(b"600 0 0 800 0 0 cm /P Do")
    return _bytes(document)


def _mirrors() -> bytes:
    """Forms that draw themselves twice, thirty deep: a billion words if followed."""
    document = pikepdf.new()
    page = document.add_blank_page()
    inner = document.make_stream(b"BT /F 8 Tf 20 20 Td (Sodium 140) Tj ET")
    for _ in range(30):
        form = document.make_stream(b"/X Do 1 0 0 1 0 1 cm /X Do")
        form.Type, form.Subtype = pikepdf.Name.XObject, pikepdf.Name.Form
        form.BBox = pikepdf.Array([0, 0, 600, 800])
        form.Resources = pikepdf.Dictionary(XObject=pikepdf.Dictionary(X=inner))
        inner.Type, inner.Subtype = pikepdf.Name.XObject, pikepdf.Name.Form
        inner.BBox = pikepdf.Array([0, 0, 600, 800])
        inner = form
    page.Resources = pikepdf.Dictionary(XObject=pikepdf.Dictionary(X=inner))
    page.Contents = document.make_stream(b"/X Do")
    return _bytes(document)


def _cut_picture() -> bytes:
    whole = _jpeg(Image.effect_noise((400, 400), 60).convert("RGB"))
    return whole[: len(whole) // 2]


def _xray() -> bytes:
    """A grey chest-like shadow with a letter at the side, as radiographers leave."""
    dice = np.random.default_rng(4)
    picture = Image.new("RGB", (600, 700), (12, 12, 12))
    draw = ImageDraw.Draw(picture)
    for box in ((60, 60, 290, 640), (310, 60, 540, 640)):
        draw.ellipse(box, fill=(70, 70, 70))
    for n in range(9):
        draw.arc((80, 80 + 55 * n, 520, 260 + 55 * n), 200, 340, (130,) * 3, 9)
    draw.rectangle((285, 40, 315, 660), fill=(170, 170, 170))
    draw.text((560, 40), "L", fill="white", font=ImageFont.load_default(24))
    return _png(damage.noisy(damage.blurred(picture, radius=3), dice, sigma=6))


def _heart_trace() -> bytes:
    """A grid, a trace, and the numbers of a heart that no laboratory measured."""
    picture = Image.new("RGB", (900, 600), "white")
    draw = ImageDraw.Draw(picture)
    for n in range(0, 900, 15):
        draw.line((n, 0, n, 600), (250, 200, 200))
        draw.line((0, n, 900, n), (250, 200, 200))
    for lead in range(3):
        base = 220 + 130 * lead
        beat = [(0, 0), (20, -8), (40, 0), (50, 8), (56, -70), (62, 20), (70, 0)]
        points = [(x + 130 * n, base + y) for n in range(7) for x, y in beat]
        draw.line(points, (20, 20, 20), 2)
    font = ImageFont.load_default(16)
    for n, text in enumerate(
        ("Vent rate  72 bpm", "PR interval  160 ms", "QT/QTc  380/402 ms")
    ):
        draw.text((30, 20 + 24 * n), text, "black", font)
    return _png(picture)


def _blurred(folder: Path) -> bytes:
    report = draw_layout(LAYOUTS["sample-cbc"], folder / "sharp.pdf")
    picture = render_page(report.path, 1, dpi=100)
    return _png(damage.blurred(picture, radius=7))


def _png(picture: Image.Image) -> bytes:
    return _saved(lambda written: picture.save(written, "PNG"))


def _jpeg(picture: Image.Image) -> bytes:
    return _saved(lambda written: picture.save(written, "JPEG"))


def _saved(save: Callable[[io.BytesIO], None]) -> bytes:
    written = io.BytesIO()
    save(written)
    return written.getvalue()


def _bytes(document: pikepdf.Pdf) -> bytes:
    return _saved(lambda written: document.save(written, compress_streams=False))
