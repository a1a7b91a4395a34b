"""Writes the two committed sample reports, which demo shows and browser tests upload.

Run `python -m tests.reports.corpus.sample_files` after a change of their layout.
"""

from __future__ import annotations

from pathlib import Path

from portal import demo
from tests.reports.corpus import LAYOUTS
from tests.reports.corpus.registry import draw_layout

FOLDER = Path(demo.__file__).with_name("reports")
NAMES = {"sample-metabolic": "metabolic-panel.pdf", "sample-cbc": "blood-count.pdf"}


def write_samples(folder: Path) -> list[Path]:
    """Draw the samples into a folder; the same bytes every time."""
    folder.mkdir(parents=True, exist_ok=True)
    return [
        draw_layout(LAYOUTS[layout], folder / name).path
        for layout, name in NAMES.items()
    ]


if __name__ == "__main__":
    write_samples(FOLDER)
