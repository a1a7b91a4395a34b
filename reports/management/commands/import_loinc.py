"""`manage.py import_loinc FILE`: widen the LOINC search by the official table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from portal.lib.errors import DomainError
from reports.operations.reading.loinc_table import (
    get_imported_loinc_folder,
    import_loinc_table,
)

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    """Import Loinc.csv; exit 1 with the reason if it is refused."""

    help = (
        "Import the official LOINC table (Loinc.csv or LoincTableCore.csv of the"
        " release from loinc.org). Its codes can then be searched, and match rows that"
        " the built-in catalog does not cover."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            count = import_loinc_table(source=options["file"])
        except DomainError as refusal:
            raise CommandError(refusal.message) from None
        self.stdout.write(f"Imported {count} codes into {get_imported_loinc_folder()}.")
