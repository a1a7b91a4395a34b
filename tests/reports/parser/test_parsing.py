"""The whole parser: refusals, sameness, provenance, confidence."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from PIL import Image

from reports.parser.pages import Page, Word
from reports.parser.parsing import parse_report, parse_report_pages
from reports.parser.report import (
    FailureReason,
    LoincMatchStatus,
    SampleType,
    UnreadableReport,
)
from tests.reports.parser.drawing import Drawn, Ink, draw, row

XS = (40, 220, 300, 380)
REPORT: list[list[Drawn] | str] = [
    "Patient Name: Robin SAMPLE",
    [Ink(40, "BIOCHEMISTRY, SERUM", bold=True)],
    row(XS, "Test", "Result", "Unit", "Reference range"),
    row(XS, "Sodium", "140", "mmol/L", "135 - 145"),
    row(XS, "Glucose", "131 H", "mg/dL", "70 - 100"),
]


def reason(path: Path) -> FailureReason:
    with pytest.raises(UnreadableReport) as refused:
        parse_report(path)
    return refused.value.reason


def test_the_same_bytes_give_the_same_answer(tmp_path: Path) -> None:
    path = draw(tmp_path / "a.pdf", REPORT)

    assert parse_report(path) == parse_report(path)


def test_each_part_of_a_row_has_its_place(tmp_path: Path) -> None:
    report = parse_report(draw(tmp_path / "a.pdf", REPORT))

    sodium = report.results[0].provenance
    for place, x in zip(
        (sodium.name, sodium.value, sodium.units, sodium.reference_range),
        XS,
        strict=True,
    ):
        assert place is not None
        assert place.page == 1
        assert len(place.polygon) == 4
        corner, across, below, _ = place.polygon
        assert corner.x == pytest.approx(x, abs=0.5)
        assert across.x > corner.x
        assert corner.y < 50 + 3 * 14 < below.y


def test_a_row_carries_panel_specimen_code_and_confidence(tmp_path: Path) -> None:
    report = parse_report(draw(tmp_path / "a.pdf", REPORT))

    sodium = report.results[0]
    assert report.pages == 1
    assert sodium.source_panel_name == "BIOCHEMISTRY, SERUM"
    assert sodium.sample_type is SampleType.BLOOD
    assert sodium.loinc_matches[0].loinc_code == "2951-2"
    assert sodium.loinc_match_status is LoincMatchStatus.AUTO_MATCH
    assert sodium.confidence.row is not None
    assert 0.8 < sodium.confidence.row <= 1


def test_thirty_pages_are_read_and_thirty_one_are_too_many(tmp_path: Path) -> None:
    thirty = draw(tmp_path / "30.pdf", REPORT, *[["page"]] * 29)
    more = draw(tmp_path / "31.pdf", REPORT, *[["page"]] * 30)

    assert parse_report(thirty).pages == 30
    assert reason(more) is FailureReason.TOO_MANY_PAGES


@pytest.mark.parametrize("name", ["photo.png", "scan.pdf"])
def test_a_picture_without_a_word_is_of_low_quality(name: str, tmp_path: Path) -> None:
    pytest.importorskip("rapidocr", reason="pictures need the OCR group")
    path = tmp_path / name
    Image.new("RGB", (60, 80), "white").save(path)

    assert reason(path) is FailureReason.LOW_QUALITY


def test_a_file_that_does_not_open_is_a_processing_error(tmp_path: Path) -> None:
    path = tmp_path / "broken.pdf"
    path.write_bytes(b"%PDF-1.7\nnothing more")

    assert reason(path) is FailureReason.PROCESSING_ERROR


def test_a_text_in_a_language_that_is_not_read_says_so(tmp_path: Path) -> None:
    lines = [
        "Der Patient wurde in der Klinik mit dem Verdacht auf eine Grippe aufgenommen",
        "und nach drei Tagen nicht ohne den Rat zu einer Kontrolle durch den Hausarzt",
        "wieder entlassen, das Fieber ist von selbst und ohne Mittel gesunken.",
    ]

    assert reason(draw(tmp_path / "a.pdf", lines)) is FailureReason.NOT_ENGLISH


def test_a_text_layer_of_glyph_numbers_is_of_low_quality() -> None:
    words = tuple(
        Word("\ue012\ue034\ue056", 40, 50 + 12 * n, 90, 60 + 12 * n, 9)
        for n in range(20)
    )

    with pytest.raises(UnreadableReport) as refused:
        parse_report_pages([Page(1, 595, 842, words, legible=False)])

    assert refused.value.reason is FailureReason.LOW_QUALITY


def test_nothing_of_a_report_reaches_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        parse_report(draw(tmp_path / "a.pdf", REPORT))

    assert caplog.text == ""


def test_a_file_that_is_no_paper_at_all_is_not_a_lab_report(tmp_path: Path) -> None:
    for name, content in (("notes.pdf", b"milk, bread"), ("empty.pdf", b"")):
        path = tmp_path / name
        path.write_bytes(content)

        assert reason(path) is FailureReason.INVALID_INPUT
