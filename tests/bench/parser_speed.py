"""Time and memory of the report parser, against taking the bare text of the same pages.

Run `python -m tests.bench.parser_speed [FILTER] [--rounds N]`. Rounds of ours and of
bare extraction take turns, so that a busy machine slows both; the ratio is a median.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pypdfium2

from reports.management.scorecard.scoring import rows_or_reason
from tests.reports.corpus import TrueReport, build_corpus


def parse_with_ours(path: Path) -> object:
    return rows_or_reason([path])


def extract_text(path: Path) -> int:
    """Take the text of every page, and say how many pages there are."""
    document = pypdfium2.PdfDocument(path)
    for page in document:
        text = page.get_textpage()
        text.get_text_range()
        text.close()
        page.close()
    pages = len(document)
    document.close()
    return pages


def seconds_of(run: Callable[[Path], object], path: Path) -> float:
    start = time.perf_counter()
    run(path)
    return time.perf_counter() - start


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(reports: Sequence[TrueReport], *, rounds: int) -> None:
    """Print pages, milliseconds a page of both, their ratio, and peak memory."""
    pages = {report.path: extract_text(report.path) for report in reports}
    before = peak_megabytes()
    start = time.perf_counter()
    parse_with_ours(reports[0].path)
    first = time.perf_counter() - start
    ours: list[float] = []
    ratios: list[float] = []
    for _ in range(rounds):
        for report in reports:
            bare = seconds_of(extract_text, report.path)
            own = seconds_of(parse_with_ours, report.path)
            ours.append(own / pages[report.path])
            ratios.append(own / bare)
    ours.sort()
    worst = ours[min(len(ours) - 1, int(len(ours) * 0.95))]
    print(f"reports {len(reports)}, pages {sum(pages.values())}, rounds {rounds}")
    print(f"first call, with loading    {1000 * first:9.1f} ms")
    print(f"ours, median per page       {1000 * statistics.median(ours):9.1f} ms")
    print(f"ours, 95th of 100 per page  {1000 * worst:9.1f} ms")
    print(f"ours / bare text, median    {statistics.median(ratios):9.1f}")
    print(f"peak memory                 {peak_megabytes():9.1f} MB")
    print(f"  of it before parsing      {before:9.1f} MB")


def main(arguments: list[str]) -> int:
    options = argparse.ArgumentParser(prog="tests.bench.parser_speed")
    options.add_argument("filter", nargs="?", default="")
    options.add_argument("--rounds", type=int, default=5)
    chosen = options.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        reports = build_corpus(Path(scratch), containing=chosen.filter)
        measure(reports, rounds=chosen.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
