"""`manage.py parse_report FILE...`: the parser alone, no database, no server."""

from __future__ import annotations

import dataclasses
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from django.core.management.base import BaseCommand

from reports.operations.loinc import loinc_folder
from reports.operations.parsed_rows import result_rows
from reports.parser import (
    NoPictureReader,
    UnreadableReport,
    parse_report,
    widen_matches,
)
from reports.payloads import report_data

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from reports.payloads import ParsedLabReportData


class Command(BaseCommand):
    """Prints what contract 7.4 calls `data`; exits 1 if a file can't be read."""

    help = (
        "Parse lab reports and print their values as JSON; several are keyed by file"
        " name. What can't be read is named on stderr by its reason."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", nargs="+", type=Path, metavar="FILE")
        parser.add_argument(
            "--pages",
            action="store_true",
            help="the files are pictures of one report's pages, in order",
        )
        parser.add_argument(
            "--threads",
            type=int,
            default=1,
            help="how many the reading of a picture may use (1)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        paths: list[Path] = options["file"]
        times = Counter(path.name for path in paths)
        asked: dict[str, list[Path]] = {
            path.name if times[path.name] == 1 else str(path): [path] for path in paths
        }
        if options["pages"]:
            asked = {paths[0].name: paths}
        several = len(asked) > 1
        found: dict[str, ParsedLabReportData] = {}
        for name, files in asked.items():
            try:
                found[name] = _read(files, threads=options["threads"])
            except NoPictureReader:
                self.stderr.write("pictures can't be read: install the group ocr")
                self._refuse(name, "processing_error", several=several)
            except UnreadableReport as refusal:
                self._refuse(name, refusal.reason, several=several)
            except OSError:
                self._refuse(name, "file_not_found", several=several)
        if found:
            answer = found if several else next(iter(found.values()))
            self.stdout.write(orjson.dumps(answer, option=orjson.OPT_INDENT_2).decode())
        elif several:
            self.stdout.write("{}")
        if len(found) < len(asked):
            sys.exit(1)

    def _refuse(self, name: str, reason: str, *, several: bool) -> None:
        self.stderr.write(f"{name}: {reason}" if several else reason)


def _read(paths: list[Path], *, threads: int) -> ParsedLabReportData:
    report = parse_report(paths, threads=threads)
    report = widen_matches(report, release=loinc_folder())
    return report_data(dataclasses.asdict(report.metadata), result_rows(report))
