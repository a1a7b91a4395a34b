"""Accuracy of the report parser over the synthetic corpus, by layout and in all.

Run `python -m tests.bench.parser_accuracy [FILTER] [--errors] [--seed N] [--naive]`;
`--held-out` takes the layouts the parser is not made on.
The naive baseline is one line pattern over the text layer: it tells how hard the
corpus is. A seed other than 0 throws the numeric values anew.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pypdfium2

from reports.parser.report import ParsedResult, UnreadableReport
from tests.reports.corpus import CorpusReport, build_corpus
from tests.reports.corpus.marking import PARTS, Marks, add_marks, mark_report

Parser = Callable[[Path], Sequence[ParsedResult]]

_LINE = re.compile(
    r"^(?P<name>[A-Za-z][^\d<>:]*?(?:\d+)?[^\d<>:]*?)\s+"
    r"(?P<value>[<>]?\s?\d[\d.,]*|Negative|Positive|(?:Non )?Reactive|Nil|Absent)\s+"
    r"(?:[HLA*]\s+)?(?P<unit>[^\s\d<>\[(][^\s]*)?\s*"
    r"(?P<range>[\[(]?(?:\d[\d.,]*\s*[-–]\s*\d[\d.,]*|[<>]=?\s*\d[\d.,]*)[\])]?)?"
    r"(?:\s+[^\d]*)?$"
)


def parse_with_ours(path: Path) -> Sequence[ParsedResult]:
    from reports.parser import parse_report

    try:
        return parse_report(path).results
    except UnreadableReport:
        return ()


def parse_naively(path: Path) -> Sequence[ParsedResult]:
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


def mark_corpus(reports: Sequence[CorpusReport], parser: Parser) -> dict[str, Marks]:
    """Marks by layout name."""
    return {r.layout: mark_report(r, parser(r.path)) for r in reports}


def print_table(marks: dict[str, Marks], *, errors: bool) -> None:
    shown = dict(sorted(marks.items(), key=lambda item: item[1].rate("strict")))
    heads = "".join(f"{part[:7]:>8}" for part in PARTS)
    print(f"{'layout':<34}{heads}{'rows':>6}")
    for name, mark in shown.items():
        print(_line(name, mark))
        for fault in mark.faults if errors else ():
            print(f"      {fault}")
    total = add_marks(list(marks.values()))
    print(_line("ALL", total))
    print(f"wrong codes matched without review: {total.wrong_codes}")


def main(arguments: list[str]) -> int:
    options = argparse.ArgumentParser(prog="tests.bench.parser_accuracy")
    options.add_argument("filter", nargs="?", default="")
    options.add_argument("--errors", action="store_true")
    options.add_argument("--naive", action="store_true")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--held-out", action="store_true", help="only those held out")
    options.add_argument("--keep", type=Path, help="folder that keeps the PDFs")
    chosen = options.parse_args(arguments)
    parser = parse_naively if chosen.naive else parse_with_ours
    with tempfile.TemporaryDirectory() as scratch:
        reports = build_corpus(
            chosen.keep or Path(scratch),
            containing=chosen.filter,
            seed=chosen.seed,
            held_out=chosen.held_out,
        )
        print_table(mark_corpus(reports, parser), errors=chosen.errors)
    return 0


def _line(name: str, marks: Marks) -> str:
    cells = "".join(
        f"{100 * marks.rate(part):>8.1f}" if marks.parts[part].asked else f"{'-':>8}"
        for part in PARTS
    )
    return f"{name:<34}{cells}{marks.parts['recall'].asked:>6}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
