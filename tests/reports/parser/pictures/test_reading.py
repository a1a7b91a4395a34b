"""Whole pictures through the real engine: few and small, for each costs seconds."""

from __future__ import annotations

import io

import pypdfium2
import pytest
from PIL import Image, ImageFilter

pytest.importorskip("rapidocr", reason="pictures need the OCR group")

from reports.parser.parsing import parse_report
from reports.parser.report import UnreadableReport
from tests.factories.reports import ROWS, make_pdf

FILLED = (40, 50, 560, 260)  # the part of the page that has text, in points


def load_page_picture(*, dpi=110):
    page = pypdfium2.PdfDocument(make_pdf())[0]
    whole = page.render(scale=dpi / 72).to_pil().convert("RGB")
    return whole.crop([side * dpi // 72 for side in FILLED])


def save(folder, *pictures, name="page.png"):
    paths = []
    for n, picture in enumerate(pictures):
        paths.append(folder / f"{n}-{name}")
        picture.save(paths[-1])
    return paths


def rows_of(report):
    return tuple(
        (row.test_name, row.value, row.units, row.reference_range)
        for row in report.results
    )


def test_a_screenshot_is_read_and_each_value_is_found_where_it_stands(tmp_path):
    (path,) = save(tmp_path, load_page_picture())

    report = parse_report(path)

    assert rows_of(report) == ROWS
    assert report.metadata.patient_last_name == "Beispiel"
    place = report.results[0].provenance.value
    # Points of the PDF, less what was cropped, in pixels of the picture.
    left, baseline = (240 - 40) * 110 / 72, (842 - 680 - 50) * 110 / 72
    assert place.page == 1
    assert place.polygon[0].x == pytest.approx(left, abs=4)
    assert place.polygon[0].y < baseline < place.polygon[2].y
    assert place.polygon[2].y - place.polygon[0].y < 30


def test_a_page_upside_down_is_read_and_its_places_are_on_the_page_as_sent(tmp_path):
    upright = load_page_picture()
    (path,) = save(tmp_path, upright.transpose(Image.Transpose.ROTATE_180))

    report = parse_report(path)

    assert rows_of(report) == ROWS
    place = report.results[0].provenance.value
    left = upright.width - (240 - 40) * 110 / 72
    assert place.polygon[0].x == pytest.approx(left, abs=4)


def test_a_page_that_lies_on_its_side_and_leans_is_read(tmp_path):
    leaning = load_page_picture().rotate(3, expand=True, fillcolor="white")
    (path,) = save(tmp_path, leaning.transpose(Image.Transpose.ROTATE_90))

    assert rows_of(parse_report(path)) == ROWS


def test_several_pictures_are_the_pages_of_one_report(tmp_path):
    blank = Image.new("RGB", (600, 400), "white")
    paths = save(tmp_path, blank, load_page_picture(), name="page.jpg")

    report = parse_report(paths)

    assert report.pages == 2
    assert {row.provenance.value.page for row in report.results} == {2}


def test_a_pdf_without_text_is_read_page_by_page(tmp_path):
    text = pypdfium2.PdfDocument(
        make_pdf(rows=(("Ferritin", "88", "ng/mL", "30 - 400"),))
    )
    drawn = io.BytesIO()
    load_page_picture().save(drawn, "PDF", resolution=110)
    text.import_pages(pypdfium2.PdfDocument(drawn.getvalue()))
    path = tmp_path / "mixed.pdf"
    text.save(path)
    pages = []

    report = parse_report(path, on_page=lambda: pages.append(1))

    assert rows_of(report) == (("Ferritin", "88", "ng/mL", "30 - 400"), *ROWS)
    assert [row.provenance.value.page for row in report.results] == [1, 2, 2, 2, 2]
    assert report.results[0].provenance.value.polygon[0].x == pytest.approx(240, abs=1)
    assert len(pages) == 1


def test_a_picture_blurred_beyond_reading_is_of_low_quality(tmp_path):
    (path,) = save(tmp_path, load_page_picture().filter(ImageFilter.GaussianBlur(6)))

    with pytest.raises(UnreadableReport) as refusal:
        parse_report(path)

    assert refusal.value.reason == "low_quality"


def test_the_engine_has_its_models_with_it_and_asks_no_network(monkeypatch):
    from rapidocr.utils.download_file import DownloadFile

    from reports.parser.pictures import engine

    items = []
    monkeypatch.setattr(DownloadFile, "run", items.append)
    engine._load.cache_clear()

    loaded = engine.load_ocr_engine()

    assert items == []
    assert "classifier" not in vars(loaded)
    assert engine.load_ocr_engine() is loaded
