"""`manage.py parse_report FILE...`: the parser alone, no database, no server."""

from __future__ import annotations

import dataclasses
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from django.core.management.base import BaseCommand

from reports.operations.reports import result_rows
from reports.parser import UnreadableReport, parse_report
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

    def handle(self, *args: Any, **options: Any) -> None:
        paths: list[Path] = options["file"]
        times = Counter(path.name for path in paths)
        found: dict[str, ParsedLabReportData] = {}
        for path in paths:
            name = path.name if times[path.name] == 1 else str(path)
            try:
                found[name] = _read(path)
            except UnreadableReport as refusal:
                self._refuse(name, refusal.reason, several=len(paths) > 1)
            except OSError:
                self._refuse(name, "file_not_found", several=len(paths) > 1)
        several = len(paths) > 1
        if found:
            answer = found if several else next(iter(found.values()))
            self.stdout.write(orjson.dumps(answer, option=orjson.OPT_INDENT_2).decode())
        elif several:
            self.stdout.write("{}")
        if len(found) < len(paths):
            sys.exit(1)

    def _refuse(self, name: str, reason: str, *, several: bool) -> None:
        self.stderr.write(f"{name}: {reason}" if several else reason)


def _read(path: Path) -> ParsedLabReportData:
    report = parse_report(path)
    return report_data(dataclasses.asdict(report.metadata), result_rows(report))
