"""Reports drawn as web pages, each after the parser that first read it.

Where the corpus proves what was mended, these ask what an unknown report gets: the
figure of the first sight is the one to quote. Those named e1 and e2 were drawn without
knowing how the parser works, the others by who then mended it.
A design is one file: a page that Chromium prints, and what it says in a script element
`truth` of the shape of `report.truth.json` (docs/explanation/accuracy.md). People and
laboratories in them are fictional.

`python -m tests.reports.designs FOLDER [PART_OF_NAME ...] [--kind KIND]` prints them
and their truth into a folder that `manage.py parser_score FOLDER` scores.
"""

from __future__ import annotations

from pathlib import Path

PAGES = Path(__file__).with_name("pages")


def design_paths(*parts: str) -> list[Path]:
    """Designs whose name contains any of the parts, or every one."""
    every = sorted(PAGES.glob("*.html"))
    return [p for p in every if not parts or any(part in p.stem for part in parts)]
