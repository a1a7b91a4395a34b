"""Export an environment's labs and markers to a folder of CSV files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from accounts.states import Environment
from labs.models import Lab
from labs.operations.catalogue.catalogue_export import (
    export_lab_catalogue,
    export_lab_catalogue_messages,
)

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    """Writes the files that import_lab_catalogue reads; replaces none."""

    help = (
        "Export labs, markers, expected results and order questions to a folder of CSV"
        " files, as import_lab_catalogue reads them. Files that are there already are"
        " not replaced. Texts that begin like a formula have an apostrophe before them,"
        " which the import takes off."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="FOLDER")
        parser.add_argument(
            "--lab", action="append", metavar="SLUG", help="this lab only; repeat it"
        )
        parser.add_argument(
            "--environment",
            choices=Environment.values,
            default=Environment.PRODUCTION.value,
        )

        parser.add_argument(
            "--hl7",
            action="store_true",
            help="write MFN^M08 and MFN^M10 messages to catalog.hl7 instead",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        labs = Lab.objects.filter(environment=options["environment"], owner=None)
        slugs = set(options["lab"] or [])
        if slugs:
            labs = labs.filter(slug__in=slugs)
        if missing := slugs - set(labs.values_list("slug", flat=True)):
            raise CommandError(f"No such lab: {', '.join(sorted(missing))}.")
        folder: Path = options["folder"]
        if options["hl7"]:
            content = export_lab_catalogue_messages(labs=labs, at=timezone.now())
            paths = {folder / "catalog.hl7": content}
        else:
            files = export_lab_catalogue(labs=labs)
            paths = {folder / f"{name}.csv": text for name, text in files.items()}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if there := sorted(path.name for path in paths if path.exists()):
                raise CommandError(f"Already there: {', '.join(there)}.")
            for path, content in paths.items():
                path.write_bytes(content)
        except OSError as fault:
            raise CommandError(
                f"Can't write the files: {type(fault).__name__}"
            ) from None
        self.stdout.write(f"Exported {labs.count()} labs to {folder}.")
