"""`manage.py parser_score [FOLDER]`: the parser's answers counted against the truth."""

from __future__ import annotations

import importlib
import importlib.util
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from reports.management.scorecard.kept_pages import parse_with_cached_pages
from reports.management.scorecard.marking import add_marks
from reports.management.scorecard.scoring import (
    Parser,
    Scored,
    naive_rows,
    parse_rows,
    score_reports,
    spread_sample,
)
from reports.management.scorecard.table import (
    format_calibration_lines,
    format_kind_lines,
)
from reports.management.scorecard.truth import KINDS, InvalidTruth, read_folder

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Iterator

    from reports.management.scorecard.truth import TrueReport

# Reading a picture takes seconds of a processor: a sample keeps the default run short.
PICTURES_OF_A_KIND = 4
# Named, not imported: production may not import tests, and an image without them
# still scores a folder of its own reports.
CORPUS = "tests.reports.corpus"


class Command(BaseCommand):
    """Prints shares in per cent; what each means stands in scorecard/marking.py."""

    help = (
        "Score the report parser. FOLDER has reports, each with its truth file beside"
        " it (report.pdf, report.truth.json). Without FOLDER, the synthetic corpus is"
        " rendered and scored: all text PDFs and a sample of images."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", nargs="?", type=Path, metavar="FOLDER")
        parser.add_argument(
            "--kind",
            action="append",
            choices=KINDS,
            help="kind of file; can be repeated (default: all)",
        )
        parser.add_argument(
            "--layout", default="", help="only layouts whose name contains this"
        )
        parser.add_argument(
            "--limit", type=int, help="score at most this many of a kind"
        )
        parser.add_argument("--all", action="store_true", help="score all images")
        parser.add_argument(
            "--held-out", action="store_true", help="score the held-out layouts"
        )
        parser.add_argument(
            "--seed", type=int, default=0, help="seed for values and image wear"
        )
        parser.add_argument("--errors", action="store_true", help="print every error")
        parser.add_argument(
            "--naive", action="store_true", help="score a single line pattern instead"
        )
        parser.add_argument(
            "--keep", type=Path, help="save rendered files to this folder"
        )
        parser.add_argument(
            "--pages",
            type=Path,
            help="cache the words read in this folder for the next run",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        parser: Parser = naive_rows if options["naive"] else parse_rows
        if options["pages"] and not options["naive"]:
            parser = partial(parse_with_cached_pages, options["pages"])
        every: list[Scored] = []
        with tempfile.TemporaryDirectory() as scratch:
            for kind in options["kind"] or KINDS:
                scored = list(
                    score_reports(self._reports(kind, Path(scratch), options), parser)
                )
                for line in format_kind_lines(kind, scored, errors=options["errors"]):
                    self.stdout.write(line)
                every += scored
        if not every:
            raise CommandError("No reports match this kind and layout.")
        total = add_marks([one.marks for one in every])
        self.stdout.write(f"LOINC over all kinds {100 * total.rate('loinc'):.1f}")
        for line in format_calibration_lines(total):
            self.stdout.write(line)

    def _reports(
        self, kind: str, scratch: Path, options: dict[str, Any]
    ) -> Iterator[TrueReport]:
        folder, limit = options["folder"], options["limit"]
        if folder is None:
            if limit is None and kind != "text" and not options["all"]:
                limit = PICTURES_OF_A_KIND
            yield from self._drawn(kind, scratch, limit, options)
            return
        try:
            found = read_folder(folder)
        except InvalidTruth as wrong:
            raise CommandError(str(wrong)) from wrong
        items = [r for r in found if r.kind == kind and options["layout"] in r.layout]
        yield from items[:limit]

    def _drawn(
        self, kind: str, scratch: Path, limit: int | None, options: dict[str, Any]
    ) -> Iterator[TrueReport]:
        if importlib.util.find_spec("tests") is None:
            raise CommandError(
                "The synthetic corpus needs the tests, which are not installed."
                " Pass a FOLDER of reports with truth files."
            )
        if kind != "text" and importlib.util.find_spec("numpy") is None:
            self.stdout.write(
                f"{kind}: skipped, the dependency group ocr is not installed"
            )
            return
        corpus = importlib.import_module(CORPUS)
        names = corpus.layout_names(
            containing=options["layout"], held_out=options["held_out"], kind=kind
        )
        if limit is not None:
            names = spread_sample(names, limit=limit, salt=kind)
        into = options["keep"] or scratch
        for name in names:
            yield corpus.draw_report(into, name, kind=kind, seed=options["seed"])
