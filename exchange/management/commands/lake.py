"""`manage.py lake`: export closed months for analysts, show what there is, check it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError
from django.template.defaultfilters import pluralize
from django.utils import timezone

from exchange.operations.lake.erasure import is_lake_on
from exchange.operations.lake.exporting import export_lake, remove_lake
from exchange.operations.lake.verifying import verify_lake_files
from exchange.queries.lake import find_last_whole_run, list_lake_datasets
from portal.lib.errors import Unavailable
from portal.lib.storage.lake import describe_lake_place
from portal.lib.tenancy import across_tenants

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(BaseCommand):
    """Bring the lake up to date, as the worker does daily."""

    help = (
        "Export closed months as Parquet files to LAKE_DIR or LAKE_URL, as the worker"
        " does each day: only files whose data changed are written."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        choice = parser.add_mutually_exclusive_group()
        choice.add_argument(
            "--status", action="store_true", help="list what is exported, and when"
        )
        choice.add_argument(
            "--verify",
            action="store_true",
            help="read every file; exit 1 if one is missing or changed",
        )
        choice.add_argument(
            "--remove", action="store_true", help="delete all files of the lake"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Print what was done; exit 1 if the lake is off or anything is wrong."""
        with across_tenants(why="the lake has files of all tenants"):
            if options["status"]:
                self._show_status()
                return
            if not is_lake_on():
                raise CommandError("The lake is off: set LAKE_DIR or LAKE_URL.")
            try:
                if options["verify"]:
                    self._verify()
                elif options["remove"]:
                    self.stdout.write(f"{_count_files(remove_lake())} removed.")
                else:
                    self._export()
            except Unavailable as error:
                raise CommandError(error.message) from None

    def _export(self) -> None:
        run = export_lake(at=timezone.now())
        if run is None:
            raise CommandError("Another export is running.")
        self.stdout.write(
            f"{_count_files(run.written)} with {run.rows} rows written, {run.unchanged}"
            f" unchanged, {run.removed} removed."
        )
        if run.failed:
            raise CommandError(
                f"{_count_files(run.failed)} could not be written: `manage.py"
                " pack_samples --check` lists the days that are corrupt."
            )

    def _verify(self) -> None:
        faults = list(verify_lake_files())
        for fault in faults:
            self.stdout.write(f"{fault.what}: {fault.name}")
        if faults:
            raise CommandError(
                f"Not as exported: {_count_files(len(faults))}. The next run writes"
                " again what is missing or changed."
            )
        self.stdout.write("All files are as they were exported.")

    def _show_status(self) -> None:
        self.stdout.write(
            f"The lake is in {describe_lake_place()}."
            if is_lake_on()
            else "The lake is off."
        )
        for each in list_lake_datasets():
            self.stdout.write(
                f"{each.team_slug} {each.environment} {each.dataset}:"
                f" {each.first_month:%Y-%m} to {each.last_month:%Y-%m},"
                f" {_count_files(each.files)}, {each.rows} rows, {each.size} bytes,"
                f" exported {each.exported_at:%Y-%m-%d %H:%M} UTC"
            )
        run = find_last_whole_run()
        if run:
            self.stdout.write(
                f"Last complete run: {run.started_at:%Y-%m-%d %H:%M} UTC."
            )


def _count_files(number: int) -> str:
    return f"{number} file{pluralize(number)}"
