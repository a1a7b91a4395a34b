"""Writes the two committed sample reports.

Run `python -m tests.reports.corpus.sample_files` after a change of their layout.
"""

from __future__ import annotations

from pathlib import Path

from tests.reports.corpus import LAYOUTS
from tests.reports.corpus.registry import draw_layout

FOLDER = Path(__file__).with_name("samples")
NAMES = ("sample-metabolic", "sample-cbc")


def write_samples(folder: Path) -> list[Path]:
    """Draw the samples into a folder; the same bytes every time."""
    folder.mkdir(parents=True, exist_ok=True)
    return [draw_layout(LAYOUTS[name], folder / f"{name}.pdf").path for name in NAMES]


if __name__ == "__main__":
    write_samples(FOLDER)
