"""Time and memory of the report parser, against the bare libraries on the same pages.

Run `python -m tests.bench.reports.parser_speed [FILTER] [--rounds N] [--scans]`. Text
pages are set against taking the bare text, scanned pages (--scans) against the bare OCR
engine on the same 200 dpi picture, one thread, classifier off. Rounds of ours and of
the bare library take turns; what is counted is processor time, and the ratio is a
median.
"""

from __future__ import annotations

import argparse
import contextlib
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pypdfium2

from reports.management.scorecard.scoring import parse_rows
from reports.operations.reading.extraction import parse_stored_report_files
from reports.parser.report import UnreadableReport
from tests.reports.corpus import TrueReport, build_corpus

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SCAN_DPI = 200


def parse_with_ours(path: Path) -> object:
    return parse_rows([path])


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
    start = time.process_time()
    run(path)
    return time.process_time() - start


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


def scan_report(report: TrueReport) -> Path:
    """The report's first page as a PDF that is one picture."""
    page = pypdfium2.PdfDocument(report.path)[0]
    picture = page.render(scale=SCAN_DPI / 72).to_pil().convert("L")
    path = report.path.with_suffix(".scan.pdf")
    picture.save(path, "PDF", resolution=SCAN_DPI)
    return path


def bare_engine() -> Callable[[Path], object]:
    """The engine as its authors ship it, on a page's picture."""
    from rapidocr import RapidOCR

    engine = RapidOCR(
        params={
            "Global.use_cls": False,
            "Global.log_level": "critical",
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )

    def read(path: Path) -> object:
        page = pypdfium2.PdfDocument(path)[0]
        return engine(page.render(scale=SCAN_DPI / 72).to_numpy())

    return read


def measure_scans(reports: Sequence[TrueReport], *, rounds: int) -> None:
    """Print seconds a page of both, their ratio, and memory of a parsing process."""
    scans = [scan_report(report) for report in reports]
    # First, for a child's count starts with what its parent has.
    for scan in scans:
        with contextlib.suppress(UnreadableReport):
            parse_stored_report_files(scan)
    child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    bare = bare_engine()
    for run in (bare, parse_with_ours):  # load both
        run(scans[0])
    limits: list[float] = []
    ours: list[float] = []
    for _ in range(rounds):
        for scan in scans:
            limits.append(seconds_of(bare, scan))
            ours.append(seconds_of(parse_with_ours, scan))
    ratios = [own / limit for own, limit in zip(ours, limits, strict=True)]
    print(f"scanned pages {len(scans)}, rounds {rounds}")
    print(f"bare engine, median per page {statistics.median(limits):8.2f} s")
    print(f"ours, median per page        {statistics.median(ours):8.2f} s")
    print(f"ours / bare engine, median   {statistics.median(ratios):8.2f}")
    print(f"  worst                      {max(ratios):8.2f}")
    print(f"a parsing process, at most   {child:8.1f} MB")


def main(arguments: list[str]) -> int:
    options = argparse.ArgumentParser(prog="tests.bench.reports.parser_speed")
    options.add_argument("filter", nargs="?", default="")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--scans", action="store_true")
    chosen = options.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        reports = build_corpus(Path(scratch), containing=chosen.filter)
        if chosen.scans:
            measure_scans(reports, rounds=chosen.rounds)
        else:
            measure(reports, rounds=chosen.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
