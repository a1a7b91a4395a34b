"""Check and import production's labs and markers from a folder of CSV files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from labs.operations.catalogue.catalogue_rows import COLUMNS, read_catalogue_folder
from labs.operations.catalogue.import_catalogue import (
    apply_catalogue_update,
    check_catalogue_update,
    list_catalogue_changes,
)
from portal.lib.actor import Actor
from portal.lib.errors import DomainError
from portal.lib.tenancy import across_tenants

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from labs.models import CatalogueUpdate

_FILES = " ".join(
    f"{name}.csv requires {', '.join(needed)}; optional: {', '.join(optional)}."
    for name, (needed, optional) in COLUMNS.items()
)


class Command(BaseCommand):
    """Imports a folder of CSV files; prints the faulty lines and exits 1 if any."""

    help = (
        "Import the labs, markers, expected results and order questions of production"
        f" from a folder of CSV files. {_FILES} Separate list items with |, and write"
        " answers as code=text and stability as storage=hours. A result names its"
        " marker by lab and marker, or by marker_id. Stored rows keep their IDs and are"
        " matched by slug, by lab and provider_id, and by marker and provider_id. If"
        " any line has an error, nothing is imported. Orders keep what they were placed"
        " with. Each difference is printed. FOLDER may be a file of HL7 messages"
        " instead, MFN^M08 and MFN^M10, of labs that are stored."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="FOLDER")
        parser.add_argument(
            "--dry-run", action="store_true", help="print the differences only"
        )
        parser.add_argument(
            "--complete",
            action="store_true",
            help="retire the markers of these labs that the files lack",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        actor = Actor.system("import_lab_catalogue")
        try:
            contents = read_catalogue_folder(options["folder"])
            with across_tenants(why="the catalogue is shared by all teams"):
                update = check_catalogue_update(
                    contents=contents, actor=actor, is_complete=options["complete"]
                )
                self._print_changes(update)
                if options["dry_run"] or not update.changes:
                    update.delete()
                    self.stdout.write("Nothing was imported.")
                    return
                update = apply_catalogue_update(update_id=update.pk, actor=actor)
        except DomainError as refusal:
            raise CommandError(refusal.message) from None
        except OSError as fault:
            raise CommandError(
                f"Can't read the files: {type(fault).__name__}"
            ) from None
        self.stdout.write(f"Catalog update {update.number} is applied.")

    def _print_changes(self, update: CatalogueUpdate) -> None:
        changes = list_catalogue_changes(update)
        for change in changes:
            fields = "; ".join(
                f"{column}: {old or '(empty)'} -> {new or '(empty)'}"
                for column, old, new in change.fields
            )
            line = f"{change.kind} {change.table} {change.key}: {change.name}"
            self.stdout.write(f"{line} ({fields})" if fields else line)
        counts = Counter((change.kind, change.table) for change in changes)
        for (kind, table), number in sorted(counts.items()):
            self.stdout.write(f"{table} {kind}: {number}")
