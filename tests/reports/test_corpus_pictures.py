"""Pictures of the corpus are the same every time and show what their truth says."""

from __future__ import annotations

import pikepdf
import pytest
from PIL import Image

from tests.reports.corpus import LAYOUTS, build_corpus
from tests.reports.corpus.registry import draw_layout

pytest.importorskip("numpy", reason="pictures need the OCR group")

from tests.reports.corpus.pictures import (
    PICTURE_KINDS,
    fullest_page,
    page_count,
    take_picture,
)

SEVERAL_PAGES = "trap-long-table"
SMALL_PAGE = "third-us-blood-gas-strip"


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    folder = tmp_path_factory.mktemp("drawn")
    return draw_layout(LAYOUTS[SEVERAL_PAGES], folder / "report.pdf")


@pytest.mark.parametrize("kind", PICTURE_KINDS)
def test_a_picture_has_the_same_bytes_twice_and_others_with_another_seed(
    kind, tmp_path
):
    page = draw_layout(LAYOUTS[SMALL_PAGE], tmp_path / "page.pdf")

    pictures = [
        take_picture(page, tmp_path / f"{n}", kind=kind, seed=seed).path.read_bytes()
        for n, seed in enumerate((0, 0, 1))
    ]

    assert pictures[0] == pictures[1]
    assert pictures[0] != pictures[2]


def test_a_scan_shows_every_page_and_keeps_the_truth(drawn, tmp_path):
    scan = take_picture(drawn, tmp_path, kind="scan")

    assert page_count(scan.path) == page_count(drawn.path) == 2
    assert scan.rows == drawn.rows
    assert scan.kind == "scan"


def test_some_scans_are_black_and_white(tmp_path):
    [scan] = build_corpus(tmp_path, containing=SMALL_PAGE, kind="scan", seed=22)

    with pikepdf.open(scan.path) as document:
        [picture] = document.pages[0].get_images().values()
        assert picture.BitsPerComponent == 1


def test_a_photo_shows_the_fullest_page_and_the_truth_of_that_page(drawn, tmp_path):
    photo = take_picture(drawn, tmp_path, kind="photo")

    on_page = [r.name for r in drawn.rows if r.page == fullest_page(drawn)]
    assert [r.name for r in photo.rows] == on_page
    assert 0 < len(on_page) < len(drawn.rows)


def test_a_screenshot_has_the_density_of_a_screen(tmp_path):
    [shot] = build_corpus(tmp_path, containing="it-esami", kind="screenshot")

    with Image.open(shot.path) as picture:
        assert 500 <= picture.width <= 1400
    assert shot.kind == "screenshot"
