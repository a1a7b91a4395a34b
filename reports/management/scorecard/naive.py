"""A one-line-at-a-time parser, to measure how hard a set of reports is.

What stands on one height is joined by single blanks and matched as name, value, unit
and range, or name, value, range and unit, with a flag on either side of the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from reports.parser.documents import read_document_pages
from reports.parser.pages import Page
from reports.parser.parsing import MAX_PAGES
from reports.parser.report import ParsedResult

_NUMBER = r"\d[\d.,]*"
_WORDS = r"Negative|Positive|(?:Non[- ]?)?Reactive|(?:Not )?Detected|Nil|Absent|Normal"
_FLAG = r"(?:\s+[(\[]?(?:HH?|LL?|A|High|Low|HIGH|LOW|[*+↑↓-])[)\]]?(?=\s|$))?"
_START = rf"^(?P<name>\S.*?){_FLAG}\s+(?P<value>[<>]?=?\s?{_NUMBER}|{_WORDS}){_FLAG}"
_UNIT = r"\s+(?P<unit>[^\s\d<>\[(|]\S{0,14}|10[\^*]?\S+)"
_RANGE = (
    rf"\s+(?P<range>[\[(]?(?:{_NUMBER}\s*(?:[-–]|to|a|à)\s*{_NUMBER}"
    rf"|(?:[<>≤≥]=?|[Uu]p ?to|bis|até|hasta)\s*{_NUMBER}|{_WORDS})[\])]?)"
)
_PATTERNS = [
    re.compile(_START + rest)
    for rest in (
        rf"{_UNIT}{_RANGE}(?:\s.*)?$",
        rf"{_RANGE}{_UNIT}(?:\s.*)?$",
        rf"{_RANGE}(?:\s.*)?$",
        rf"{_UNIT}$",
    )
]
_LONGEST_NAME = 50
# Words whose middles are closer than this share of their size stand on one line.
_SAME_HEIGHT = 0.35


def parse_naively(path: Path) -> list[ParsedResult]:
    """Match each line of a PDF's text layer; a picture gives nothing."""
    if path.suffix != ".pdf":
        return []
    pages = read_document_pages([path], at_most=MAX_PAGES)
    return [row for page in pages for line in _lines(page) if (row := _row(line))]


def _lines(page: Page) -> Iterator[str]:
    line: list[tuple[float, str]] = []
    height = None
    for word in sorted(page.words, key=lambda word: word.middle):
        if height is None or word.middle - height >= _SAME_HEIGHT * word.size:
            yield " ".join(text for _, text in sorted(line))
            line, height = [], word.middle
        line.append((word.x0, word.text))
    yield " ".join(text for _, text in sorted(line))


def _row(line: str) -> ParsedResult | None:
    for pattern in _PATTERNS:
        match = pattern.match(line)
        if match and len(match["name"]) < _LONGEST_NAME:
            parts = match.groupdict()
            return ParsedResult(
                test_name=match["name"].strip(" :.*"),
                value=match["value"],
                units=parts.get("unit"),
                reference_range=parts.get("range"),
            )
    return None
