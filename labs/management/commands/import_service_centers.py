"""Import a lab's directory of service centers from a CSV file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from labs.operations.catalogue.service_centers import (
    COLUMNS,
    NEEDED,
    import_service_centers,
)
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    """Imports a CSV file; prints the faulty lines and exits 1 if there are any."""

    help = (
        "Import service centers of production's labs from a CSV file."
        f" Required: {', '.join(NEEDED)}."
        f" Optional: {', '.join(COLUMNS[len(NEEDED) :])}."
        " Separate list items with |. Write hours as 'mon-fri 06:30-12:00 12:30-15:30;"
        " sat 07:00-11:00'. Centers are matched by lab and site_code. If any line has"
        " an error, nothing is imported."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument(
            "--close-others",
            action="store_true",
            help="Deactivate centers of the file's labs that are not in the file.",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            with options["file"].open(encoding="utf-8-sig", newline="") as lines:
                done = import_service_centers(
                    lines=lines, closes_others=options["close_others"]
                )
        except DomainError as refusal:
            raise CommandError(refusal.message) from None
        except (OSError, UnicodeDecodeError) as fault:
            raise CommandError(f"Can't read the file: {type(fault).__name__}") from None
        self.stdout.write(
            f"Centers imported: {done.written}. Deactivated: {done.closed}."
        )
