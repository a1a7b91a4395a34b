"""Picture files and PDF pages as pixels, as their owner sees them."""

from __future__ import annotations

import numpy as np
import pypdfium2
import pytest
from PIL import Image

pytest.importorskip("cv2", reason="pictures need the OCR group")

from reports.parser.intake import RefusalCode, RefusedFile
from reports.parser.pictures.decoding import (
    is_blank_page_image,
    open_upright_picture,
    render_pdf_page,
)
from reports.parser.pictures.view import View
from tests.factories.reports import make_huge_page, make_pdf

DARK_CORNER = (0, 0, 40, 20)


def picture(mode="RGB", size=(400, 300), paper="white", ink="black"):
    image = Image.new(mode, size, paper)
    image.paste(ink, DARK_CORNER)
    return image


def corner(view):
    """Which corner of the picture is dark, as (right, bottom)."""
    grey = view.pixels.mean(axis=2)
    rows, columns = np.nonzero(grey < 128)
    return columns.mean() > view.width / 2, rows.mean() > view.height / 2


@pytest.mark.parametrize(
    ("orientation", "size", "dark"),
    [
        (1, (400, 300), (False, False)),
        (3, (400, 300), (True, True)),
        (6, (300, 400), (True, False)),
        (8, (300, 400), (False, True)),
    ],
)
def test_a_photo_is_turned_as_its_camera_says(tmp_path, orientation, size, dark):
    path = tmp_path / "photo.jpg"
    exif = Image.Exif()
    exif[0x0112] = orientation
    picture().save(path, exif=exif)

    view = open_upright_picture(path)

    assert (view.width, view.height) == size
    assert corner(view) == dark


@pytest.mark.parametrize(
    "image",
    [
        picture("L", paper=255, ink=0),
        picture("1", paper=1, ink=0),
        picture("CMYK", paper=(0, 0, 0, 0), ink=(0, 0, 0, 255)),
        picture("RGBA", paper=(0, 0, 0, 0), ink=(0, 0, 0, 255)),
        picture().convert("P"),
        Image.fromarray(np.asarray(picture("L", paper=255, ink=0), np.uint16) * 257),
    ],
    ids=["grey", "bilevel", "print", "transparent", "palette", "deep"],
)
def test_every_kind_of_colour_becomes_black_on_white(tmp_path, image):
    path = tmp_path / ("picture.jpg" if image.mode == "CMYK" else "picture.png")
    image.save(path)

    view = open_upright_picture(path)

    assert corner(view) == (False, False)
    assert view.pixels[200:, 200:].min() > 240


def test_a_large_picture_is_read_smaller_and_keeps_its_places(tmp_path):
    path = tmp_path / "large.jpg"
    picture("L", size=(6000, 8000), paper=255, ink=0).save(path)

    view = open_upright_picture(path)

    assert max(view.width, view.height) <= 3600
    assert view.to_page[0, 0] * view.width == pytest.approx(6000)
    assert view.to_page[1, 1] * view.height == pytest.approx(8000)


def test_a_picture_of_too_many_pixels_is_not_decoded(tmp_path):
    path = tmp_path / "bomb.png"
    Image.new("1", (9000, 9000)).save(path)

    with pytest.raises(RefusedFile) as refusal:
        open_upright_picture(path)

    assert refusal.value.code is RefusalCode.TOO_MANY_PIXELS


def test_a_cut_picture_is_refused(tmp_path):
    path = tmp_path / "cut.png"
    Image.effect_noise((200, 200), 50).save(path)
    path.write_bytes(path.read_bytes()[:8000])

    with pytest.raises(RefusedFile) as refusal:
        open_upright_picture(path)

    assert refusal.value.code is RefusalCode.UNREADABLE


@pytest.mark.parametrize(
    ("content", "pixels"),
    [(make_pdf(), (1654, 2339)), (make_huge_page(), (3400, 3400))],
)
def test_a_page_is_rendered_at_200_dpi_within_a_bound(content, pixels):
    page = pypdfium2.PdfDocument(content)[0]

    view = render_pdf_page(page)

    assert (view.width, view.height) == pytest.approx(pixels, abs=1)
    assert view.to_page[0, 0] * view.width == pytest.approx(page.get_width())


@pytest.mark.parametrize("noise", [0, 6])
def test_a_white_page_is_blank_and_one_with_a_line_is_not(noise):
    dice = np.random.default_rng(0)
    grain = dice.integers(-noise, noise + 1, (1200, 900, 3))
    paper = np.clip(245 + grain, 0, 255).astype(np.uint8)
    marked = paper.copy()
    for left in range(100, 500, 14):
        marked[600:616, left : left + 8] = 30

    assert is_blank_page_image(View(paper, np.eye(3)))
    assert not is_blank_page_image(View(marked, np.eye(3)))
