"""A parser of one line pattern, to tell how hard a set of reports is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pypdfium2

from reports.parser.report import ParsedResult

_LINE = re.compile(
    r"^(?P<name>[A-Za-z][^\d<>:]*?(?:\d+)?[^\d<>:]*?)\s+"
    r"(?P<value>[<>]?\s?\d[\d.,]*|Negative|Positive|(?:Non )?Reactive|Nil|Absent)\s+"
    r"(?:[HLA*]\s+)?(?P<unit>[^\s\d<>\[(][^\s]*)?\s*"
    r"(?P<range>[\[(]?(?:\d[\d.,]*\s*[-–]\s*\d[\d.,]*|[<>]=?\s*\d[\d.,]*)[\])]?)?"
    r"(?:\s+[^\d]*)?$"
)


def parse_naively(path: Path) -> Sequence[ParsedResult]:
    """Match each line of a PDF's text layer; a picture gives nothing."""
    if path.suffix != ".pdf":
        return []
    document = pypdfium2.PdfDocument(path)
    lines = [
        line
        for page in document
        for line in page.get_textpage().get_text_range().splitlines()
    ]
    document.close()
    matches = filter(None, (_LINE.match(line.strip()) for line in lines))
    return [
        ParsedResult(
            test_name=match["name"],
            value=match["value"],
            units=match["unit"],
            reference_range=match["range"],
        )
        for match in matches
    ]
