"""`manage.py parse_report FILE...`: the parser in a bounded process, no database."""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
import resource
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from django.core.management.base import BaseCommand

from reports.operations.reading import child_program
from reports.operations.reading.loinc_table import get_imported_loinc_folder
from reports.operations.reading.parsed_rows import build_unsaved_result_rows
from reports.parser.documents import NoPictureReader
from reports.parser.loinc.decision import decide_loinc_codes
from reports.parser.parsing import parse_report
from reports.parser.report import FailureReason, UnreadableReport
from reports.payloads import build_report_data

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Iterator, Mapping

    from reports.payloads import ParsedLabReportData


class Command(BaseCommand):
    """Prints what contract 7.4 calls `data`; exits 1 if a file can't be read."""

    help = (
        "Parse lab reports and print their values as JSON, keyed by file name if there"
        " are several. The reason for a file that can't be read goes to stderr."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", nargs="+", type=Path, metavar="FILE")
        parser.add_argument(
            "--pages",
            action="store_true",
            help="treat the files as images of one report's pages, in order",
        )
        parser.add_argument(
            "--threads",
            type=int,
            default=1,
            help="threads per image (default: 1)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        paths: list[Path] = options["file"]
        times = Counter(path.name for path in paths)
        reports: dict[str, list[Path]] = {
            path.name if times[path.name] == 1 else str(path): [path] for path in paths
        }
        if options["pages"]:
            reports = {paths[0].name: paths}
        several = len(reports) > 1
        found: dict[str, ParsedLabReportData] = {}
        for name, answer in _read_all(reports, threads=options["threads"]):
            if isinstance(answer, str):
                self._refuse(name, answer, several=several)
            else:
                found[name] = answer
        if found:
            printed = found if several else next(iter(found.values()))
            text = orjson.dumps(printed, option=orjson.OPT_INDENT_2).decode()
            self.stdout.write(text)
        elif several:
            self.stdout.write("{}")
        if len(found) < len(reports):
            sys.exit(1)

    def _refuse(self, name: str, reason: str, *, several: bool) -> None:
        self.stderr.write(f"{name}: {reason}" if several else reason)


def _read_all(
    fields: Mapping[str, list[Path]], *, threads: int
) -> Iterator[tuple[str, ParsedLabReportData | str]]:
    """What each report holds, or why it can't be read.

    One bounded process reads all of them; a file that ends it costs itself alone.
    """
    # A fork has loaded everything already.
    context = multiprocessing.get_context("fork")
    pool = None
    for name, paths in fields.items():
        pool = pool or ProcessPoolExecutor(1, context, _bind, (os.getpid(),))
        try:
            yield name, pool.submit(_read, paths, threads).result()
        except BrokenProcessPool:
            pool = None
            yield name, FailureReason.PROCESSING_ERROR
    if pool is not None:
        pool.shutdown()


def _bind(parent: int) -> None:  # pragma: no cover - in the process that reads
    child_program.limit_process_memory_and_cpu(
        parent, most_seconds=resource.RLIM_INFINITY, is_fork=True
    )


def _read(  # pragma: no cover - in the process that reads
    paths: list[Path], threads: int
) -> ParsedLabReportData | str:
    child_program.extend_cpu_limit_for_page()
    try:
        report = parse_report(
            paths, threads=threads, on_page=child_program.extend_cpu_limit_for_page
        )
    except NoPictureReader as refusal:
        sys.stderr.write("Images can't be read: install the dependency group ocr.\n")
        return refusal.reason
    except UnreadableReport as refusal:
        return refusal.reason
    except OSError:
        return "file_not_found"
    except Exception as error:  # noqa: BLE001 - told without its text
        sys.stderr.write(f"{child_program.get_error_type_and_code_line(error)}\n")
        return FailureReason.PROCESSING_ERROR
    results = decide_loinc_codes(
        report.results, release=get_imported_loinc_folder(), mappings={}
    )
    report = dataclasses.replace(report, results=results)
    return build_report_data(
        dataclasses.asdict(report.metadata), build_unsaved_result_rows(report)
    )
