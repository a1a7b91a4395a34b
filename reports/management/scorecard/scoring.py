"""Runs the parser over reports with known truth and collects the marks.

Nothing here draws a report or prints a table.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from reports.management.scorecard.marking import Marks, add_marks, mark_report
from reports.management.scorecard.naive import parse_naively
from reports.management.scorecard.truth import TrueReport
from reports.parser.parsing import parse_report
from reports.parser.report import ParsedResult, UnreadableReport

Answer = tuple[Sequence[ParsedResult], str | None]
Parser = Callable[[Sequence[Path]], Answer]


@dataclass(frozen=True, slots=True)
class Scored:
    """A report and its marks; refusal is the reason where the parser gave none."""

    report: TrueReport
    marks: Marks
    refusal: str | None


def parse_rows(paths: Sequence[Path]) -> Answer:
    """What our parser finds in a report, or why it finds nothing."""
    try:
        return parse_report(list(paths)).results, None
    except UnreadableReport as refused:
        return (), refused.reason.value


def naive_rows(paths: Sequence[Path]) -> Answer:
    """What one line pattern finds."""
    return [row for path in paths for row in parse_naively(path)], None


def score_reports(
    reports: Iterable[TrueReport], parser: Parser = parse_rows
) -> Iterator[Scored]:
    """Mark one report after the other, as pictures take seconds each."""
    for report in reports:
        rows, refusal = parser(report.paths)
        yield Scored(report, mark_report(report, rows), refusal)


def marks_by_layout(scored: Iterable[Scored]) -> dict[str, Marks]:
    """Marks of all files of a layout together."""
    several: dict[str, list[Marks]] = defaultdict(list)
    for one in scored:
        several[one.report.layout].append(one.marks)
    return {layout: add_marks(marks) for layout, marks in sorted(several.items())}


def spread_sample(names: Iterable[str], *, limit: int, salt: str) -> list[str]:
    """So many of the names, the same each time, in no order that a name decides."""
    shuffled = sorted(names, key=lambda name: zlib.crc32(f"{salt}:{name}".encode()))
    return sorted(shuffled[:limit])
