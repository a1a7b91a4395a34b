"""Text without ink, and text under a picture that says something else."""

from __future__ import annotations

from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from reports.parser.hidden_text import find_hidden_text
from reports.parser.parsing import parse_report
from reports.parser.report import Note, NoteCode, RowState

ROWS = (
    ("Glucose", "92", "mg/dL", "70 - 99"),
    ("Sodium", "140", "mmol/L", "135 - 145"),
    ("Potassium", "4.2", "mmol/L", "3.5 - 5.1"),
)
HEIGHT = 842


def draw_report(path: Path, trick: str) -> Path:
    """A report with one trick: what of it the page does not show."""
    canvas = Canvas(str(path), pagesize=(595, HEIGHT), invariant=1)
    canvas.setFont("Helvetica", 9)

    def put(x: float, y: float, text: str, *, is_hidden: bool = False) -> None:
        words = canvas.beginText(x, HEIGHT - y)
        if is_hidden and trick == "white":
            words.setFillGray(1)
        words.setTextRenderMode(3 if is_hidden and trick == "invisible" else 0)
        words.textOut(text)
        canvas.drawText(words)
        canvas.setFillGray(0)
        if is_hidden and trick in {"covered", "redacted"}:
            canvas.setFillGray(1 if trick == "covered" else 0)
            canvas.rect(x - 3, HEIGHT - y - 3, 120, 14, stroke=0, fill=1)
            canvas.setFillGray(0)

    put(40, 50, "Example Laboratory")
    put(40, 70, "Patient Name:")
    put(110, 70, "Rosa Beispiel", is_hidden=trick in {"covered", "redacted"})
    put(40, 84, "Collected: 2026-03-02")
    for x, title in zip(
        (40, 200, 300, 400), ("Test", "Result", "Units", "Reference Range"), strict=True
    ):
        put(x, 110, title)
    for number, row in enumerate(ROWS):
        for x, text in zip((40, 200, 300, 400), row, strict=True):
            is_last = number == len(ROWS) - 1 and trick in {"white", "invisible"}
            put(x, 130 + 16 * number, text, is_hidden=is_last)
    canvas.save()
    return path


@pytest.mark.parametrize(
    ("trick", "rows"),
    [("white", (2,)), ("invisible", (2,)), ("covered", ()), ("redacted", ())],
)
def test_text_that_the_page_does_not_show_is_found(
    tmp_path: Path, trick: str, rows: tuple[int, ...]
) -> None:
    path = draw_report(tmp_path / "report.pdf", trick)
    report = parse_report(path)

    assert len(report.results) == 3
    assert find_hidden_text([path], report) == (
        Note(NoteCode.HIDDEN_TEXT, RowState.LOOK, rows),
    )


def test_a_plain_report_hides_nothing(tmp_path: Path) -> None:
    path = draw_report(tmp_path / "report.pdf", "")

    assert find_hidden_text([path], parse_report(path)) == ()
