"""Small PDFs for the parser's tests: text at places, nothing of a laboratory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reportlab.pdfgen.canvas import Canvas

from reports.parser.parsing import parse_report
from reports.parser.report import ParsedReport, ParsedResult

WIDTH, HEIGHT = 595, 842


@dataclass(frozen=True, slots=True)
class Ink:
    """Text at a place, in points from the top left; grey 0 is black."""

    x: float
    text: str
    y: float | None = None
    size: float = 9
    bold: bool = False
    grey: float = 0
    angle: float = 0


Drawn = str | tuple[float, str] | Ink


def draw(
    path: Path,
    *pages: Sequence[Sequence[Drawn] | str],
    lead: float = 14,
    font: str = "Helvetica",
) -> Path:
    """Draw pages of lines; a text alone stands at the left margin."""
    canvas = Canvas(str(path), pagesize=(WIDTH, HEIGHT), invariant=1)
    for page in pages:
        y = 50.0
        for line in page:
            for mark in [line] if isinstance(line, str) else line:
                _put(canvas, mark, y, font)
            y += lead
        canvas.showPage()
    canvas.save()
    return path


def row(xs: Sequence[float], *texts: str) -> list[Drawn]:
    """A line of cells at given places; an empty text is no cell."""
    return [(x, text) for x, text in zip(xs, texts, strict=False) if text]


def by_name(report: ParsedReport) -> dict[str, ParsedResult]:
    return {result.test_name: result for result in report.results}


def read(path: Path, *pages: Sequence[Sequence[Drawn] | str]) -> ParsedReport:
    return parse_report(draw(path / "report.pdf", *pages))


def printed(report: ParsedReport) -> list[tuple[str, str, str | None, str | None]]:
    """Name, value, units and range of each row."""
    return [(r.test_name, r.value, r.units, r.reference_range) for r in report.results]


def _put(canvas: Canvas, mark: Drawn, y: float, font: str) -> None:
    if isinstance(mark, str):
        mark = Ink(40, mark)
    elif isinstance(mark, tuple):
        mark = Ink(*mark)
    canvas.saveState()
    canvas.setFont(f"{font}-Bold" if mark.bold else font, mark.size)
    canvas.setFillGray(mark.grey)
    canvas.translate(mark.x, HEIGHT - (mark.y if mark.y is not None else y))
    if mark.angle:
        canvas.rotate(mark.angle)
    canvas.drawString(0, 0, mark.text)
    canvas.restoreState()
