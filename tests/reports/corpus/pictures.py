"""Screenshots, scans and phone photos of the corpus, with the truth of what they show.

A screenshot and a photo show one page, the one with most rows; a scan is the whole
document as a PDF of pictures. Layout, kind and seed alone decide every pixel, so a
cached reading stays good. What each damage looks like is in `damage`.
"""

from __future__ import annotations

import time
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pypdfium2
from PIL import Image, ImageChops

from reports.management.scorecard.truth import TrueReport
from tests.reports.corpus import damage
from tests.reports.corpus.damage import Dice

PICTURE_KINDS = ("screenshot", "scan", "photo")

# The tag by which a camera says how it was held, and the turn that undoes each.
_ORIENTATION = 0x0112
_TURNS = {
    3: Image.Transpose.ROTATE_180,
    6: Image.Transpose.ROTATE_90,
    8: Image.Transpose.ROTATE_270,
}
# Pillow writes the present day into a PDF unless told another.
_A_DAY = time.gmtime(1_700_000_000)


def take_picture(
    report: TrueReport, folder: Path, *, kind: str, seed: int = 0
) -> TrueReport:
    """Photograph a text PDF of the corpus in one of PICTURE_KINDS into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    dice = np.random.default_rng(zlib.crc32(f"{report.layout}:{kind}:{seed}".encode()))
    return _TAKERS[kind](report, folder, dice)


def _screenshot(report: TrueReport, folder: Path, dice: Dice) -> TrueReport:
    page = fullest_page(report)
    picture = render_page(
        report.path, page, dpi=int(dice.choice([96, 110, 120, 144, 150]))
    )
    if dice.random() < 0.5:
        picture = cropped_to_ink(picture, margin=int(dice.integers(4, 30)))
    if dice.random() < 0.25:
        picture = _in_a_viewer(picture)
    if dice.random() < 0.5:
        path = folder / f"{report.layout}.png"
        picture.save(path)
    else:
        path = folder / f"{report.layout}.jpg"
        picture.save(path, quality=int(dice.integers(70, 93)))
    return _of_one_page(report, path, page, "screenshot")


def _scan(report: TrueReport, folder: Path, dice: Dice) -> TrueReport:
    look = dice.choice(
        ["clean", "copier", "faint", "bilevel"], p=[0.2, 0.4, 0.25, 0.15]
    )
    dpi = {"clean": 150, "bilevel": 300}.get(look, int(dice.choice([150, 200, 300])))
    turn = int(dice.choice([0, 90, 180, 270], p=[0.82, 0.06, 0.06, 0.06]))
    pages = []
    for page in range(1, page_count(report.path) + 1):
        picture = render_page(report.path, page, dpi=dpi)
        if look != "clean":
            picture = _scanned(picture, dice, look=look)
        pages.append(picture.rotate(turn, expand=True) if turn else picture)
    if look == "bilevel":
        level = int(dice.integers(140, 190))
        pages = [p.convert("L").point(lambda v: 255 * (v > level), "1") for p in pages]
    elif dice.random() < 0.5:
        pages = [p.convert("L") for p in pages]
    path = folder / f"{report.layout}.pdf"
    pages[0].save(
        path,
        "PDF",
        save_all=True,
        append_images=pages[1:],
        resolution=dpi,
        creationDate=_A_DAY,
        modDate=_A_DAY,
        **_compression(look, dice),
    )
    return replace(report, path=path, kind="scan")


def _compression(look: str, dice: Dice) -> dict[str, int]:
    """A bilevel page is packed as a fax is, the others as JPEG."""
    if look == "bilevel":
        return {}
    return {"quality": 90 if look == "clean" else int(dice.integers(40, 81))}


def _scanned(picture: Image.Image, dice: Dice, *, look: str) -> Image.Image:
    wear: list[tuple[float, Callable[[Image.Image, Dice], Image.Image]]] = [
        (0.35, damage.stamped),
        (0.3, damage.pen_marked),
        (0.2, damage.rule_lined),
    ]
    for chance, mark in wear:
        if dice.random() < chance:
            picture = mark(picture, dice)
    picture = damage.paper_tinted(picture, dice)
    if look == "faint":
        picture = damage.faint(picture, dice, black=dice.uniform(70, 120))
    picture = damage.skewed(picture, degrees=dice.uniform(-2, 2))
    if dice.random() < 0.3:
        picture = damage.copier_edges(picture, dice)
    picture = damage.speckled(picture, dice, per_mille=dice.uniform(0.2, 2))
    picture = damage.blurred(picture, radius=dice.uniform(0.3, 0.9))
    return damage.noisy(picture, dice, sigma=dice.uniform(2, 7))


def _photo(report: TrueReport, folder: Path, dice: Dice) -> TrueReport:
    page = fullest_page(report)
    picture = render_page(report.path, page, dpi=int(dice.integers(190, 231)))
    if dice.random() < 0.25:
        picture = damage.pen_marked(picture, dice)
    picture = damage.paper_tinted(picture, dice)
    picture = damage.curled(picture, dice, bow=dice.uniform(0, 0.008) * picture.height)
    picture = damage.on_a_desk(
        picture, dice, tilt=dice.uniform(0.01, 0.07), degrees=dice.uniform(-3, 3)
    )
    picture = damage.shaded(picture, dice, depth=dice.uniform(0.1, 0.45))
    picture = damage.blurred(picture, radius=dice.uniform(0.5, 1.4))
    picture = damage.noisy(picture, dice, sigma=dice.uniform(2, 6))
    held = int(dice.choice([1, 3, 6, 8], p=[0.55, 0.1, 0.25, 0.1]))
    if held in _TURNS:
        picture = picture.transpose(_TURNS[held])
    exif = Image.Exif()
    exif[_ORIENTATION] = held
    path = folder / f"{report.layout}.jpg"
    picture.save(path, quality=int(dice.integers(60, 90)), exif=exif)
    return _of_one_page(report, path, page, "photo")


def render_page(path: Path, page: int, *, dpi: int) -> Image.Image:
    """The picture of a page, counted from 1."""
    document = pypdfium2.PdfDocument(path)
    try:
        return document[page - 1].render(scale=dpi / 72).to_pil().convert("RGB")
    finally:
        document.close()


def page_count(path: Path) -> int:
    document = pypdfium2.PdfDocument(path)
    try:
        return len(document)
    finally:
        document.close()


def fullest_page(report: TrueReport) -> int:
    """The page with most rows; the first where there are none."""
    counted = Counter(row.page for row in report.required_rows)
    return counted.most_common(1)[0][0] if counted else 1


def cropped_to_ink(picture: Image.Image, *, margin: int) -> Image.Image:
    """Cut off the white border but for a margin, in pixels."""
    blank = Image.new("RGB", picture.size, "white")
    box = ImageChops.difference(picture, blank).getbbox()
    if box is None:
        return picture
    left, top, right, bottom = box
    return picture.crop(
        (
            max(left - margin, 0),
            max(top - margin, 0),
            min(right + margin, picture.width),
            min(bottom + margin, picture.height),
        )
    )


def _in_a_viewer(picture: Image.Image) -> Image.Image:
    """The page in the grey window of a document viewer."""
    window = Image.new("RGB", (picture.width + 120, picture.height + 70), (82, 86, 89))
    window.paste((50, 54, 57), (0, 0, window.width, 48))
    window.paste(picture, (60, 60))
    return window


def _of_one_page(report: TrueReport, path: Path, page: int, kind: str) -> TrueReport:
    seen = tuple(replace(r, page=1) for r in report.rows if r.page == page)
    return replace(report, path=path, kind=kind, rows=seen)


_TAKERS: dict[str, Callable[[TrueReport, Path, Dice], TrueReport]] = {
    "screenshot": _screenshot,
    "scan": _scan,
    "photo": _photo,
}
