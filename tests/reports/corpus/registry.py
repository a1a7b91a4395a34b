"""The list of layouts, filled by a decorator, and the drawing of one into a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from reportlab.lib.pagesizes import A4

from reports.management.scorecard.truth import TrueReport
from tests.reports.corpus.sheet import Sheet

Draw = Callable[[Sheet], None]


@dataclass(frozen=True, slots=True)
class Layout:
    name: str
    draw: Draw
    page_size: tuple[float, float]
    font: str
    size: float
    is_lab_report: bool
    turned: bool
    held_out: bool = False
    has_text: bool = True


LAYOUTS: dict[str, Layout] = {}


def layout(
    name: str,
    *,
    page_size: tuple[float, float] = A4,
    font: str = "Helvetica",
    size: float = 9,
    is_lab_report: bool = True,
    turned: bool = False,
    held_out: bool = False,
    has_text: bool = True,
) -> Callable[[Draw], Draw]:
    """Enter a layout.

    One held out examines a parser not made on it: no floor counts it. One without text
    has a text layer that says nothing, so that only its picture can be read.
    """

    def register(draw: Draw) -> Draw:
        if name in LAYOUTS:
            raise ValueError(f"layout {name} is there twice")
        LAYOUTS[name] = Layout(
            name,
            draw,
            page_size,
            font,
            size,
            is_lab_report,
            turned,
            held_out,
            has_text,
        )
        return draw

    return register


def draw_layout(layout: Layout, path: Path, *, seed: int = 0) -> TrueReport:
    """Draw a report of several pages twice, as the first pass tells how many."""
    sheet = _drawn(layout, path, seed=seed, pages_total=1)
    if sheet.page > 1:
        sheet = _drawn(layout, path, seed=seed, pages_total=sheet.page)
    return TrueReport(
        path=path,
        kind="text" if layout.has_text else "scan",
        layout=layout.name,
        rows=tuple(sheet.rows),
        is_lab_report=layout.is_lab_report,
    )


def _drawn(layout: Layout, path: Path, *, seed: int, pages_total: int) -> Sheet:
    sheet = Sheet(
        path=path,
        layout=layout.name,
        seed=seed,
        page_size=layout.page_size,
        font=layout.font,
        size=layout.size,
        turned=layout.turned,
    )
    sheet.pages_total = pages_total
    layout.draw(sheet)
    sheet.save()
    return sheet
