"""Pictures in a script that the OCR models can't read."""

from __future__ import annotations

import pytest
from PIL import Image, ImageDraw, ImageFont

from portal.lib import tesseract
from reports.parser.parsing import parse_report
from reports.parser.pictures.engine import Reading, Sign
from reports.parser.pictures.scripts import SeenWord, merge_readings
from reports.parser.report import FailureReason, Script, UnreadableReport

FONT = "DejaVuSans.ttf"
ROWS = [
    ("Показатель", "Результат", "Ед. изм.", "Референсные значения"),
    ("Гемоглобин", "142", "г/л", "130 - 160"),
    ("Глюкоза", "5.4", "ммоль/л", "3.9 - 6.1"),
    ("Креатинин", "88", "мкмоль/л", "62 - 106"),
    ("Мочевина", "5.2", "ммоль/л", "2.5 - 8.3"),
]


@pytest.fixture
def picture(tmp_path):
    sheet = Image.new("RGB", (1100, 330), "white")
    draw = ImageDraw.Draw(sheet)
    font = ImageFont.truetype(FONT, 24)
    draw.text((30, 20), "Лаборатория Пример", fill="black", font=font)
    for n, row in enumerate(ROWS):
        for x, text in zip((30, 320, 520, 720), row, strict=True):
            draw.text((x, 80 + 46 * n), text, fill="black", font=font)
    path = tmp_path / "report.png"
    sheet.save(path)
    return path


@pytest.fixture(autouse=True)
def _languages_anew():
    tesseract.list_ocr_languages.cache_clear()
    yield
    tesseract.list_ocr_languages.cache_clear()


def test_a_script_that_nothing_reads_gives_no_row(picture, monkeypatch):
    monkeypatch.setattr(tesseract, "PROGRAM", "no-such-program")

    with pytest.raises(UnreadableReport) as caught:
        parse_report(picture)

    assert caught.value.reason is FailureReason.NOT_ENGLISH
    assert caught.value.script is Script.OTHER


@pytest.mark.skipif(
    not {"osd", "rus"} <= tesseract.list_ocr_languages(),
    reason="needs tesseract-ocr and tesseract-ocr-rus, as .ci/run installs",
)
def test_cyrillic_is_read_or_named(picture, monkeypatch):
    report = parse_report(picture)

    assert [
        (r.test_name, r.value, r.units, r.reference_range) for r in report.results
    ] == ROWS[1:]

    monkeypatch.setattr(tesseract, "OCR_LANGUAGES", {})
    monkeypatch.setattr("reports.parser.pictures.scripts.OCR_LANGUAGES", {})
    with pytest.raises(UnreadableReport) as caught:
        parse_report(picture)

    assert caught.value.reason is FailureReason.NOT_ENGLISH
    assert caught.value.script is Script.CYRILLIC


@pytest.mark.parametrize(
    ("read", "seen", "said", "sure"),
    [
        ("4.3", [("43", 0, 60)], "4.3", 0.9),  # a point is lost by tesseract alone
        ("4.3", [("48", 0, 60)], "4.3", 0.4),  # they disagree on a digit
        ("   ", [("43", 0, 60)], "43", 0.4),  # and here only one saw any
        ("r/n", [("г/л", 0, 60)], "г/л", 0.9),
        ("r/n", [("мл", 0, 60)], "мл", 0.4),  # a stroke was lost
    ],
)
def test_digits_are_those_of_the_models_and_letters_those_of_tesseract(
    read, seen, said, sure
):
    signs = tuple(Sign(text, (n + 0.5) / 3, 0.9) for n, text in enumerate(read))
    words = [SeenWord(text, x0, x1, 0.9) for text, x0, x1 in seen]

    merged = merge_readings(Reading(signs, 0.9), words, 60, Script.CYRILLIC)

    assert (merged.text, round(merged.sure, 2)) == (said, sure)
