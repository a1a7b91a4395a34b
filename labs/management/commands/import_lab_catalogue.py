"""Import production's labs and markers from a folder of CSV files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from labs.operations.catalogue.catalogue_files import COLUMNS, read_catalogue_folder
from labs.operations.catalogue.import_catalogue import import_lab_catalogue
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from argparse import ArgumentParser

_FILES = " ".join(
    f"{name}.csv requires {', '.join(needed)}; optional: {', '.join(optional)}."
    for name, (needed, optional) in COLUMNS.items()
)


class Command(BaseCommand):
    """Imports a folder of CSV files; prints the faulty lines and exits 1 if any."""

    help = (
        "Import the labs, markers, expected results and order questions of production"
        f" from a folder of CSV files. {_FILES} Separate list items with |, and write"
        " answers as code=text. The IDs join lines of the files; stored rows keep their"
        " IDs and are matched by slug, by lab and provider_id, and by marker and"
        " provider_id. If any line has an error, nothing is imported."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="FOLDER")

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            with read_catalogue_folder(options["folder"]) as files:
                done = import_lab_catalogue(files=files)
        except DomainError as refusal:
            raise CommandError(refusal.message) from None
        except (OSError, UnicodeDecodeError) as fault:
            raise CommandError(
                f"Can't read the files: {type(fault).__name__}"
            ) from None
        self.stdout.write(
            f"Labs imported: {done.labs}. Markers: {done.markers}."
            f" Expected results: {done.results}."
        )
