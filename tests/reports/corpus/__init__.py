"""Synthetic lab reports with known truth, drawn in many layouts.

People and laboratories in them are fictional. `build_corpus` is the way in; a seed
other than 0 throws the plain numeric results anew, for a run on unseen values.
"""

from __future__ import annotations

from pathlib import Path

from reports.management.scorecard.truth import TrueReport, TrueRow
from tests.reports.corpus import layouts as _layouts  # noqa: F401 fills the registry
from tests.reports.corpus.registry import LAYOUTS, draw_layout

__all__ = [
    "LAYOUTS",
    "TrueReport",
    "TrueRow",
    "build_corpus",
    "draw_report",
    "layout_names",
]


def layout_names(
    *, containing: str = "", held_out: bool = False, kind: str = "text"
) -> list[str]:
    """Layouts the parser is made on or, held out, not; by part of their name.

    One whose text layer is unusable is no text PDF.
    """
    return [
        name
        for name, layout in sorted(LAYOUTS.items())
        if containing in name
        and layout.held_out == held_out
        and (layout.has_text or kind != "text")
    ]


def draw_report(
    folder: Path, name: str, *, kind: str = "text", seed: int = 0
) -> TrueReport:
    """Draw a layout into the folder and tell its truth.

    As a text PDF or as a picture of it (`pictures.PICTURE_KINDS`).
    """
    folder.mkdir(parents=True, exist_ok=True)
    report = draw_layout(LAYOUTS[name], folder / f"{name}.pdf", seed=seed)
    if kind == report.kind:
        return report
    # numpy comes with the OCR group: text PDFs are drawn without it
    from tests.reports.corpus.pictures import take_picture

    return take_picture(report, folder / kind, kind=kind, seed=seed)


def build_corpus(
    folder: Path,
    *,
    containing: str = "",
    seed: int = 0,
    held_out: bool = False,
    kind: str = "text",
) -> list[TrueReport]:
    """Every layout whose name contains a text, drawn into the folder."""
    return [
        draw_report(folder, name, kind=kind, seed=seed)
        for name in layout_names(containing=containing, held_out=held_out, kind=kind)
    ]
