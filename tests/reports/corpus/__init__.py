"""Synthetic lab reports with known truth, drawn in many layouts.

People and laboratories in them are fictional. `build_corpus` is the way in; a seed
other than 0 throws the plain numeric results anew, for a run on unseen values.
"""

from __future__ import annotations

from pathlib import Path

from tests.reports.corpus import layouts as _layouts  # noqa: F401 fills the registry
from tests.reports.corpus.registry import LAYOUTS, draw_layout
from tests.reports.corpus.truth import CorpusReport, TrueRow

__all__ = ["LAYOUTS", "CorpusReport", "TrueRow", "build_corpus"]


def build_corpus(
    folder: Path,
    *,
    containing: str = "",
    seed: int = 0,
    held_out: bool = False,
    kind: str = "text",
) -> list[CorpusReport]:
    """Draw each layout whose name contains a text into the folder, and its truth.

    Either the layouts the parser is made on or, with held_out, those it is not; as
    text PDFs or as pictures of them (`pictures.PICTURE_KINDS`).
    """
    folder.mkdir(parents=True, exist_ok=True)
    reports = [
        draw_layout(layout, folder / f"{name}.pdf", seed=seed)
        for name, layout in sorted(LAYOUTS.items())
        if containing in name and layout.held_out == held_out
    ]
    if kind == "text":
        return reports
    # numpy comes with the OCR group: text PDFs are drawn without it
    from tests.reports.corpus.pictures import take_picture

    return [take_picture(r, folder / kind, kind=kind, seed=seed) for r in reports]
