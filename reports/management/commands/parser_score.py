"""`manage.py parser_score [FOLDER]`: the parser's answers counted against the truth."""

from __future__ import annotations

import importlib
import importlib.util
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from reports.management.scorecard.kept_pages import rows_of_kept
from reports.management.scorecard.marking import add_marks
from reports.management.scorecard.scoring import (
    Parser,
    Scored,
    naive_rows,
    rows_or_reason,
    score_reports,
    spread_sample,
)
from reports.management.scorecard.table import calibration_lines, kind_lines
from reports.management.scorecard.truth import KINDS, BadTruth, read_folder

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
        "Score the report parser. FOLDER holds reports, each with its truth beside it"
        " (report.pdf, report.truth.json); without it the project's own synthetic"
        " corpus is drawn and scored: all text PDFs and a sample of pictures."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", nargs="?", type=Path, metavar="FOLDER")
        parser.add_argument(
            "--kind", action="append", choices=KINDS, help="repeatable; all by default"
        )
        parser.add_argument("--layout", default="", help="part of a layout's name")
        parser.add_argument("--limit", type=int, help="at most so many of a kind")
        parser.add_argument("--all", action="store_true", help="every picture as well")
        parser.add_argument(
            "--held-out", action="store_true", help="layouts the parser is not made on"
        )
        parser.add_argument("--seed", type=int, default=0, help="other values and wear")
        parser.add_argument("--errors", action="store_true", help="name every fault")
        parser.add_argument(
            "--naive", action="store_true", help="score one line pattern instead"
        )
        parser.add_argument("--keep", type=Path, help="folder that keeps what is drawn")
        parser.add_argument(
            "--pages",
            type=Path,
            help="folder that keeps the words read, for a next run",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        parser: Parser = naive_rows if options["naive"] else rows_or_reason
        if options["pages"] and not options["naive"]:
            parser = partial(rows_of_kept, options["pages"])
        every: list[Scored] = []
        with tempfile.TemporaryDirectory() as scratch:
            for kind in options["kind"] or KINDS:
                scored = list(
                    score_reports(self._reports(kind, Path(scratch), options), parser)
                )
                for line in kind_lines(kind, scored, errors=options["errors"]):
                    self.stdout.write(line)
                every += scored
        if not every:
            raise CommandError("No report of this kind and layout.")
        total = add_marks([one.marks for one in every])
        self.stdout.write(f"LOINC over all kinds {100 * total.rate('loinc'):.1f}")
        for line in calibration_lines(total):
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
        except BadTruth as wrong:
            raise CommandError(str(wrong)) from wrong
        wanted = [r for r in found if r.kind == kind and options["layout"] in r.layout]
        yield from wanted[:limit]

    def _drawn(
        self, kind: str, scratch: Path, limit: int | None, options: dict[str, Any]
    ) -> Iterator[TrueReport]:
        if importlib.util.find_spec("tests") is None:
            raise CommandError(
                "The synthetic corpus is part of the tests, which are not installed"
                " here. Name a FOLDER of reports with their truth."
            )
        if kind != "text" and importlib.util.find_spec("numpy") is None:
            self.stdout.write(f"{kind}: left out, as the ocr group is not installed")
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
