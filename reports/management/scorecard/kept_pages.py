"""Pages as they were read, kept between runs, as reading a picture takes seconds.

Only for scoring over and over while rows and meaning are worked on: what is kept is
read again when the file, or any code that reads pictures, is another.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from reports import parser
from reports.management.scorecard.scoring import Answer
from reports.parser.documents import read_document_pages
from reports.parser.pages import Page
from reports.parser.parsing import MAX_PAGES, parse_report_pages
from reports.parser.report import UnreadableReport

_CODE = Path(parser.__file__).parent
_READERS = (
    "documents.py",
    "pages.py",
    "text/spelling.py",
    "layout/*.py",
    "pictures/*.py",
)


def parse_with_cached_pages(folder: Path, paths: Sequence[Path]) -> Answer:
    """What our parser finds, its pages taken from the folder or put there."""
    try:
        return parse_report_pages(_pages(folder, paths)).results, None
    except UnreadableReport as refused:
        return (), refused.reason.value


def _pages(folder: Path, paths: Sequence[Path]) -> tuple[Page, ...]:
    digest = hashlib.sha256(_code_digest())
    for path in paths:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    kept = folder / f"{digest.hexdigest()}.pages"
    if kept.is_file():
        # written by the line below, on this machine, by whoever runs this command
        pages: tuple[Page, ...] = pickle.loads(kept.read_bytes())  # noqa: S301
        return pages
    pages = read_document_pages(paths, at_most=MAX_PAGES)
    folder.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(pickle.dumps(pages))
    return pages


@cache
def _code_digest() -> bytes:
    digest = hashlib.sha256()
    for pattern in _READERS:
        for module in sorted(_CODE.glob(pattern)):
            digest.update(module.read_bytes())
    return digest.digest()
